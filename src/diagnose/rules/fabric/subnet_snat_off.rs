//! A tenant's subnet that is not translated, where the perimeter expects the transit network.

use super::super::{Out, Rule};
use super::plan;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "subnet-snat-off",
    layer: Layer::Fabric,
    severity: Severity::Warning,
    says: "A tenant's zone has an exit node and its subnet asks for no SNAT. Its packets reach the perimeter with their own \
           sources, where rules and translation are made for the transit network alone. A tenant that exists is never \
           corrected by making it again.",
    reads: "subnets and zones, the site file",
    unlike: &[
        ("snat-missing", "SNAT is asked for, and the rule is not on the node"),
        ("nat-missing-for-routed", "the perimeter was read, and translates it not either"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some((site, plan)) = plan::plan(facts) else { return };
    let zones = plan::placed(facts, plan);
    for (list, subnet) in facts.sdn.subnets_in_force() {
        let Some((zone, _)) = zones.iter().find(|(zone, _)| zone.zone == subnet.zone) else { continue };
        let shown = subnet.cidr.to_string();
        if subnet.snat || zone.exit_nodes.is_empty() {
            out.pass(Subject::new("subnet", &shown));
            continue;
        }
        let finding = out
            .finding(Subject::new("subnet", &shown), format!("{shown} of zone {} asks for no SNAT.", subnet.zone))
            .fact("subnet.snat", &shown, "off")
            .affects([&subnet.zone])
            .from(list)
            .from(site)
            .next("set-snat", 2, format!("set SNAT for {shown}, look at the dry run, apply"))
            .not_tested(
                "whether the perimeter translates and lets through the tenant's own addresses: check perimeter",
            );
        out.found(finding);
    }
}
