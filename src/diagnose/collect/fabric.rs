//! Proxmox: rights, nodes, SDN as applied and as configured, what each node made of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::future::join_all;

use super::{Fabric, Leg, Sink};
use crate::backends::proxmox::model::{Sdn, Subnet, Vnet, Zone};
use crate::backends::proxmox::{Client, View};
use crate::inventory::feed::Clients;
use crate::site::Site;

/// Reads the fabric: what is asked of everybody else follows from it. A part that fails is an item that says so.
pub(super) async fn read(site: &Arc<Site>, clients: &Clients, sink: &Sink) -> Fabric {
    let node = &site.proxmox.node;
    let client = match &clients.proxmox {
        Ok(client) => client.recorded(sink.recorder(node)),
        Err(why) => {
            for request in ["GET /api2/json/cluster/sdn/zones?running=1", "GET /api2/json/cluster/resources"] {
                sink.unanswered(node, request, &why.text);
            }
            return Fabric::default();
        }
    };
    // First and alone: with a wrong token it is one refusal, not twenty.
    if client.permissions().await.is_err() && client.version().await.is_err() {
        drop(client.zones(View::Running).await);
        return Fabric::default();
    }
    let (zones, vnets, resources, ..) = tokio::join!(
        client.zones(View::Running),
        client.vnets(View::Running),
        client.resources(),
        client.zones(View::Pending),
        client.vnets(View::Pending),
        client.controllers(View::Pending),
        client.fabrics(View::Pending),
        client.cluster_status(),
        client.nodes(),
        client.cluster_tasks(),
        client.node_zones(node),
    );
    let vms = resources.map(|all| all.vms).unwrap_or_default();
    let (Ok(zones), Ok(vnets)) = (zones, vnets) else { return Fabric { legs: Vec::new(), vms } };
    Fabric { legs: legs(&client, &zones, &vnets).await, vms }
}

async fn legs(client: &Client, zones: &[Sdn<Zone>], vnets: &[Sdn<Vnet>]) -> Vec<Leg> {
    let subnets = join_all(vnets.iter().filter_map(of_vnet).map(|vnet| subnets(client, vnet))).await;
    let evpn: Vec<&Zone> = zones.iter().filter_map(Sdn::current).filter(|z| z.kind == "evpn").collect();
    let exits: BTreeSet<&String> = evpn.iter().flat_map(|zone| &zone.exit_nodes).collect();
    let plans = join_all(exits.into_iter().map(|exit| client.dry_run(exit)));
    let routes = join_all(evpn.iter().flat_map(|zone| {
        zone.exit_nodes.iter().map(move |exit| async move { drop(client.ip_vrf(exit, &zone.zone).await) })
    }));
    // Where a zone is meant to be: an exit node that is none of its nodes too.
    let realised = join_all(evpn.iter().flat_map(|zone| {
        let nodes: BTreeSet<&String> = zone.nodes.iter().chain(&zone.exit_nodes).collect();
        nodes.into_iter().map(move |node| async move { drop(client.zone_content(node, &zone.zone).await) })
    }));
    drop(tokio::join!(plans, routes, realised));
    let leg = |subnet: &Subnet| {
        let vnet = vnets.iter().filter_map(of_vnet).find(|v| v.vnet == subnet.vnet)?;
        let zone = evpn.iter().find(|z| z.zone == vnet.zone)?;
        let (zone, exits) = (zone.zone.clone(), zone.exit_nodes.clone());
        Some(Leg { zone, vnet: vnet.vnet.clone(), subnet: subnet.cidr?, exits })
    };
    subnets.iter().flatten().filter_map(leg).collect()
}

fn of_vnet(vnet: &Sdn<Vnet>) -> Option<&Vnet> {
    vnet.running.as_ref().or(vnet.configured.as_ref())
}

async fn subnets(client: &Client, vnet: &Vnet) -> Vec<Subnet> {
    let (running, _) =
        tokio::join!(client.subnets(&vnet.vnet, View::Running), client.subnets(&vnet.vnet, View::Pending));
    let current = |s: Sdn<Subnet>| s.running.or(s.configured);
    running.unwrap_or_default().into_iter().filter_map(current).collect()
}
