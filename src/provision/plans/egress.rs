//! A tenant's way out: its stanza on every exit node, and the proof that the kernel has the route.
//!
//! Proxmox merges `frr.conf.local` when it generates FRR's configuration, which an SDN apply makes it do: the stanzas stand
//! before that apply, the proofs behind it (domain.md §6).

use crate::provision::egress::{Stanza, VrfDefault};
use crate::provision::fields::fields;
use crate::provision::object::Object;
use crate::provision::plan::Step;
use crate::site::Site;

fn stanza(node: &str, tenant: &str) -> Object {
    Object::Stanza(Stanza { node: node.to_owned(), tenant: tenant.to_owned() })
}

/// The stanzas, which come before the apply.
#[must_use]
pub fn stanzas(site: &Site, tenant: &str) -> Vec<Step> {
    let nodes = site.exit_nodes.iter();
    nodes.map(|node| Step::present(stanza(&node.name, tenant), Stanza::by(node.transit_gateway))).collect()
}

/// The default route as the kernel of each exit node has it, which comes behind the apply.
#[must_use]
pub fn proofs(site: &Site, tenant: &str) -> Vec<Step> {
    let proof = |node: &crate::site::model::ExitNodeSite| {
        let object = Object::VrfDefault(VrfDefault { node: node.name.clone(), vrf: format!("vrf_{tenant}") });
        let route = [("gateway", node.transit_gateway.to_string()), ("device", node.transit_interface.clone())];
        Step::present(object, fields(route)).following()
    };
    site.exit_nodes.iter().map(proof).collect()
}

/// Gives a tenant its way out: the stanzas, then the proofs. What applies them stands between.
#[must_use]
pub fn onboarding(site: &Site, tenant: &str) -> Vec<Step> {
    [stanzas(site, tenant), proofs(site, tenant)].concat()
}

/// Takes a tenant's stanzas away. The VRF keeps the route until the apply that removes its zone: without one its packets
/// would leave by the node's main table, unnoticed.
#[must_use]
pub fn removal(site: &Site, tenant: &str) -> Vec<Step> {
    site.exit_nodes.iter().map(|node| Step::absent(stanza(&node.name, tenant))).collect()
}
