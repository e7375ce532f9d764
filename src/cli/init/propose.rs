//! What a site's answers probably are, from what its back ends say. Pure.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use crate::backends::exit_node::model::Reading;
use crate::diagnose::access::ProxmoxFacts;

/// Answers by section and key.
pub(super) type Proposals = BTreeMap<(&'static str, &'static str), String>;

/// VMIDs of a tenant, as a site has them unless it says otherwise.
const VMIDS_PER_TENANT: u32 = 40;

/// What Proxmox tells of `[proxmox]` and `[numbering]`.
pub(super) fn from_proxmox(facts: &ProxmoxFacts) -> Proposals {
    let mut found = Proposals::new();
    let mut put = |section, key, value: Option<String>| {
        if let Some(value) = value {
            found.insert((section, key), value);
        }
    };
    let node = node(facts);
    put("proxmox", "node", node.clone());
    let evpn: Vec<_> = facts.controllers.got().into_iter().flatten().filter(|c| c.kind == "evpn").collect();
    if let [controller] = evpn.as_slice() {
        put("proxmox", "controller", Some(controller.controller.clone()));
        put("numbering", "asn", controller.asn.map(|asn| asn.to_string()));
        put("proxmox", "fabric", controller.fabric.clone());
    }
    put("proxmox", "storage", node.and_then(|node| storage(facts, &node)));
    put("proxmox", "template_prefix", template_prefix(facts));
    let zones = facts.zones.got().into_iter().flatten();
    put("numbering", "vrf_vni_base", base_of(zones.filter_map(|zone| zone.vrf_vxlan), 1..=63).map(|n| n.to_string()));
    let tags = facts.vnets.got().into_iter().flatten().filter_map(|vnet| vnet.tag);
    put("numbering", "vnet_vni_base", base_of(tags, 10..=639).map(|n| n.to_string()));
    if let Some(vrf_base) = found.get(&("numbering", "vrf_vni_base")).and_then(|base| base.parse().ok())
        && let Some(base) = vmid_base(facts, vrf_base)
    {
        found.insert(("numbering", "vmid_base"), base.to_string());
    }
    found
}

/// Nodes that are exit nodes of a zone, else the only node there is.
pub(super) fn exit_nodes(facts: &ProxmoxFacts) -> Vec<String> {
    let mut names: Vec<String> =
        facts.zones.got().into_iter().flatten().flat_map(|zone| zone.exit_nodes.clone()).collect();
    names.sort();
    names.dedup();
    match facts.nodes.got().map(Vec::as_slice) {
        Some([only]) if names.is_empty() => vec![only.clone()],
        _ => names,
    }
}

fn node(facts: &ProxmoxFacts) -> Option<String> {
    let exit = exit_nodes(facts);
    if let [only] = exit.as_slice() {
        return Some(only.clone());
    }
    match facts.nodes.got()?.as_slice() {
        [only] => Some(only.clone()),
        _ => None,
    }
}

/// The only storage of the node that holds disks of VMs, or the one that Proxmox makes by itself.
fn storage(facts: &ProxmoxFacts, node: &str) -> Option<String> {
    let all = &facts.resources.got()?.storages;
    let fit: Vec<&String> =
        all.iter().filter(|s| s.node == node && s.content.iter().any(|c| c == "images")).map(|s| &s.storage).collect();
    match fit.as_slice() {
        [only] => Some((*only).clone()),
        many => many.iter().find(|name| **name == "local-lvm").map(|name| (*name).clone()),
    }
}

/// What the names of most templates start with, up to the first digit.
fn template_prefix(facts: &ProxmoxFacts) -> Option<String> {
    let templates = facts.resources.got()?.vms.iter().filter(|vm| vm.template).filter_map(|vm| vm.name.as_deref());
    most(templates.filter_map(|name| {
        let end = name.find(|c: char| c.is_ascii_digit())?;
        name.get(..end).filter(|prefix| prefix.len() > 1).map(str::to_owned)
    }))
}

/// The multiple of a thousand from which most of `numbers` are as far as an index allows.
fn base_of(numbers: impl Iterator<Item = u32>, rest: std::ops::RangeInclusive<u32>) -> Option<u32> {
    most(numbers.filter(|n| rest.contains(&(n % 1000))).map(|n| n - n % 1000))
}

/// VMs of a tenant are called after it; its first has ordinal 0.
fn vmid_base(facts: &ProxmoxFacts, vrf_vni_base: u32) -> Option<u32> {
    let vms = &facts.resources.got()?.vms;
    most(facts.zones.got()?.iter().filter_map(|zone| {
        let index = zone.vrf_vxlan?.checked_sub(vrf_vni_base).filter(|index| (1..=63).contains(index))?;
        let prefix = format!("{}-", zone.zone);
        let own = vms.iter().filter(|vm| vm.name.as_deref().is_some_and(|name| name.starts_with(&prefix)));
        own.map(|vm| vm.vmid).min()?.checked_sub(VMIDS_PER_TENANT * index)
    }))
}

/// What occurs most often; the least of several.
fn most<T: Ord>(all: impl Iterator<Item = T>) -> Option<T> {
    let mut counts: BTreeMap<T, u32> = BTreeMap::new();
    for one in all {
        *counts.entry(one).or_default() += 1;
    }
    let top = counts.values().copied().max()?;
    counts.into_iter().find(|(_, count)| *count == top).map(|(one, _)| one)
}

/// The transit segment of an exit node: where most VRFs' default routes leave, and the node's address there.
pub(super) struct Transit {
    pub(super) interface: String,
    pub(super) gateway: Ipv4Addr,
    pub(super) address: Option<Ipv4Addr>,
}

/// The transit segment as the node's own tables show it.
pub(super) fn transit(reading: &Reading) -> Option<Transit> {
    let routes = reading.vrf_routes.values().filter_map(|routes| routes.value()).flatten();
    let defaults = routes.filter(|route| route.dst.prefix_len() == 0);
    let (interface, gateway) = most(defaults.filter_map(|route| Some((route.dev.clone()?, route.gateway?))))?;
    let addresses = reading.addresses.value().into_iter().flatten().filter(|a| a.dev == interface);
    let address = addresses.filter_map(|a| if let IpAddr::V4(ip) = a.ip { Some(ip) } else { None }).next();
    Some(Transit { interface, gateway, address })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_are_what_most_numbers_agree_on() {
        assert_eq!(base_of([10_001, 10_002, 11_007, 10_999].into_iter(), 1..=63), Some(10_000));
        assert_eq!(base_of([20_010, 20_020, 20_630].into_iter(), 10..=639), Some(20_000));
        assert_eq!(base_of([999].into_iter(), 1..=63), None);
        assert_eq!(most(["b", "a", "b"].into_iter()), Some("b"));
        assert_eq!(most(std::iter::empty::<u8>()), None);
    }
}
