//! Zones, VNets, subnets, controllers, and what nodes made of them.

mod apply_partial;
mod list_filtered;
mod node_lags;
mod routing_packages_missing;
mod sdn_no_effect;
mod sdn_pending;
mod subnet_overlap;
mod tenant_off_plan;
mod vnet_missing;
mod vni_collision;

use super::Rule;

/// Rules of this layer, those first whose faults explain others.
pub(super) static RULES: &[&Rule] = &[
    &list_filtered::RULE,
    &routing_packages_missing::RULE,
    &apply_partial::RULE,
    &node_lags::RULE,
    &sdn_pending::RULE,
    &sdn_no_effect::RULE,
    &vnet_missing::RULE,
    &vni_collision::RULE,
    &subnet_overlap::RULE,
    &tenant_off_plan::RULE,
];
