//! The tenants that there are, where the list is known to be whole: only then is something nobody's.

use std::collections::BTreeSet;

use ipnet::IpNet;

use crate::backends::proxmox::endpoints::ZONES;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::sdn::{Zone, text};

/// All tenants.
#[derive(Debug)]
pub(super) struct Tenants {
    /// Their subnets, what waits included, and those that the site's numbering gives to their zones.
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

/// All tenants.
///
/// # Errors
/// What is missing, where it cannot be said that these are all.
pub(super) fn whole(facts: &Facts) -> Result<Tenants, Missing> {
    let missing = |what: &str, path: &str| (format!("all tenants: {what}"), facts.pve.why(path));
    let held = facts.access.held.as_ref().ok_or_else(|| missing("the token's rights", "access/permissions"))?;
    if !ZONES.privilege.sees_all(held) {
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
    let listed = || facts.sdn.zones.values().flat_map(|all| all.iter());
    // A tenant that was created and not applied has its subnet by its index: what waits may not be read.
    let planned = listed().filter_map(|zone| {
        let numbering = &facts.site.as_ref()?.numbering;
        Some(IpNet::from(numbering.subnet(numbering.index_of_vrf_vni(vrf_vni(zone)?)?)))
    });
    Ok(Tenants {
        nets: subnets.map(|subnet| subnet.cidr.trunc()).chain(planned).collect(),
        names: listed().map(|zone| zone.zone.clone()).collect(),
    })
}

/// VRF VNI of a zone; of one that is new it stands among what waits.
fn vrf_vni(zone: &Zone) -> Option<u32> {
    let waits = || text(zone.fields.get("pending")?.as_object()?, "vrf-vxlan")?.parse().ok();
    zone.vrf_vni.or_else(waits)
}

/// The block that tenants' subnets are taken from: the site's; without a site file the routes that lead to one of them.
pub(super) fn overlay(facts: &Facts, tenants: &[IpNet]) -> Vec<IpNet> {
    if let Some(site) = &facts.site {
        return vec![IpNet::from(site.value.numbering.overlay)];
    }
    let routes = facts.perimeter.routes.iter().flat_map(|all| all.value.iter()).map(|route| route.network);
    routes.filter(|net| tenants.iter().any(|tenant| net.contains(tenant) && net != tenant)).collect()
}
