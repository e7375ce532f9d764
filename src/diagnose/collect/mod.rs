//! Collecting evidence from a live site: clients work as always, and what goes over the wire is kept as items.
//!
//! Everything that is judged goes through [`Evidence`], also live: a saved bundle is judged exactly as the site was.
//! Back ends are read side by side; one that is silent costs its own time-out and nobody else's.

mod exit_node;
mod fabric;
pub mod reach;
mod sink;

use std::sync::Arc;

use ipnet::Ipv4Net;

use crate::diagnose::evidence::{Evidence, Kind};
use crate::inventory::feed::Clients;
use crate::site::Site;

pub use sink::{Clock, Sink};

/// What is to be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// From the workload to the internet.
    Egress,
    /// Between tenants, every ordered pair.
    Isolation,
    /// SDN and what nodes made of it.
    Fabric,
    /// Everything.
    All,
}

impl Check {
    /// Whether the exit nodes are asked.
    const fn nodes(self) -> bool {
        !matches!(self, Self::Fabric)
    }
}

/// What is wanted of a check.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Which check.
    pub check: Check,
    /// Only this tenant; `None` = all.
    pub tenant: Option<String>,
}

/// A tenant's subnet as SDN has it in force, for what is asked of an exit node.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Leg {
    zone: String,
    vnet: String,
    subnet: Ipv4Net,
    exits: Vec<String>,
}

/// Reads `wanted` of `site` into `sink`.
pub async fn collect(site: &Arc<Site>, clients: &Clients, wanted: &Wanted, sink: &Sink) -> Evidence {
    let question = match &wanted.tenant {
        Some(tenant) => format!("check {:?} of {tenant}", wanted.check).to_lowercase(),
        None => format!("check {:?}", wanted.check).to_lowercase(),
    };
    let what = Kind::Material("the site file, without where its secrets come from".to_owned());
    sink.put("site.toml", &site.name, what, site.redacted.to_string());
    let legs = fabric::read(site, clients, sink).await;
    if wanted.check.nodes() {
        exit_node::read(site, clients, wanted, &legs, sink).await;
    }
    sink.evidence(Some(question))
}
