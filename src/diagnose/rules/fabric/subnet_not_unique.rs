//! Subnets of two zones overlap that do not meet yet.

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "subnet-not-unique",
    layer: Layer::Fabric,
    severity: Severity::Warning,
    says: "Two zones have one prefix, or one within the other's, and no exit node in common. Today nothing breaks; tenants' \
           networks are to be numbered as if they shared one fabric, and these two cannot be put together.",
    reads: "subnets and zones, the site file",
    unlike: &[("subnet-overlap", "both leave by one exit node, and one of them loses its way")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let (Some(site), Some(zones)) = (&facts.site, facts.sdn.zones_in_force()) else { return };
    let exits = |name: &str| zones.iter().find(|zone| zone.zone == name).map(|zone| &zone.exit_nodes);
    let all: Vec<_> = facts.sdn.subnets_in_force().collect();
    for (n, (list, subnet)) in all.iter().enumerate() {
        for (other_list, other) in all.iter().skip(n + 1).filter(|(_, other)| other.zone != subnet.zone) {
            let (a, b) = (subnet.cidr.trunc(), other.cidr.trunc());
            let (Some(own), Some(theirs)) = (exits(&subnet.zone), exits(&other.zone)) else { continue };
            let apart = own.iter().all(|exit| !theirs.contains(exit));
            if !apart || !(a.contains(&b) || b.contains(&a)) {
                continue;
            }
            let title =
                format!("{} of zone {} and {} of zone {} overlap.", subnet.cidr, subnet.zone, other.cidr, other.zone);
            let finding = out
                .finding(Subject::new("subnet", subnet.cidr.to_string()), title)
                .fact("subnet.zone", subnet.cidr.to_string(), &subnet.zone)
                .fact("subnet.zone", other.cidr.to_string(), &other.zone)
                .affects([&subnet.zone, &other.zone])
                .from(*list)
                .from(*other_list)
                .from(zones)
                .from(site)
                .next("choose-free-prefix", 1, "choose a prefix that no zone uses");
            out.found(finding);
        }
    }
}
