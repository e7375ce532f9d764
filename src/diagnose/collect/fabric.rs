//! Proxmox: rights, nodes, SDN as applied and as configured, what each node made of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::future::join_all;

use super::{Check, Fabric, Leg, Sink};
use crate::backends::proxmox::endpoints::ZONES;
use crate::backends::proxmox::model::{NodeResource, Sdn, Subnet, Task, Vnet, Zone};
use crate::backends::proxmox::{Client, Upid, View};
use crate::inventory::feed::Clients;
use crate::site::Site;

/// Lines read of a log of a task.
const LINES: u64 = 200;

/// Reads the fabric: what is asked of everybody else follows from it. A part that fails is an item that says so.
pub(super) async fn read(site: &Arc<Site>, clients: &Clients, check: Check, sink: &Sink) -> Fabric {
    let node = &site.proxmox.node;
    let client = match &clients.proxmox {
        Ok(client) => client.recorded(sink.recorder(node)),
        Err(why) => {
            for request in ["GET /api2/json/cluster/sdn/zones?running=1", "GET /api2/json/cluster/resources"] {
                sink.unasked(node, request, why);
            }
            return Fabric::default();
        }
    };
    // First and alone: with a wrong token it is one refusal, not twenty.
    let permissions = client.permissions().await;
    if permissions.is_err() && client.version().await.is_err() {
        drop(client.zones(View::Running).await);
        return Fabric::default();
    }
    let (zones, vnets, resources, nodes, tasks, ..) = tokio::join!(
        client.zones(View::Running),
        client.vnets(View::Running),
        client.resources(),
        client.nodes(),
        client.cluster_tasks(),
        client.zones(View::Pending),
        client.vnets(View::Pending),
        client.controllers(View::Pending),
        client.fabrics(View::Pending),
        client.cluster_status(),
        client.node_zones(node),
    );
    let vms = resources.map(|all| all.vms).unwrap_or_default();
    let (nodes, tasks) = (nodes.unwrap_or_default(), tasks.unwrap_or_default());
    if check.realised() {
        members(&client, node, &nodes).await;
        // What is listed may be less than there is.
        if permissions.is_ok_and(|held| !ZONES.privilege.sees_all(&held)) {
            drop(client.bridges(node).await);
        }
    }
    let (Ok(zones), Ok(vnets)) = (zones, vnets) else { return Fabric { legs: Vec::new(), vms } };
    let legs = legs(&client, &zones, &vnets).await;
    if check.realised() {
        let exits: BTreeSet<&str> = legs.iter().flat_map(|leg| leg.exits.iter().map(String::as_str)).collect();
        reload_logs(&client, &exits, &tasks).await;
    }
    Fabric { legs, vms }
}

/// Whether each member answers, and what it made of the zones.
async fn members(client: &Client, asked: &str, nodes: &[NodeResource]) {
    join_all(nodes.iter().filter(|node| node.status == "online").map(|node| async move {
        let zones = async {
            if node.node == asked {
                return;
            }
            for zone in client.node_zones(&node.node).await.unwrap_or_default() {
                if zone.status != "available" {
                    drop(client.zone_content(&node.node, &zone.zone).await);
                }
            }
        };
        drop(tokio::join!(client.node_status(&node.node), zones));
    }))
    .await;
}

/// The log of a reload that did not end well on an exit node.
async fn reload_logs(client: &Client, exits: &BTreeSet<&str>, tasks: &[Task]) {
    join_all(exits.iter().map(|exit| async move {
        let of = tasks.iter().filter(|task| task.node == **exit && task.kind == "srvreload");
        let last = of.max_by_key(|task| task.started);
        let log = async {
            let odd = last.filter(|task| task.status.as_deref().is_some_and(|end| end != "OK"));
            if let Some(upid) = odd.and_then(|task| task.upid.parse::<Upid>().ok()) {
                drop(client.task_log(&upid, 0, LINES).await);
            }
        };
        log.await;
    }))
    .await;
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
