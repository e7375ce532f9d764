//! Between tenants.

mod hairpin_leak;
mod inter_tenant_leak;
pub mod keys;
pub mod matrix;
mod packet_leak;
pub mod packets;
mod pasted_contradiction;
mod pasted_leak;
mod pasted_path;
mod tenant_isolated;
mod tenants_share_vrf;
mod workload_on_foreign_network;

use super::Rule;

/// Rules of this layer.
pub(super) static RULES: &[&Rule] = &[
    &tenants_share_vrf::RULE,
    &inter_tenant_leak::RULE,
    &hairpin_leak::RULE,
    &packet_leak::RULE,
    &pasted_leak::RULE,
    &pasted_contradiction::RULE,
    &pasted_path::GATEWAY,
    &pasted_path::MANAGED,
    &tenant_isolated::RULE,
    &workload_on_foreign_network::RULE,
];
