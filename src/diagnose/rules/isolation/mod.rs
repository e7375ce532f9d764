//! Between tenants.

mod hairpin_leak;
mod inter_tenant_leak;
pub mod keys;
pub mod matrix;
mod tenant_isolated;
mod tenants_share_vrf;
mod workload_on_foreign_network;

use super::Rule;

/// Rules of this layer.
pub(super) static RULES: &[&Rule] = &[
    &tenants_share_vrf::RULE,
    &inter_tenant_leak::RULE,
    &hairpin_leak::RULE,
    &tenant_isolated::RULE,
    &workload_on_foreign_network::RULE,
];
