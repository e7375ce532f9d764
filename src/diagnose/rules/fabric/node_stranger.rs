//! A zone names a node that is no member of the cluster.

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "node-stranger",
    layer: Layer::Fabric,
    severity: Severity::Fault,
    says: "A zone names a node that the cluster does not have: a misspelt name, or a machine that is gone. The platform does not \
           check it. An exit node that is nobody leaves the tenant without a way out; among the nodes of the zone it is \
           only untidy.",
    reads: "zones, the cluster's nodes",
    unlike: &[
        ("node-unreachable", "the node is a member and does not answer"),
        ("exit-outside-zone", "the exit node is a member, and the zone is not meant for it"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some(zones) = facts.sdn.zones_in_force() else { return };
    // A list that was read and is empty says nothing: there is always the node that answers.
    let Some(members) = facts.cluster.members().filter(|members| !members.is_empty()) else { return };
    let member = |name: &String| members.iter().any(|member| member.node == *name);
    for zone in zones.iter().filter(|zone| zone.kind == "evpn") {
        let mut strange: Vec<&String> =
            zone.exit_nodes.iter().chain(&zone.nodes).filter(|name| !member(name)).collect();
        strange.sort_unstable();
        strange.dedup();
        if strange.is_empty() {
            out.pass(Subject::new("zone", &zone.zone));
            continue;
        }
        let as_exit = zone.exit_nodes.iter().any(|name| !member(name));
        let names = strange.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
        let what = if as_exit { "leaves by" } else { "is meant for" };
        let mut finding = out
            .finding(
                Subject::new("zone", &zone.zone),
                format!("Zone {} {what} {names}, which is no node of the cluster.", zone.zone),
            )
            .affects([&zone.zone])
            .from(zones)
            .from(&members);
        for name in strange {
            let role = if zone.exit_nodes.contains(name) { "exit node" } else { "node of the zone" };
            finding = finding.fact("zone.stranger", &zone.zone, format!("{name}, {role}"));
        }
        if zone.exit_nodes.iter().any(member) || !as_exit {
            finding.severity = Severity::Warning;
        }
        out.found(finding.next(
            "correct-nodes",
            2,
            format!("correct the nodes of zone {}, look at the dry run, apply", zone.zone),
        ));
    }
}
