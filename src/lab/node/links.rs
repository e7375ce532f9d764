//! Links, addresses, neighbours and rules of the exit node as iproute2 prints them in JSON.

use std::net::Ipv4Addr;

use serde_json::{Value, json};

use super::{Vrf, vrfs};
use crate::lab::state::{VrfDefault, World};
use crate::lab::{insert, object};

/// MTU of a segment for large frames.
const JUMBO: u32 = 8950;

/// A link before it is printed.
struct Link {
    name: String,
    mtu: u32,
    mac: String,
    master: Option<String>,
    info: Value,
    addresses: Vec<(Ipv4Addr, u8)>,
    /// Bytes an hour, for its counters.
    rate: u64,
    operstate: &'static str,
    parent: Option<&'static str>,
    carrier: bool,
}

impl Link {
    fn new(world: &World, name: &str, mtu: u32, kind: &str, data: Value) -> Self {
        let bits = world.number(&format!("link {name}")).to_be_bytes();
        let [_, a, b, c, d, e, ..] = bits;
        Self {
            name: name.to_owned(),
            mtu,
            mac: format!("02:{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}"),
            master: None,
            info: if kind.is_empty() { Value::Null } else { json!({"info_kind": kind, "info_data": data}) },
            addresses: Vec::new(),
            rate: 40_000_000,
            operstate: "UP",
            parent: None,
            carrier: true,
        }
    }

    fn under(mut self, master: &str) -> Self {
        self.master = Some(master.to_owned());
        self
    }

    fn with(mut self, address: Ipv4Addr, prefix: u8) -> Self {
        self.addresses.push((address, prefix));
        self
    }
}

fn all(world: &World) -> Vec<Link> {
    let exit = &world.exit;
    let management = world.node(&exit.node).map_or(Ipv4Addr::UNSPECIFIED, |node| node.ip);
    let link = |name: &str, mtu, kind: &str, data| Link::new(world, name, mtu, kind, data);
    let vlan = |name: &str, id: u32, address| Link {
        parent: Some("vmbr0"),
        ..link(name, 1500, "vlan", json!({"protocol": "802.1Q", "id": id, "flags": ["REORDER_HDR"]})).with(address, 24)
    };
    let mut lo = link("lo", 65_536, "", Value::Null).with(Ipv4Addr::LOCALHOST, 8);
    lo.operstate = "UNKNOWN";
    let mut dummy = link("dummy_tfab", 1500, "dummy", Value::Null).with(exit.vtep, 32);
    dummy.operstate = "UNKNOWN";
    let mut transit = vlan(&exit.transit_dev, 50, exit.transit_address);
    if exit.uplink_down {
        (transit.operstate, transit.carrier) = ("DOWN", false);
    }
    if exit.vrfs.values().any(|vrf| vrf.jumbo) {
        transit.mtu = 9000;
    }
    let mut out = vec![
        lo,
        link("eno1", 1500, "", Value::Null).under("vmbr0"),
        link("vmbr0", 1500, "bridge", json!({"vlan_filtering": 1, "stp_state": 0})).with(management, 24),
        transit,
        vlan("vmbr0.51", 51, Ipv4Addr::new(10, 20, 51, 22)),
        dummy,
    ];
    for vrf in vrfs(world) {
        vrf_links(world, &vrf, &mut out);
    }
    for (vmid, guest) in world.guests.iter().filter(|(_, g)| g.started.is_some() && g.node == exit.node) {
        let Some(bridge) = guest.property("net0", "bridge") else { continue };
        let mut tap = link(&format!("tap{vmid}i0"), 1500, "tun", json!({"type": "tap", "persist": false}));
        let gone = exit.missing_vnets.contains(&bridge);
        if guest.property("net0", "firewall").as_deref() == Some("1") {
            // A bridge and a pair of interfaces between the card and its VNet.
            let (fwbr, fwpr) = (format!("fwbr{vmid}i0"), format!("fwpr{vmid}p0"));
            tap.mtu = if guest.property("net0", "mtu").is_some() { JUMBO } else { 1500 };
            out.push(link(&fwbr, 1500, "bridge", json!({"stp_state": 0, "forward_delay": 0})));
            out.push(link(&format!("fwln{vmid}i0"), 1500, "veth", Value::Null).under(&fwbr));
            out.push(link(&fwpr, 1500, "veth", Value::Null).under(&bridge));
            out.push(tap.under(&fwbr));
            continue;
        }
        out.push(if gone { tap } else { tap.under(&bridge) });
    }
    out
}

fn vrf_links(world: &World, vrf: &Vrf, out: &mut Vec<Link>) {
    let zone = &vrf.zone;
    let device = format!("vrf_{zone}");
    let bridge = format!("vrfbr_{zone}");
    let state = world.exit.vrf(zone);
    let mtu = if state.jumbo { JUMBO } else { 1450 };
    let vxlan = |name: &str, id: u32| {
        let data = json!({"id": id, "local": world.exit.vtep.to_string(), "port": 4789, "learning": false, "ttl": 0});
        Link::new(world, name, mtu, "vxlan", data)
    };
    let plain = |name: &str| Link::new(world, name, mtu, "bridge", json!({"stp_state": 0, "forward_delay": 0}));
    if state.local_routing {
        let end = |name: String, last: u8| {
            Link::new(world, &name, mtu + 50, "veth", Value::Null).with(Ipv4Addr::new(10, 255, 255, last), 30)
        };
        out.push(end(format!("xvrf_{zone}"), 1));
        out.push(end(format!("xvrfp_{zone}"), 2).under(&device));
    }
    out.push(Link::new(world, &device, 65_575, "vrf", json!({"table": vrf.table})));
    out.push(plain(&bridge).under(&device));
    out.push(vxlan(&format!("vrfvx_{zone}"), vrf.vni).under(&bridge));
    for vnet in vrf.vnets.iter().filter(|vnet| vnet.present) {
        let mut link = plain(&vnet.name).under(&device);
        for subnet in &vnet.subnets {
            if let Some(gateway) = subnet.gateway {
                link = link.with(gateway, subnet.prefix.prefix_len());
            }
        }
        out.push(link);
        out.push(vxlan(&format!("vxlan_{}", vnet.name), vnet.tag).under(&vnet.name));
    }
}

/// Names of all interfaces.
pub(super) fn names(world: &World) -> Vec<String> {
    all(world).into_iter().map(|link| link.name).collect()
}

/// How much `ip` was asked to show.
#[derive(Clone, Copy)]
pub(super) struct Detail {
    /// `addr` rather than `link`.
    pub(super) addresses: bool,
    /// `-d`.
    pub(super) info: bool,
    /// `-s`.
    pub(super) stats: bool,
}

/// Rows of `ip -j link` or `ip -j addr`; `keep` decides by name and kind.
pub(super) fn rows(world: &World, now: i64, detail: Detail, keep: impl Fn(&str, &str) -> bool) -> Vec<Value> {
    let kind = |link: &Link| link.info.get("info_kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    all(world)
        .iter()
        .zip(1_u32..)
        .filter(|(link, _)| keep(&link.name, &kind(link)))
        .map(|(link, index)| row(world, now, detail, link, index))
        .collect()
}

fn row(world: &World, now: i64, detail: Detail, link: &Link, index: u32) -> Value {
    let flags: &[&str] = match link.name.as_str() {
        "lo" => &["LOOPBACK", "UP", "LOWER_UP"],
        name if name.starts_with("vrf_") => &["NOARP", "MASTER", "UP", "LOWER_UP"],
        name if name.starts_with("dummy") => &["BROADCAST", "NOARP", "UP", "LOWER_UP"],
        _ if !link.carrier => &["NO-CARRIER", "BROADCAST", "MULTICAST", "UP"],
        _ => &["BROADCAST", "MULTICAST", "UP", "LOWER_UP"],
    };
    let mut row = object(json!({"ifindex": index}));
    if let Some(parent) = link.parent {
        insert(&mut row, "link", json!(parent));
    }
    insert(&mut row, "ifname", json!(link.name));
    insert(&mut row, "flags", json!(flags));
    insert(&mut row, "mtu", json!(link.mtu));
    insert(&mut row, "qdisc", json!("noqueue"));
    if let Some(master) = &link.master {
        insert(&mut row, "master", json!(master));
    }
    insert(&mut row, "operstate", json!(link.operstate));
    if !detail.addresses {
        insert(&mut row, "linkmode", json!("DEFAULT"));
    }
    let loopback = link.name == "lo";
    insert(&mut row, "group", json!("default"));
    insert(&mut row, "txqlen", json!(1000));
    insert(&mut row, "link_type", json!(if loopback { "loopback" } else { "ether" }));
    insert(&mut row, "address", json!(if loopback { "00:00:00:00:00:00" } else { link.mac.as_str() }));
    insert(&mut row, "broadcast", json!(if loopback { "00:00:00:00:00:00" } else { "ff:ff:ff:ff:ff:ff" }));
    if detail.info {
        insert(&mut row, "promiscuity", json!(0));
        let mut info = object(link.info.clone());
        if let Some(master) = &link.master {
            insert(&mut info, "info_slave_kind", json!(if master.starts_with("vrf_") { "vrf" } else { "bridge" }));
        }
        if !info.is_empty() {
            insert(&mut row, "linkinfo", Value::Object(info));
        }
    }
    if detail.addresses {
        let addresses: Vec<Value> = link.addresses.iter().map(|address| address_row(link, *address)).collect();
        insert(&mut row, "addr_info", json!(addresses));
    }
    if detail.stats {
        insert(&mut row, "stats64", stats(world, now, link));
    }
    Value::Object(row)
}

fn address_row(link: &Link, (address, prefix): (Ipv4Addr, u8)) -> Value {
    json!({"family": "inet", "local": address.to_string(), "prefixlen": prefix,
        "scope": if link.name == "lo" { "host" } else { "global" }, "label": link.name,
        "valid_life_time": u32::MAX, "preferred_life_time": u32::MAX})
}

fn stats(world: &World, now: i64, link: &Link) -> Value {
    let (rx, tx) = if link.name == "lo" {
        (0, 0)
    } else {
        let name = &link.name;
        (world.counter(&format!("rx {name}"), link.rate, now), world.counter(&format!("tx {name}"), link.rate / 4, now))
    };
    json!({"rx": {"bytes": rx, "packets": rx / 800, "errors": 0, "dropped": 0, "over_errors": 0, "multicast": 0},
        "tx": {"bytes": tx, "packets": tx / 400, "errors": 0, "dropped": 0, "carrier_errors": 0, "collisions": 0}})
}

/// Rows of `ip -j rule`.
pub(super) fn rules(world: &World) -> Vec<Value> {
    let management = world.node(&world.exit.node).map_or(Ipv4Addr::UNSPECIFIED, |node| node.ip);
    vec![
        json!({"priority": 100, "src": management.to_string(), "table": "100"}),
        json!({"priority": 1000, "src": "all", "l3mdev": null}),
        json!({"priority": 32765, "src": "all", "table": "local"}),
        json!({"priority": 32766, "src": "all", "table": "main"}),
        json!({"priority": 32767, "src": "all", "table": "default"}),
    ]
}

/// Rows of `ip -j neigh`.
pub(super) fn neighbours(world: &World) -> Vec<Value> {
    let exit = &world.exit;
    let gateway = exit.transit_gateway.to_string();
    let mut out = vec![
        if exit.gateway_answers && !exit.uplink_down {
            json!({"dst": gateway, "dev": exit.transit_dev, "lladdr": "02:48:32:56:31:6d", "state": ["REACHABLE"]})
        } else {
            json!({"dst": gateway, "dev": exit.transit_dev, "state": ["FAILED"]})
        },
        json!({"dst": exit.management_gateway.to_string(), "dev": "vmbr0", "lladdr": "02:48:32:56:31:6d",
            "state": ["STALE"]}),
    ];
    for state in exit.vrfs.values() {
        if let VrfDefault::Via(gateway) = state.default {
            out.push(json!({"dst": gateway.to_string(), "dev": exit.transit_dev, "state": ["FAILED"]}));
        }
    }
    for (vmid, guest) in world.guests.iter().filter(|(_, guest)| guest.node == exit.node) {
        let (Some((address, _)), Some(bridge)) = (guest.address, guest.property("net0", "bridge")) else { continue };
        if exit.missing_vnets.contains(&bridge) {
            continue;
        }
        out.push(if guest.wired() {
            let state = if world.number(&format!("neigh {vmid}")).is_multiple_of(3) { "REACHABLE" } else { "STALE" };
            json!({"dst": address.to_string(), "dev": bridge, "lladdr": guest.mac(), "state": [state]})
        } else {
            json!({"dst": address.to_string(), "dev": bridge, "state": ["FAILED"]})
        });
    }
    out
}
