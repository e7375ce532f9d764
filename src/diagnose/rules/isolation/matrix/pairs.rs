//! Every ordered pair of tenants on every exit node: what the node's own routes keep apart.

use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use serde::Serialize;

use super::super::super::exits::{Exit, Tenant, exits};
use super::super::keys::{KeyWay, between};
use crate::backends::exit_node::model::{Lookup, Route, RouteKind};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::node::MAIN;

/// What a packet of one tenant to another comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// The VRF drops it: a null route for all of the other's subnets.
    Dropped,
    /// It leaves by the default route: what is beyond, the perimeter, has to drop it.
    Hairpin,
    /// It arrives.
    Delivered,
    /// It has no way out at all.
    NoRoute,
    /// Not read.
    Unknown,
}

impl Way {
    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Dropped => "dropped by the VRF",
            Self::Hairpin => "out by the default route: the perimeter alone",
            Self::Delivered => "DELIVERED",
            Self::NoRoute => "no route",
            Self::Unknown => "unknown",
        }
    }
}

/// One ordered pair on one exit node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pair {
    /// The exit node.
    pub node: String,
    /// The sender's zone.
    pub from: String,
    /// The other's zone.
    pub to: String,
    /// By the routes of the sender's VRF: the worst of the other's subnets.
    pub routes: Way,
    /// What the kernel said to a lookup, where one was asked.
    pub lookup: Option<String>,
    /// What the sender's update key came to on the other's zones; the same on every node.
    pub keys: KeyWay,
    /// Address to try from a workload of the sender, which is the only proof.
    pub try_address: Option<Ipv4Addr>,
}

/// All pairs, by node, sender and receiver.
#[must_use]
pub fn pairs(facts: &Facts) -> Vec<Pair> {
    let mut all = Vec::new();
    for exit in exits(facts) {
        for from in &exit.tenants {
            for to in exit.tenants.iter().filter(|to| to.zone != from.zone) {
                let (asked, lookup) = looked_up(&exit, from, to).unzip();
                all.push(Pair {
                    node: exit.name.to_owned(),
                    from: from.zone.to_owned(),
                    to: to.zone.to_owned(),
                    routes: way(&exit, from, to),
                    lookup,
                    keys: between(facts, from.zone, to.zone),
                    try_address: asked.or_else(|| to.subnets.first().and_then(|(_, net)| net.hosts().nth(1))),
                });
            }
        }
    }
    all
}

/// By the routes of the sender's VRF: the worst of the other's subnets. Where its own table has no route at all, the
/// lookup goes on in the main table (`facts/exit-node.md` §1), which holds every tenant's subnet.
pub(super) fn way(exit: &Exit<'_>, from: &Tenant<'_>, to: &Tenant<'_>) -> Way {
    let Some(routes) = exit.node.tables.get(&from.vrf).filter(|_| !to.subnets.is_empty()) else { return Way::Unknown };
    let main = exit.node.tables.get(MAIN);
    let ways: Vec<Way> = to
        .subnets
        .iter()
        .map(|(_, net)| match best(routes, net) {
            Some(route) => of_route(route),
            None => main.map_or(Way::Unknown, |main| best(main, net).map_or(Way::NoRoute, of_route)),
        })
        .collect();
    let order = [Way::Delivered, Way::Unknown, Way::Hairpin, Way::NoRoute];
    order.into_iter().find(|worst| ways.contains(worst)).unwrap_or(Way::Dropped)
}

/// The most specific route for `net`.
fn best<'r>(routes: &'r [Route], net: &Ipv4Net) -> Option<&'r Route> {
    routes.iter().filter(|route| route.dst.contains(net)).max_by_key(|route| route.dst.prefix_len())
}

fn of_route(route: &Route) -> Way {
    match route.kind {
        RouteKind::Unicast if route.dst.prefix_len() == 0 => Way::Hairpin,
        RouteKind::Unicast => Way::Delivered,
        _ => Way::Dropped,
    }
}

fn looked_up(exit: &Exit<'_>, from: &Tenant<'_>, to: &Tenant<'_>) -> Option<(Ipv4Addr, String)> {
    let ours = |from_ip: Option<Ipv4Addr>, dst| from_ip.is_some_and(|ip| from.has(ip)) && to.has(dst);
    let asked = exit.node.lookups.iter().rfind(|asked| ours(asked.from, asked.dst))?;
    let said = match &asked.answer {
        Lookup::Error(words) => words.clone(),
        Lookup::Route { dev, gateway: Some(gateway), .. } => format!("via {gateway} by {dev}"),
        Lookup::Route { dev, .. } => format!("by {dev}"),
    };
    Some((asked.dst, said))
}
