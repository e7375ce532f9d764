//! The router, one request after the other: it is to be asked gently.

use std::future::Future;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use super::scope::Depth;
use super::{Fabric, Sink, Wanted, names};
use crate::backends::opnsense::{Client, Error};
use crate::inventory::feed::Clients;
use crate::site::Site;

/// Addresses whose states are looked for.
const ADDRESSES: usize = 4;
/// States read of each.
const STATES: usize = 200;
/// Lines read of the filter log.
const LOGGED: usize = 500;

/// Reads as much of the router as the check needs.
pub(super) async fn read(
    site: &Site,
    clients: &Clients,
    wanted: &Wanted,
    depth: Depth,
    fabric: impl Future<Output = Arc<Fabric>>,
    sink: &Sink,
) {
    let Some(about) = &site.opnsense else { return };
    let host = about.url.split("://").nth(1).unwrap_or(&about.url).trim_end_matches('/').to_owned();
    let client = match &clients.opnsense {
        None => return,
        Some(Ok(client)) => client.recorded(sink.recorder(&host)),
        Some(Err(why)) => return sink.unasked(&host, "GET /api/core/firmware/status", why),
    };
    // First and alone: a router that is silent or does not know the key is asked once.
    client.begin_poll().await;
    if let Err(Error::Http(_) | Error::NoCredentials | Error::Unauthenticated { .. }) = client.release().await {
        return;
    }
    if depth == Depth::Door {
        drop(client.system_status().await);
        return;
    }
    if depth == Depth::Rules {
        drop(client.interfaces().await);
        drop(client.rules().await);
        drop(client.aliases().await);
        drop(client.static_routes().await);
        return;
    }
    resolver(&client).await;
    if depth == Depth::Whole {
        whole(&client).await;
        let fabric = fabric.await;
        for address in addresses(site, &fabric, wanted) {
            drop(client.states_of(IpAddr::V4(address), STATES).await);
        }
    }
}

async fn resolver(client: &Client) {
    drop(client.interfaces().await);
    drop(client.forwards().await);
    drop(client.resolver_settings().await);
    drop(client.resolver_state().await);
    drop(client.insecure_domains().await);
    drop(client.access_lists().await);
    drop(client.local_zones().await);
}

async fn whole(client: &Client) {
    drop(client.system_status().await);
    drop(client.uptime().await);
    drop(client.rules().await);
    drop(client.aliases().await);
    drop(client.static_routes().await);
    drop(client.kernel_routes().await);
    drop(client.gateways().await);
    drop(client.gateway_health().await);
    drop(client.arp().await);
    drop(client.source_nat().await);
    drop(client.filter_log(LOGGED).await);
}

/// The workloads of one tenant; of all, what their translated packets come from.
fn addresses(site: &Site, fabric: &Fabric, wanted: &Wanted) -> Vec<Ipv4Addr> {
    let transit = site.exit_nodes.iter().map(|node| node.transit_address);
    if wanted.tenant.is_none() {
        return transit.take(ADDRESSES).collect();
    }
    let own = names::workloads(site, fabric, wanted).into_iter().map(|w| w.address);
    transit.take(1).chain(own).take(ADDRESSES).collect()
}
