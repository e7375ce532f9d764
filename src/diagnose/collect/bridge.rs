//! What an exit node tells of the tenants' segments on it: who answers on a VNet, and what FRR made of it.

use super::{Check, Fabric, Leg, Sink, Wanted, exit_node, names};
use crate::backends::exit_node::{Client, MAX_QUESTIONS, PathProbe, Show};
use crate::site::Site;
use crate::site::model::ExitNodeSite;

/// Whether the workloads in scope answer for their addresses: those of one tenant, the first of each of all. Only of those
/// that run: of the others Proxmox VE says why they do not.
///
/// Only of those on `node`: the gateway's address is on every node of a zone, and what a guest elsewhere answers ends there.
pub(super) fn neighbours(
    site: &Site,
    fabric: &Fabric,
    wanted: &Wanted,
    (node, there): (&str, &[&Leg]),
) -> Vec<PathProbe> {
    let mut probes = Vec::new();
    for leg in there {
        let own = Wanted { tenant: Some(leg.zone.clone()), ..wanted.clone() };
        let running =
            names::workloads(site, fabric, &own).into_iter().filter(|w| w.vm.node == node && w.vm.status == "running");
        let inside = running.filter(|w| leg.subnet.contains(&w.address));
        let most = if wanted.tenant.is_some() { MAX_QUESTIONS } else { 1 };
        probes.extend(inside.take(most).filter_map(|w| PathProbe::arp(&leg.vnet, w.address).ok()));
    }
    probes.truncate(MAX_QUESTIONS);
    probes
}

/// FRR's configuration in force, the one that was saved, and the VNIs as they are bound.
pub(super) async fn shown(about: &ExitNodeSite, client: &Client, check: Check, sink: &Sink) {
    if matches!(check, Check::Access) {
        return;
    }
    let began = (sink.clock())();
    match client.probe_show(sink.patience(), &[Show::Vnis, Show::Running, Show::Saved]).await {
        Ok(ran) => ran.into_iter().for_each(|ran| exit_node::probed(about, ran, began, sink)),
        Err(why) => exit_node::unread(&about.name, "deevnet-exit-node probe show", &why.to_string(), sink),
    }
}
