//! Zones, VNets, subnets, controllers, and what nodes made of them.

mod apply_partial;
mod controller_no_vtep;
mod controller_off_plan;
mod controller_peer_strange;
mod delete_blocked;
mod exit_outside_zone;
mod exit_primary_outside;
mod frr_apply_erases;
mod frr_default_unkept;
mod frr_unsaved;
mod gateway_off_plan;
mod list_filtered;
mod local_routing_on;
mod made_with_defaults;
mod mtu_nonsense;
mod node_lags;
mod node_stranger;
mod plan;
mod registry;
mod routing_packages_missing;
mod rt_import_foreign;
mod rt_import_idle;
mod sdn_id_invalid;
mod sdn_no_effect;
mod sdn_pending;
mod snat_without_gateway;
mod subnet_input;
mod subnet_not_applied;
mod subnet_not_unique;
mod subnet_off_plan;
mod subnet_on_site_net;
mod subnet_overlap;
mod subnet_overlap_inside;
mod subnet_snat_off;
mod tag_off_plan;
mod tenant_off_plan;
mod vnet_missing;
mod vnet_name_clash;
mod vnet_not_on_node;
mod vni_collision;
mod vni_shared;
mod zone_mtu;
mod zone_name_reserved;
mod zone_not_evpn;
mod zone_unexplained;

use super::Rule;

/// Rules of this layer, those first whose faults explain others.
pub(super) static RULES: &[&Rule] = &[
    &list_filtered::RULE,
    &routing_packages_missing::RULE,
    &apply_partial::RULE,
    &node_lags::RULE,
    &mtu_nonsense::RULE,
    &subnet_not_applied::RULE,
    &sdn_pending::RULE,
    &sdn_no_effect::RULE,
    &vnet_missing::RULE,
    &vni_collision::RULE,
    &subnet_overlap::RULE,
    &tenant_off_plan::RULE,
    &node_stranger::RULE,
    &exit_outside_zone::RULE,
    &exit_primary_outside::RULE,
    &controller_no_vtep::RULE,
    &controller_peer_strange::RULE,
    &controller_off_plan::RULE,
    &zone_unexplained::RULE,
    &zone_not_evpn::RULE,
    &zone_name_reserved::RULE,
    &tag_off_plan::RULE,
    &vni_shared::RULE,
    &vnet_name_clash::RULE,
    &vnet_not_on_node::RULE,
    &subnet_off_plan::RULE,
    &snat_without_gateway::RULE,
    &gateway_off_plan::RULE,
    &subnet_snat_off::RULE,
    &subnet_overlap_inside::RULE,
    &subnet_not_unique::RULE,
    &subnet_on_site_net::RULE,
    &rt_import_foreign::RULE,
    &rt_import_idle::RULE,
    &local_routing_on::RULE,
    &zone_mtu::RULE,
    &frr_default_unkept::RULE,
    &frr_apply_erases::RULE,
    &frr_unsaved::RULE,
    &registry::MISSING,
    &registry::DIFFERS,
    &registry::ONLY,
    &registry::EGRESS,
    &sdn_id_invalid::RULE,
    &subnet_input::RULE,
    &delete_blocked::RULE,
    &made_with_defaults::RULE,
];
