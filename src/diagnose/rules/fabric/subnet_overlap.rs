//! Subnets of two zones overlap, and both leave through one exit node.

use super::super::{Out, Rule};
use crate::diagnose::facts::sdn::Subnet;
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "subnet-overlap",
    layer: Layer::Fabric,
    severity: Severity::Fault,
    says: "Subnets of two zones overlap. The platform accepts it, but an exit node null-routes the other zone's subnets in \
           each VRF and routes answers by its main table, which has one owner a prefix: one of the two loses its egress, \
           or a part of it.",
    reads: "subnets of all zones, exit nodes of the zones",
    unlike: &[],
    explains: &["subnet-off-plan", "tenant-off-plan"],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let all: Vec<(&Sourced<Vec<Subnet>>, &Subnet)> = facts.sdn.subnets_in_force().collect();
    unread(facts, &all, out);
    for (n, (list, subnet)) in all.iter().enumerate() {
        for (other_list, other) in all.iter().skip(n + 1).filter(|(_, other)| other.zone != subnet.zone) {
            let (large, small) = if subnet.cidr.contains(&other.cidr) {
                (subnet, other)
            } else if other.cidr.contains(&subnet.cidr) {
                (other, subnet)
            } else {
                continue;
            };
            if let Some(finding) = finding(facts, large, small, out) {
                out.found(finding.from(*list).from(*other_list));
            }
        }
    }
}

/// Zones with an exit node of whose subnets nothing was read, where those of another one were.
fn unread(facts: &Facts, all: &[(&Sourced<Vec<Subnet>>, &Subnet)], out: &mut Out<'_>) {
    if all.is_empty() {
        return;
    }
    let zones = facts.sdn.zones_in_force().into_iter().flat_map(|zones| zones.iter());
    for zone in zones.filter(|zone| !zone.exit_nodes.is_empty() && all.iter().all(|(_, s)| s.zone != zone.zone)) {
        let vnets: Vec<_> =
            facts.sdn.vnets.values().flat_map(|list| list.iter()).filter(|v| v.zone == zone.zone).collect();
        let listed = vnets.iter().any(|v| facts.sdn.subnets.keys().any(|(_, vnet)| *vnet == v.vnet));
        if !listed {
            let missing = format!("the subnets of zone {}", zone.zone);
            let why = facts.pve.why("cluster/sdn/vnets");
            // Subnets that are somewhere in its VNets may overlap anybody's.
            if vnets.is_empty() {
                out.unknown_of([Subject::new("zone", &zone.zone)], missing, why);
            } else {
                out.unknown(missing, why);
            }
        }
    }
}

fn finding(facts: &Facts, large: &Subnet, small: &Subnet, out: &mut Out<'_>) -> Option<Finding> {
    let zones = facts.sdn.zones_in_force();
    let exits = |zone: &str| Some(zones?.iter().find(|z| z.zone == zone)?.exit_nodes.clone());
    let shared = match (exits(&large.zone), exits(&small.zone)) {
        (Some(a), Some(b)) => a.into_iter().filter(|node| b.contains(node)).collect(),
        _ => {
            out.unknown_of(
                [Subject::new("zone", &large.zone), Subject::new("zone", &small.zone)],
                format!("the exit nodes of zones {} and {}", large.zone, small.zone),
                facts.pve.why("cluster/sdn/zones"),
            );
            Vec::new()
        }
    };
    let known = zones.is_some();
    if known && shared.is_empty() {
        return None;
    }
    let word = if large.cidr == small.cidr { "is also" } else { "contains" };
    let title = format!("{} of zone {} {word} {} of zone {}.", large.cidr, large.zone, small.cidr, small.zone);
    let mut finding = out
        .finding(Subject::new("subnet", large.cidr.to_string()), title)
        .fact("subnet.contains", large.cidr.to_string(), small.cidr)
        .fact("subnet.zone", large.cidr.to_string(), &large.zone)
        .fact("subnet.zone", small.cidr.to_string(), &small.zone)
        .affects([&large.zone, &small.zone])
        .next("choose-free-prefix", 1, "choose a prefix that no zone uses, before anything is applied");
    for node in &shared {
        finding = finding.fact("exit-node.shared", format!("{}, {}", large.zone, small.zone), node);
    }
    Some(if let Some(zones) = zones { finding.from(zones) } else { finding })
}
