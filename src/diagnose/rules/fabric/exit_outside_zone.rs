//! An exit node on which its zone is not meant to be.

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "exit-outside-zone",
    layer: Layer::Fabric,
    severity: Severity::Fault,
    says: "A zone is limited to some nodes and names an exit node that is none of them. The platform takes it without a word, and \
           generates nothing there: no VRF, no default, no translation. With no other exit node the tenant has no way out.",
    reads: "zones",
    unlike: &[
        ("vnet-missing", "the zone is meant for the exit node, which has not realised it"),
        ("snat-without-exit-node", "no exit node is named at all"),
        ("node-stranger", "the exit node is no member of the cluster"),
    ],
    explains: &["vnet-missing"],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some(zones) = facts.sdn.zones_in_force() else { return };
    for zone in zones.iter().filter(|z| z.kind == "evpn" && !z.nodes.is_empty() && !z.exit_nodes.is_empty()) {
        let outside: Vec<&str> =
            zone.exit_nodes.iter().filter(|exit| !zone.nodes.contains(exit)).map(String::as_str).collect();
        if outside.is_empty() {
            out.pass(Subject::new("zone", &zone.zone));
            continue;
        }
        let mut nodes = zone.nodes.clone();
        nodes.sort_unstable();
        let title =
            format!("Zone {} is limited to {} and leaves by {}.", zone.zone, nodes.join(", "), outside.join(", "));
        let mut finding = out
            .finding(Subject::new("zone", &zone.zone), title)
            .fact("zone.nodes", &zone.zone, nodes.join(", "))
            .fact("zone.exit-outside", &zone.zone, outside.join(", "))
            .affects([&zone.zone])
            .from(zones)
            .next("extend-zone", 2, format!("let zone {} reach its exit node, look at the dry run, apply", zone.zone))
            .next("change-exit", 2, "or name an exit node of the zone");
        if outside.len() < zone.exit_nodes.len() {
            finding.severity = Severity::Warning;
        }
        out.found(finding);
    }
}
