//! The site's numbering against what SDN holds: shared by the rules that compare the two. Without a site file nothing is
//! expected, and nothing is compared.

use crate::diagnose::facts::sdn::Zone;
use crate::diagnose::facts::{Facts, Sourced};
use crate::site::Site;
use crate::site::model::NumberingPlan;
use crate::site::numbering::TenantIndex;

/// The plan of the site, and the site file it stands in.
pub(super) fn plan(facts: &Facts) -> Option<(&Sourced<Site>, &NumberingPlan)> {
    facts.site.as_ref().map(|site| (site, &site.value.numbering))
}

/// EVPN zones in force and the index that their VRF VNI means.
pub(super) fn placed<'a>(facts: &'a Facts, plan: &NumberingPlan) -> Vec<(&'a Zone, TenantIndex)> {
    let zones = facts.sdn.zones_in_force().into_iter().flat_map(|zones| zones.iter());
    let evpn = zones.filter(|zone| zone.kind == "evpn");
    evpn.filter_map(|zone| Some((zone, plan.index_of_vrf_vni(zone.vrf_vni?)?))).collect()
}

/// Whether somebody looked at the whole of SDN, so that a list which is not there was not to be had.
pub(super) fn looked(facts: &Facts) -> bool {
    let of = &facts.sdn;
    !(of.controllers.is_empty() && of.vnets.is_empty() && of.fabrics.is_empty() && of.node_zones.is_empty())
}
