//! The exit node as its own tools show it: iproute2 6.15, iptables 1.8.11, FRR 10 (facts/exit-node.md).
//!
//! Everything is derived from the applied SDN configuration and the deviations in [`super::state::ExitNode`], so the
//! API and the node can only disagree where a fault makes them.

pub mod files;
mod flows;
mod ip;
mod links;
pub mod routes;
mod tools;

use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use serde::{Deserialize, Serialize};

use super::sdn::{Kind, Tree, scalar, subnet_parts};
use super::state::World;
pub(super) use flows::Echo;

/// A program run on the node.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Run {
    /// Its argument vector, program name first.
    pub argv: Vec<String>,
    /// What it reads: a batch file or standard input.
    #[serde(default)]
    pub input: String,
}

/// What the program printed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Exit code.
    pub code: u8,
}

impl Output {
    fn ok(stdout: String) -> Self {
        Self { stdout, ..Self::default() }
    }

    pub(super) fn fail(code: u8, stderr: &str) -> Self {
        Self { stdout: String::new(), stderr: format!("{stderr}\n"), code }
    }
}

/// Runs a program of the node at `now` (seconds since the epoch).
#[must_use]
pub fn run(world: &World, now: i64, run: &Run) -> Output {
    run_after(world, now, run, &[])
}

/// The same on a node whose connection table still holds `echoes`.
#[must_use]
pub(super) fn run_after(world: &World, now: i64, run: &Run, echoes: &[Echo]) -> Output {
    let program = run.argv.first().map(String::as_str).unwrap_or_default();
    let args: Vec<&str> = run.argv.iter().skip(1).map(String::as_str).collect();
    match (program, args.as_slice()) {
        ("ip", ["vrf", "exec", vrf, "ping", args @ ..]) => tools::ping(world, args, Some(vrf)),
        ("ip", _) => ip::run(world, now, &args, &run.input),
        _ => tools::run(world, now, program, &args, echoes),
    }
}

/// The flow that a run leaves behind in the connection table: of a ping from inside a VRF that was sent.
#[must_use]
pub(super) fn echo(world: &World, now: i64, run: &Run) -> Option<Echo> {
    let words: Vec<&str> = run.argv.iter().map(String::as_str).collect();
    let ["ip", "vrf", "exec", vrf, "ping", .., dst] = words.as_slice() else { return None };
    flows::echo(world, now, vrf, dst.parse().ok()?)
}

/// Programs of the node that the lab answers.
pub const PROGRAMS: &[&str] = &[
    "ip",
    "iptables-save",
    "iptables-nft-save",
    "iptables-legacy-save",
    "vtysh",
    "systemctl",
    "conntrack",
    "nstat",
    "hostname",
    "uname",
    "date",
    "ping",
    "arping",
    "dig",
];

/// A run of `dig`, which asks a server and so takes its time: the VRF it is in, if any, and its arguments.
#[must_use]
pub fn dig(run: &Run) -> Option<(Option<&str>, Vec<&str>)> {
    let words: Vec<&str> = run.argv.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["dig", args @ ..] => Some((None, args.to_vec())),
        ["ip", "vrf", "exec", vrf, "dig", args @ ..] => Some((Some(vrf), args.to_vec())),
        _ => None,
    }
}

/// A VNet of a VRF on the node.
#[derive(Debug, Clone)]
struct Vnet {
    name: String,
    tag: u32,
    subnets: Vec<Subnet>,
    /// Whether its devices exist.
    present: bool,
}

/// An applied subnet.
#[derive(Debug, Clone)]
struct Subnet {
    prefix: Ipv4Net,
    gateway: Option<Ipv4Addr>,
    snat: bool,
}

/// A tenant's VRF on the node.
#[derive(Debug, Clone)]
struct Vrf {
    zone: String,
    vni: u32,
    /// Routing table.
    table: u32,
    /// Whether the node is an exit node of the zone.
    exit: bool,
    vnets: Vec<Vnet>,
}

/// Zone → routing table of the VRFs that are on the exit node.
pub(in crate::lab) fn vrf_tables(world: &World) -> std::collections::BTreeMap<String, u32> {
    vrfs(world).into_iter().map(|vrf| (vrf.zone, vrf.table)).collect()
}

impl Vrf {
    /// Whether `ip` is in one of its subnets.
    fn has(&self, ip: Ipv4Addr) -> bool {
        self.vnets.iter().flat_map(|vnet| &vnet.subnets).any(|subnet| subnet.prefix.contains(&ip))
    }
}

/// The VRFs the loaded configuration puts on the exit node, in the order of their tables.
fn vrfs(world: &World) -> Vec<Vrf> {
    let node = world.exit.node.as_str();
    let tree = world.loaded(node);
    let listed = |zone: &str, option: &str, otherwise: bool| {
        tree.text(Kind::Zone, zone, option).map_or(otherwise, |list| list.split(',').any(|entry| entry == node))
    };
    let number = |text: Option<String>| text.and_then(|text| text.parse().ok()).unwrap_or(0);
    let evpn = tree.of(Kind::Zone).filter(|(_, o)| o.get("type").is_some_and(|kind| kind == "evpn"));
    evpn.filter(|(zone, _)| listed(zone, "nodes", true))
        .map(|(zone, _)| zone)
        .zip(1001_u32..)
        .map(|(zone, place)| Vrf {
            zone: zone.clone(),
            vni: number(tree.text(Kind::Zone, zone, "vrf-vxlan")),
            table: world.exit.tables.get(zone).copied().unwrap_or(place),
            exit: listed(zone, "exitnodes", false),
            vnets: tree
                .vnets_of(zone)
                .map(|vnet| Vnet {
                    name: vnet.clone(),
                    tag: number(tree.text(Kind::Vnet, vnet, "tag")),
                    subnets: subnets(tree, vnet),
                    present: !world.exit.missing_vnets.contains(vnet),
                })
                .collect(),
        })
        .collect()
}

fn subnets(tree: &Tree, vnet: &str) -> Vec<Subnet> {
    tree.subnets_of(vnet)
        .filter_map(|(id, options)| {
            let (_, network, mask) = subnet_parts(id)?;
            Some(Subnet {
                prefix: format!("{network}/{mask}").parse::<Ipv4Net>().ok()?.trunc(),
                gateway: options.get("gateway").and_then(|gateway| scalar(gateway).parse().ok()),
                snat: options.get("snat").is_some_and(|snat| scalar(snat) == "1"),
            })
        })
        .collect()
}
