//! Every ordered pair of tenants on every exit node: what keeps the one from the other. For a change record.

use std::fmt::Write as _;
use std::net::Ipv4Addr;

use serde::Serialize;

use super::super::exits::{Exit, Tenant, exits};
use super::keys::{KeyWay, NOT_ASKED, between};
use crate::backends::exit_node::model::{Lookup, Route, RouteKind};
use crate::diagnose::facts::Facts;

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
                    routes: by_routes(&exit, from, to),
                    lookup,
                    keys: between(facts, from.zone, to.zone),
                    try_address: asked.or_else(|| to.subnets.first().and_then(|(_, net)| net.hosts().nth(1))),
                });
            }
        }
    }
    all
}

fn by_routes(exit: &Exit<'_>, from: &Tenant<'_>, to: &Tenant<'_>) -> Way {
    let Some(routes) = exit.node.tables.get(&from.vrf).filter(|_| !to.subnets.is_empty()) else { return Way::Unknown };
    let best = |net| routes.iter().filter(|route| route.dst.contains(net)).max_by_key(|route| route.dst.prefix_len());
    let way = |route: Option<&Route>| match route {
        None => Way::NoRoute,
        Some(Route { kind: RouteKind::Unicast, dst, .. }) if dst.prefix_len() == 0 => Way::Hairpin,
        Some(Route { kind: RouteKind::Unicast, .. }) => Way::Delivered,
        Some(_) => Way::Dropped,
    };
    let ways: Vec<Way> = to.subnets.iter().map(|(_, net)| way(best(net))).collect();
    let worst = [Way::Delivered, Way::Hairpin, Way::NoRoute].into_iter().find(|worst| ways.contains(worst));
    worst.unwrap_or(Way::Dropped)
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

/// The matrix as Markdown, and below it what only a workload can test, with the command.
#[must_use]
pub fn markdown(pairs: &[Pair]) -> String {
    let mut out = String::from(
        "| From | To | Exit node | By its VRF's routes | Lookup | Update key on the other's zones |\n|---|---|---|---|---|---|\n",
    );
    for pair in pairs {
        let lookup = pair.lookup.as_deref().unwrap_or("not asked");
        let routes = pair.routes.words();
        let keys = if pair.keys == not_asked() { "not run here".to_owned() } else { pair.keys.words() };
        let _ = writeln!(out, "| {} | {} | {} | {routes} | {lookup} | {keys} |", pair.from, pair.to, pair.node);
    }
    let mut told: Vec<(&str, &str)> = Vec::new();
    out.push_str("\nNot run here:\n\n");
    for pair in pairs {
        let (who, Some(address)) = ((pair.from.as_str(), pair.to.as_str()), pair.try_address) else { continue };
        if !told.contains(&who) {
            told.push(who);
            let _ = writeln!(out, "- on a workload of {}, towards {}: `ping -c 3 -W 1 {address}`", who.0, who.1);
        }
    }
    if pairs.iter().any(|pair| pair.keys == not_asked()) {
        out.push_str("- update keys, which takes their secrets: `deevnet-console check isolation --matrix --keys`\n");
    }
    crate::text::clean_lines(&out)
}

fn not_asked() -> KeyWay {
    KeyWay::NotRun(NOT_ASKED.to_owned())
}
