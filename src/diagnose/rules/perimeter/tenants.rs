//! The tenants that there are, where the list is known to be whole: only then is something nobody's.

use std::collections::BTreeSet;

use ipnet::IpNet;

use crate::diagnose::facts::Facts;

/// All tenants.
#[derive(Debug)]
pub(super) struct Tenants {
    /// Their subnets, what waits included.
    pub(super) nets: Vec<IpNet>,
    /// Their zones, what waits included.
    pub(super) names: BTreeSet<String>,
}

impl Tenants {
    /// Whether `net` is a tenant's, a part of one's, or holds one's.
    pub(super) fn have(&self, net: &IpNet) -> bool {
        self.nets.iter().any(|own| own.contains(net) || net.contains(own))
    }
}

/// What is missing for the whole list, and why.
pub(super) type Missing = (String, Option<String>);

/// Paths on which a privilege reaches every zone.
const EVERYWHERE: [&str; 3] = ["/", "/sdn", "/sdn/zones"];

/// All tenants.
///
/// # Errors
/// What is missing, where it cannot be said that these are all.
pub(super) fn whole(facts: &Facts) -> Result<Tenants, Missing> {
    let missing = |what: &str, path: &str| (format!("all tenants: {what}"), facts.pve.why(path));
    let rights =
        facts.access.permissions.as_ref().ok_or_else(|| missing("the token's rights", "access/permissions"))?;
    let sees =
        |path: &str| rights.get(path).is_some_and(|has| has.contains("SDN.Audit") || has.contains("SDN.Allocate"));
    if !EVERYWHERE.iter().any(|path| sees(path)) {
        return Err(("all tenants: the token does not see every zone".to_owned(), None));
    }
    let zones = facts.sdn.zones_in_force().ok_or_else(|| missing("the zones", "cluster/sdn/zones"))?;
    let vnets = facts.sdn.vnets_in_force().ok_or_else(|| missing("the VNets", "cluster/sdn/vnets"))?;
    for vnet in vnets.iter().filter(|vnet| zones.iter().any(|zone| zone.zone == vnet.zone)) {
        if !facts.sdn.subnets.keys().any(|(_, read)| *read == vnet.vnet) {
            let path = format!("cluster/sdn/vnets/{}/subnets", vnet.vnet);
            return Err(missing(&format!("the subnets of VNet {}", vnet.vnet), &path));
        }
    }
    let subnets = facts.sdn.subnets.values().flat_map(|all| all.iter());
    let listed = facts.sdn.zones.values().flat_map(|all| all.iter());
    Ok(Tenants {
        nets: subnets.map(|subnet| subnet.cidr.trunc()).collect(),
        names: listed.map(|zone| zone.zone.clone()).collect(),
    })
}

/// The block that tenants' subnets are taken from: the site's; without a site file the routes that lead to one of them.
pub(super) fn overlay(facts: &Facts, tenants: &[IpNet]) -> Vec<IpNet> {
    if let Some(site) = &facts.site {
        return vec![IpNet::from(site.value.numbering.overlay)];
    }
    let routes = facts.perimeter.routes.iter().flat_map(|all| all.value.iter()).map(|route| route.network);
    routes.filter(|net| tenants.iter().any(|tenant| net.contains(tenant) && net != tenant)).collect()
}
