//! A subnet that is not its tenant's.

use ipnet::IpNet;

use super::super::{Out, Rule};
use super::plan;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "subnet-off-plan",
    layer: Layer::Fabric,
    severity: Severity::Warning,
    says: "A tenant's zone has a subnet that its index does not give. The perimeter routes the tenants' block alone: outside of \
           it answers get lost; inside of it the subnet is another tenant's, with its reverse zone and its records.",
    reads: "subnets of the tenants' zones, the site file's numbering",
    unlike: &[
        ("subnet-overlap", "two zones have it at the same time"),
        ("gateway-off-plan", "the subnet is right, its gateway is not"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some((site, plan)) = plan::plan(facts) else { return };
    let zones = plan::placed(facts, plan);
    for (list, subnet) in facts.sdn.subnets_in_force() {
        let Some((_, index)) = zones.iter().find(|(zone, _)| zone.zone == subnet.zone) else { continue };
        let want = plan.subnet(*index);
        let shown = subnet.cidr.to_string();
        if subnet.cidr.trunc() == IpNet::V4(want) {
            out.pass(Subject::new("subnet", &shown));
            continue;
        }
        let owner = match subnet.cidr {
            IpNet::V4(net) if plan.overlay.contains(&net) => plan.index_of_address(net.network()),
            _ => None,
        };
        let whose = match owner {
            Some(owner) if owner == *index => "only a part of its tenant's, or more than it".to_owned(),
            Some(owner) => format!("index {owner}'s"),
            None => "outside the tenants' block".to_owned(),
        };
        let title = format!("{shown} of zone {} is {whose}; index {index} has {want}.", subnet.zone);
        let finding = out
            .finding(Subject::new("subnet", &shown), title)
            .fact("subnet.zone", &shown, &subnet.zone)
            .fact("plan.subnet", &subnet.zone, want)
            .fact("zone.index", &subnet.zone, index)
            .affects([&subnet.zone])
            .from(list)
            .from(site)
            .next("renumber-subnet", 3, format!("give zone {} its own {want}, by the code that makes it", subnet.zone));
        out.found(finding);
    }
}
