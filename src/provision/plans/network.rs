//! A tenant's network: its zone, its VNet, its subnet, and the one apply that realises them.

use std::collections::BTreeSet;

use crate::provision::fields::{Fields, fields};
use crate::provision::object::Object;
use crate::provision::plan::Step;
use crate::provision::sdn::{SdnApply, SdnLock, SdnSubnet, SdnVnet, SdnZone};
use crate::site::Site;
use crate::site::names::TenantName;
use crate::site::numbering::TenantIndex;

/// The first part of onboarding: the network of a tenant, its lock taken first and its apply last. Every number follows from
/// the index. Empty where the scheme has no VNet for the tenant, which no index between 1 and 62 brings about.
#[must_use]
pub fn onboarding(site: &Site, tenant: &TenantName, index: TenantIndex) -> Vec<Step> {
    let numbering = &site.numbering;
    let zone = tenant.as_str().to_owned();
    let (Some(vnet), Some(tag)) = (tenant.vnet(0), numbering.vnet_vni(index, 0)) else { return Vec::new() };
    let exits: BTreeSet<&str> = site.exit_nodes.iter().map(|exit| exit.name.as_str()).collect();
    let primary = site.exit_nodes.first().map(|exit| exit.name.clone()).unwrap_or_default();
    // Proxmox tells both lists sorted; an exit node that is not in the zone takes nothing out.
    let nodes: BTreeSet<&str> = exits.iter().copied().chain([site.proxmox.node.as_str()]).collect();
    let joined = |all: &BTreeSet<&str>| all.iter().copied().collect::<Vec<_>>().join(",");
    let zone_fields = fields([
        ("type", "evpn".to_owned()),
        ("controller", site.proxmox.controller.clone()),
        ("vrf-vxlan", numbering.vrf_vni(index).to_string()),
        ("nodes", joined(&nodes)),
        ("exitnodes", joined(&exits)),
        ("exitnodes-primary", primary),
    ]);
    let vnet_fields = fields([("zone", zone.clone()), ("tag", tag.to_string())]);
    let subnet = SdnSubnet { zone: zone.clone(), vnet: vnet.clone(), net: numbering.subnet(index) };
    let subnet_fields = fields([("gateway", numbering.gateway(index).to_string()), ("snat", "1".to_owned())]);
    let nodes = nodes.into_iter().map(str::to_owned).collect();
    vec![
        Step::present(Object::SdnLock(SdnLock::default()), SdnLock::held()),
        Step::present(Object::SdnZone(SdnZone { zone }), zone_fields),
        Step::present(Object::SdnVnet(SdnVnet { vnet }), vnet_fields),
        Step::present(Object::SdnSubnet(subnet), subnet_fields).following(),
        Step::present(Object::SdnApply(SdnApply { nodes }), Fields::new()).following(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::testing as invented;
    use crate::provision::fields::Wanted;

    #[test]
    fn every_number_follows_from_the_index() {
        let site = invented::site();
        let steps = onboarding(&site, &"picow".parse().expect("a name"), TenantIndex::new(6).expect("an index"));
        let names: Vec<String> = steps.iter().map(|step| step.object.ensure().name()).collect();
        assert_eq!(names.len(), 5);
        assert!(names[1].contains("picow") && names[2].contains("picow0"), "{names:?}");
        let field = |step: usize, field: &str| match &steps[step].wanted {
            Wanted::Present(fields) => fields.get(field).cloned(),
            Wanted::Absent => None,
        };
        assert_eq!(field(1, "vrf-vxlan").as_deref(), Some("10006"));
        assert_eq!(field(2, "tag").as_deref(), Some("20060"));
        assert_eq!(field(3, "gateway").as_deref(), Some("10.20.134.1"));
        assert_eq!(field(1, "exitnodes"), Some(site.exit_nodes[0].name.clone()));
    }
}
