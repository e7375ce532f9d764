//! A zone of another type than the fabric's.

use super::super::{Out, Rule};
use super::plan;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "zone-not-evpn",
    layer: Layer::Fabric,
    severity: Severity::Warning,
    says: "A zone of another type than EVPN: it has no VRF, no gateway of its own and no control plane, so it cannot grow with \
           the fabric and has to be torn out when a second member joins. Tenants' rules, translation and isolation do \
           not reach it.",
    reads: "zones, the site file",
    unlike: &[("zone-unexplained", "the zone is EVPN, and its number is nobody's")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let (Some((site, _)), Some(zones)) = (plan::plan(facts), facts.sdn.zones_in_force()) else { return };
    for zone in zones.iter() {
        match zone.kind.as_str() {
            // Not shown: nothing to say.
            "" => {}
            "evpn" => out.pass(Subject::new("zone", &zone.zone)),
            kind => {
                let vnets = facts.sdn.vnets_in_force().into_iter().flat_map(|all| all.iter());
                let vnets: Vec<&str> =
                    vnets.filter(|vnet| vnet.zone == zone.zone).map(|vnet| vnet.vnet.as_str()).collect();
                let mut finding = out
                    .finding(Subject::new("zone", &zone.zone), format!("Zone {} is {kind}, not EVPN.", zone.zone))
                    .fact("zone.type", &zone.zone, kind)
                    .affects([&zone.zone])
                    .from(zones)
                    .from(site)
                    .next("ask-whose", 0, format!("find out what zone {} is for, and who made it", zone.zone))
                    .next("move-to-evpn", 3, "or move what uses it to an EVPN zone of its tenant");
                if !vnets.is_empty() {
                    finding = finding.fact("zone.vnets", &zone.zone, vnets.join(", "));
                }
                out.found(finding);
            }
        }
    }
}
