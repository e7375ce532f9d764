//! Routing tables of the exit node and the lookups they give (facts/exit-node.md §1, §2, §7).

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use ipnet::Ipv4Net;

use super::{Vrf, vrfs};
use crate::lab::state::{ExitNode, FrrUnit, Isolation, LocalStanza, VrfDefault, World};

/// A route.
#[derive(Debug, Clone)]
pub struct Route {
    /// Destination.
    pub dst: Ipv4Net,
    /// `unicast`, `blackhole`, `unreachable`, `local`, `broadcast`.
    pub kind: &'static str,
    /// Next hop.
    pub gateway: Option<Ipv4Addr>,
    /// Output device; empty where there is none.
    pub dev: String,
    /// `kernel`, `static`, `bgp`, `boot`.
    pub protocol: &'static str,
    /// Metric.
    pub metric: Option<u64>,
    /// Source the kernel would pick.
    pub prefsrc: Option<Ipv4Addr>,
}

impl Route {
    /// Whether it delivers.
    #[must_use]
    pub fn is_unicast(&self) -> bool {
        self.kind == "unicast"
    }

    fn link(dst: Ipv4Net, dev: &str, prefsrc: Option<Ipv4Addr>) -> Self {
        Self { dst, kind: "unicast", gateway: None, dev: dev.to_owned(), protocol: "kernel", metric: None, prefsrc }
    }

    fn via(dst: Ipv4Net, gateway: Ipv4Addr, dev: &str, protocol: &'static str, metric: Option<u64>) -> Self {
        Self { dst, kind: "unicast", gateway: Some(gateway), dev: dev.to_owned(), protocol, metric, prefsrc: None }
    }

    fn refuse(dst: Ipv4Net, kind: &'static str, protocol: &'static str, metric: u64) -> Self {
        Self { dst, kind, gateway: None, dev: String::new(), protocol, metric: Some(metric), prefsrc: None }
    }
}

/// Metric of the unreachable default a VRF has where the node is no exit node.
const FALLBACK_METRIC: u64 = 4_278_198_272;

/// What a lookup found.
#[derive(Debug, Clone)]
pub struct Found {
    /// The route.
    pub route: Route,
    /// Name of its table, when it is not main.
    pub table: Option<String>,
}

/// All tables of the node.
#[derive(Debug)]
pub struct Tables {
    /// Zone → table.
    vrfs: BTreeMap<String, Vec<Route>>,
    /// The main table.
    pub main: Vec<Route>,
    /// Table 100: source routing of the management address.
    pub management: Vec<Route>,
    /// VNet bridge → zone.
    bridges: BTreeMap<String, String>,
    /// Interfaces whose `forwarding` is 0 although packets to be forwarded enter there.
    closed: Vec<String>,
    management_address: Ipv4Addr,
    transit_dev: String,
}

impl Tables {
    /// Derives them.
    #[must_use]
    pub fn of(world: &World) -> Self {
        let all = vrfs(world);
        let exit = &world.exit;
        let management_address = world.node(&exit.node).map_or(Ipv4Addr::UNSPECIFIED, |node| node.ip);
        let mut closed: Vec<String> = if exit.transit_forwarding { Vec::new() } else { vec![exit.transit_dev.clone()] };
        let mut bridges = BTreeMap::new();
        for vrf in &all {
            for vnet in vrf.vnets.iter().filter(|vnet| vnet.present) {
                bridges.insert(vnet.name.clone(), vrf.zone.clone());
                let gateway = vnet.subnets.iter().any(|subnet| subnet.gateway.is_some());
                if !exit.vrf(&vrf.zone).forwarding || !gateway {
                    closed.push(vnet.name.clone());
                }
            }
        }
        Self {
            vrfs: all.iter().map(|vrf| (vrf.zone.clone(), vrf_table(exit, vrf, &all))).collect(),
            main: main_table(exit, management_address, &all),
            management: management_table(exit, management_address),
            bridges,
            closed,
            management_address,
            transit_dev: exit.transit_dev.clone(),
        }
    }

    /// The table of a zone's VRF; empty where there is none.
    #[must_use]
    pub fn vrf(&self, zone: &str) -> &[Route] {
        self.vrfs.get(zone).map_or(&[], Vec::as_slice)
    }

    /// `ip route get`: the rules in order, then the longest prefix. The error is the kernel's words.
    ///
    /// # Errors
    /// As `RTNETLINK answers:` prints them.
    pub fn get(&self, dst: Ipv4Addr, from: Option<Ipv4Addr>, iif: Option<&str>) -> Result<Found, &'static str> {
        let mut order: Vec<(Option<String>, &[Route])> = Vec::new();
        if from == Some(self.management_address) {
            order.push((Some("100".to_owned()), &self.management));
        }
        let zone = iif.and_then(|dev| self.bridges.get(dev).map(String::as_str).or(dev.strip_prefix("vrf_")));
        if let Some(zone) = zone {
            order.push((Some(format!("vrf_{zone}")), self.vrf(zone)));
        }
        order.push((None, &self.main));
        for (table, routes) in order {
            let Some(route) = longest(routes, dst) else { continue };
            let closed = iif.is_some_and(|dev| self.closed.iter().any(|closed| closed == dev));
            return match route.kind {
                // Where the packet came in decides before where it would go (facts/exit-node.md §2).
                kind if closed && kind != "local" => Err("No route to host"),
                "blackhole" => Err("Invalid argument"),
                "unreachable" => Err("No route to host"),
                _ => Ok(Found { route: route.clone(), table }),
            };
        }
        Err("Network is unreachable")
    }

    /// Whether an interface may be named as `iif`.
    #[must_use]
    pub fn knows(&self, dev: &str) -> bool {
        self.bridges.contains_key(dev)
            || dev.strip_prefix("vrf_").is_some_and(|zone| self.vrfs.contains_key(zone))
            || dev == self.transit_dev
            || ["lo", "eno1", "vmbr0", "vmbr0.51"].contains(&dev)
    }
}

fn longest(routes: &[Route], dst: Ipv4Addr) -> Option<&Route> {
    routes
        .iter()
        .filter(|route| route.kind != "broadcast" && route.dst.contains(&dst))
        .min_by_key(|route| (std::cmp::Reverse(route.dst.prefix_len()), route.metric.unwrap_or(0)))
}

fn vrf_table(exit: &ExitNode, vrf: &Vrf, all: &[Vrf]) -> Vec<Route> {
    let state = exit.vrf(&vrf.zone);
    let frr = exit.frr == FrrUnit::Active;
    let mut out = Vec::new();
    let default = match state.default {
        _ if !frr || !matches!(state.local, LocalStanza::Merged | LocalStanza::Unkept) => None,
        VrfDefault::Right => Some(exit.transit_gateway),
        VrfDefault::Via(gateway) => Some(gateway),
        VrfDefault::Missing => None,
    };
    if let Some(gateway) = default {
        out.push(Route::via(Ipv4Net::default(), gateway, &exit.transit_dev, "static", Some(20)));
    }
    if !vrf.exit {
        out.push(Route::refuse(Ipv4Net::default(), "unreachable", "boot", FALLBACK_METRIC));
    }
    for vnet in vrf.vnets.iter().filter(|vnet| vnet.present) {
        for subnet in &vnet.subnets {
            let Some(gateway) = subnet.gateway else { continue };
            out.push(Route::link(subnet.prefix, &vnet.name, Some(gateway)));
            let host = |address, kind| Route { kind, ..Route::link(Ipv4Net::from(address), &vnet.name, Some(gateway)) };
            out.push(host(gateway, "local"));
            out.push(host(subnet.prefix.broadcast(), "broadcast"));
        }
    }
    for other in all.iter().filter(|other| other.zone != vrf.zone) {
        let theirs = exit.vrf(&other.zone).isolation;
        let leak = if state.isolation == Isolation::Right { theirs } else { state.isolation };
        separate(&mut out, other, leak, frr && vrf.exit);
    }
    out
}

fn separate(out: &mut Vec<Route>, other: &Vrf, leak: Isolation, nulls: bool) {
    for vnet in &other.vnets {
        for subnet in &vnet.subnets {
            match leak {
                Isolation::Right if nulls => out.push(Route::refuse(subnet.prefix, "blackhole", "static", 20)),
                Isolation::Direct => {
                    out.push(Route { protocol: "boot", ..Route::link(subnet.prefix, &vnet.name, None) });
                }
                Isolation::Right | Isolation::Hairpin => {}
            }
        }
    }
}

fn main_table(exit: &ExitNode, management: Ipv4Addr, all: &[Vrf]) -> Vec<Route> {
    let (gateway, dev) = if exit.main_via_management {
        (exit.management_gateway, "vmbr0")
    } else {
        (exit.transit_gateway, exit.transit_dev.as_str())
    };
    let underlay = Ipv4Addr::new(10, 20, 51, 22);
    let mut out = vec![Route::via(Ipv4Net::default(), gateway, dev, "kernel", None)];
    for (address, dev) in
        [(exit.transit_address, exit.transit_dev.as_str()), (underlay, "vmbr0.51"), (management, "vmbr0")]
    {
        out.push(Route::link(net24(address), dev, Some(address)));
    }
    if exit.frr != FrrUnit::Active {
        return out;
    }
    for vrf in all.iter().filter(|vrf| vrf.exit && exit.vrf(&vrf.zone).return_route) {
        for subnet in vrf.vnets.iter().filter(|vnet| vnet.present).flat_map(|vnet| &vnet.subnets) {
            let imported = Route::link(subnet.prefix, &format!("vrf_{}", vrf.zone), None);
            out.push(Route { protocol: "bgp", metric: Some(20), ..imported });
        }
    }
    out
}

fn management_table(exit: &ExitNode, management: Ipv4Addr) -> Vec<Route> {
    vec![
        Route::via(Ipv4Net::default(), exit.management_gateway, "vmbr0", "boot", None),
        Route { protocol: "boot", ..Route::link(net24(management), "vmbr0", None) },
    ]
}

fn net24(address: Ipv4Addr) -> Ipv4Net {
    Ipv4Net::new(address, 24).map(|net| net.trunc()).unwrap_or_default()
}
