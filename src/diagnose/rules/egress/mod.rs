//! From the workload to the internet: exit node, default, translation, forwarding, the way back.

mod address_not_announced;
mod conntrack_collision;
mod conntrack_full;
mod exit_local_routing;
mod exit_node_unreachable;
mod exit_nodes_loop;
mod exit_primary_missing;
mod firewall_bridge_mtu;
mod forward_policy_drop;
mod frr_down;
mod frr_handwritten_lost;
mod frr_local_contested;
mod frr_local_not_merged;
mod gateway_unreachable;
mod l3vni_not_bound;
mod management_leak;
mod mtu_ruled_out;
mod perimeter_drop;
mod return_route_missing;
mod rp_filter;
mod rp_filter_drops;
mod rp_filter_strict;
mod snat;
mod snat_apply_rewrites;
mod snat_catches_routed;
mod snat_duplicate;
mod snat_missing;
mod snat_stale;
mod snat_without_exit_node;
mod snat_wrong_source;
mod tenant_forwarding_off;
mod transit_forwarding_off;
mod transit_mtu;
mod uplink_down;
mod vrf_default;
mod vrf_default_missing;
mod vrf_default_wrong_gateway;
mod workload_down;

use std::collections::BTreeSet;

pub(super) use gateway_unreachable::dead_router;
pub(super) use workload_down::asked_in_vain;

use super::Rule;
use crate::diagnose::facts::Facts;

/// Rules of this layer, those first whose faults explain others.
pub(super) static RULES: &[&Rule] = &[
    &exit_node_unreachable::RULE,
    &uplink_down::RULE,
    &frr_down::RULE,
    &frr_handwritten_lost::RULE,
    &frr_local_contested::RULE,
    &frr_local_not_merged::RULE,
    &conntrack_full::RULE,
    &l3vni_not_bound::RULE,
    &exit_nodes_loop::RULE,
    &exit_primary_missing::RULE,
    &exit_local_routing::RULE,
    &snat_without_exit_node::RULE,
    &vrf_default_missing::RULE,
    &vrf_default_wrong_gateway::RULE,
    &management_leak::RULE,
    &tenant_forwarding_off::RULE,
    &transit_forwarding_off::RULE,
    &forward_policy_drop::RULE,
    &snat_stale::RULE,
    &snat_missing::RULE,
    &snat_wrong_source::RULE,
    &snat_catches_routed::RULE,
    &conntrack_collision::RULE,
    &gateway_unreachable::RULE,
    &perimeter_drop::RULE,
    &return_route_missing::RULE,
    &rp_filter_drops::RULE,
    &transit_mtu::RULE,
    &firewall_bridge_mtu::RULE,
    &mtu_ruled_out::RULE,
    &address_not_announced::RULE,
    &workload_down::RULE,
    &rp_filter_strict::RULE,
    &snat_duplicate::RULE,
    &snat_apply_rewrites::RULE,
];

/// Nodes that some EVPN zone names as its exit.
fn exit_names(facts: &Facts) -> BTreeSet<&str> {
    let zones = facts.sdn.zones_in_force().into_iter().flat_map(|zones| zones.iter());
    zones.filter(|zone| zone.kind == "evpn").flat_map(|zone| zone.exit_nodes.iter().map(String::as_str)).collect()
}

/// EVPN zones that leave through `node`.
pub(super) fn zones_of_exit<'a>(facts: &'a Facts, node: &str) -> Vec<&'a str> {
    let zones = facts.sdn.zones_in_force().into_iter().flat_map(|zones| zones.iter());
    let mine = zones.filter(|zone| zone.kind == "evpn" && zone.exit_nodes.iter().any(|exit| exit == node));
    mine.map(|zone| zone.zone.as_str()).collect()
}
