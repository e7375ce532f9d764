//! Subnets of one zone overlap.

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "subnet-overlap-inside",
    layer: Layer::Fabric,
    severity: Severity::Fault,
    says: "Two subnets of one zone overlap. The platform does not check it. They are connected routes of one VRF: the more specific \
           one takes the addresses that both have, and what the other's guests have there is not reached.",
    reads: "subnets of all zones",
    unlike: &[("subnet-overlap", "the subnets are of two zones")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let all: Vec<_> = facts.sdn.subnets_in_force().collect();
    for (n, (list, subnet)) in all.iter().enumerate() {
        let same = |other: &str| !other.is_empty() && other == subnet.zone;
        for (other_list, other) in all.iter().skip(n + 1).filter(|(_, other)| same(&other.zone)) {
            let (a, b) = (subnet.cidr.trunc(), other.cidr.trunc());
            if !(a.contains(&b) || b.contains(&a)) {
                continue;
            }
            let title = format!("{} and {} of zone {} overlap.", subnet.cidr, other.cidr, subnet.zone);
            let finding = out
                .finding(Subject::new("zone", &subnet.zone), title)
                .fact("subnet.vnet", subnet.cidr.to_string(), &subnet.vnet)
                .fact("subnet.vnet", other.cidr.to_string(), &other.vnet)
                .affects([&subnet.zone])
                .from(*list)
                .from(*other_list)
                .next("choose-free-prefix", 2, "give one of them a prefix of its own");
            out.found(finding);
        }
    }
}
