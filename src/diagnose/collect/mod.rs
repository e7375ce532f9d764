//! Collecting evidence from a live site: clients work as always, and what goes over the wire is kept as items.
//!
//! Everything that is judged goes through [`Evidence`], also live: a saved bundle is judged exactly as the site was.
//! Back ends are read side by side; one that is silent costs its own time-out and nobody else's.

mod exit_node;
mod fabric;
mod guests;
mod names;
mod perimeter;
mod questions;
pub mod reach;
mod scope;
mod sink;

use std::sync::Arc;

use futures_util::FutureExt as _;
use ipnet::Ipv4Net;

use crate::backends::proxmox::model::Vm;
use crate::diagnose::evidence::{Evidence, Kind};
use crate::inventory::feed::Clients;
use crate::site::Site;

pub use scope::{Check, Wanted, report};
pub use sink::{Clock, Sink};

/// A tenant's subnet as SDN has it in force, for what is asked of an exit node.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Leg {
    zone: String,
    vnet: String,
    subnet: Ipv4Net,
    exits: Vec<String>,
}

/// What Proxmox VE told of tenants, as far as others are asked about it; empty where it told nothing.
#[derive(Debug, Default)]
struct Fabric {
    legs: Vec<Leg>,
    vms: Vec<Vm>,
}

/// Reads `wanted` of `site` into `sink`.
pub async fn collect(site: &Arc<Site>, clients: &Clients, wanted: &Wanted, sink: &Sink) -> Evidence {
    let what = Kind::Material("the site file, without where its secrets come from".to_owned());
    sink.put("site.toml", &site.name, what, site.redacted.to_string());
    let check = wanted.check;
    // Whoever needs to know of tenants waits for it; the rest of a back end is read meanwhile.
    let fabric = async { Arc::new(fabric::read(site, clients, sink).await) }.shared();
    let nodes = async {
        if check.nodes() {
            exit_node::read(site, clients, wanted, &*fabric.clone().await, sink).await;
        }
    };
    let guests = async {
        if check.guests() {
            guests::read(site, clients, wanted, &*fabric.clone().await, sink).await;
        }
    };
    let names = async {
        if check.names() {
            names::read(site, clients, wanted, fabric.clone(), sink).await;
        }
    };
    let perimeter = async {
        if let Some(depth) = check.perimeter() {
            perimeter::read(site, clients, wanted, depth, fabric.clone(), sink).await;
        }
    };
    tokio::join!(fabric.clone(), nodes, guests, names, perimeter);
    sink.evidence(Some(wanted.question()))
}
