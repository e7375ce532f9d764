//! A zone that no tenant index explains.

use super::super::{Out, Rule};
use super::plan;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};
use crate::site::names::TenantName;
use crate::site::numbering::TenantIndex;

/// The rule.
pub static RULE: Rule = Rule {
    id: "zone-unexplained",
    layer: Layer::Fabric,
    severity: Severity::Warning,
    says: "An EVPN zone whose VRF VNI no tenant index gives, or whose name no tenant can have. Numbers are unique only while \
           all of them come from the plan; a zone outside it was made by hand, or is another site's. Whose it is cannot be \
           told from here.",
    reads: "zones, the site file's numbering",
    unlike: &[
        ("tag-off-plan", "the zone is in the plan, and a VNet of it is not"),
        ("zone-not-evpn", "the zone is of another type"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let (Some((site, plan)), Some(zones)) = (plan::plan(facts), facts.sdn.zones_in_force()) else { return };
    let (first, last) = (plan.vrf_vni(TenantIndex::MIN), plan.vrf_vni(TenantIndex::DRILL));
    for zone in zones.iter().filter(|zone| zone.kind == "evpn") {
        let Some(vni) = zone.vrf_vni else { continue };
        let named = zone.zone.parse::<TenantName>().is_ok();
        let title = match (plan.index_of_vrf_vni(vni), named) {
            (Some(_), true) => {
                out.pass(Subject::new("zone", &zone.zone));
                continue;
            }
            (Some(index), false) => {
                format!("Zone {} has the numbers of index {index} and no tenant's name.", zone.zone)
            }
            (None, _) => format!("No tenant index explains zone {}: its VRF VNI is {vni}.", zone.zone),
        };
        let finding = out
            .finding(Subject::new("zone", &zone.zone), title)
            .fact("zone.vrf-vni", &zone.zone, vni)
            .fact("plan.vrf-vni", &site.value.name, format!("{first} to {last}"))
            .affects([&zone.zone])
            .from(zones)
            .from(site)
            .next("ask-whose", 0, format!("find out who made zone {} and what uses it", zone.zone))
            .not_tested("whose it is: that no tenant has it here does not make it nobody's");
        out.found(finding);
    }
}
