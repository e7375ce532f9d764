//! The primary exit node is none of the exit nodes.

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "exit-primary-outside",
    layer: Layer::Fabric,
    severity: Severity::Warning,
    says: "The primary exit node of a zone is none of its exit nodes. The platform accepts it; every exit node then announces its \
           default as a second choice, and none is preferred, as if no primary one were named.",
    reads: "zones",
    unlike: &[("exit-primary-missing", "no primary one is named")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some(zones) = facts.sdn.zones_in_force() else { return };
    for zone in zones.iter().filter(|zone| zone.kind == "evpn") {
        let Some(primary) = zone.primary.as_ref().filter(|primary| !primary.is_empty()) else { continue };
        if zone.exit_nodes.contains(primary) {
            out.pass(Subject::new("zone", &zone.zone));
            continue;
        }
        let mut exits = zone.exit_nodes.clone();
        exits.sort_unstable();
        let listed = if exits.is_empty() { "none".to_owned() } else { exits.join(", ") };
        let title = format!("{primary} is the primary exit node of zone {} and none of its exit nodes.", zone.zone);
        let finding = out
            .finding(Subject::new("zone", &zone.zone), title)
            .fact("zone.primary", &zone.zone, primary)
            .fact("zone.exit-nodes", &zone.zone, listed)
            .affects([&zone.zone])
            .from(zones)
            .next("set-primary", 2, format!("name one of the exit nodes of zone {} as primary, apply", zone.zone));
        out.found(finding);
    }
}
