//! Local routing of exit nodes is on: the node itself reaches guests.

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::sdn::text;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "local-routing-on",
    layer: Layer::Fabric,
    severity: Severity::Info,
    says: "A zone asks for local routing of its exit nodes. The node itself then reaches guests, by a pair of virtual interfaces \
           and a static route instead of the imported VRF. Tenants do not need it; what answers takes another way back.",
    reads: "zones",
    unlike: &[("exit-local-routing", "strict filtering of the pair loses answers")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some(zones) = facts.sdn.zones_in_force() else { return };
    let on = |fields| text(fields, "exitnodes-local-routing").is_some_and(|on| on == "1");
    for zone in zones.iter().filter(|zone| zone.kind == "evpn" && on(&zone.fields)) {
        let finding = out
            .finding(
                Subject::new("zone", &zone.zone),
                format!("Zone {} lets its exit nodes themselves reach guests.", zone.zone),
            )
            .fact("zone.local-routing", &zone.zone, "on")
            .affects([&zone.zone])
            .from(zones)
            .next(
                "local-routing-off",
                2,
                format!("turn it off for zone {}, unless the node must reach guests", zone.zone),
            );
        out.found(finding);
    }
}
