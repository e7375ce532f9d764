//! Files of the exit node that are read rather than asked for: `/proc` and `/etc`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::{links, tools, vrfs};
use crate::lab::pve::{frr_conf, interfaces_sdn};
use crate::lab::state::{FrrUnit, LocalStanza, World};

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A file with this text.
    Text(String),
    /// A symbolic link to this relative path. A node has thousands of interfaces in a handful of settings: each is a
    /// link to a directory that holds its settings.
    Link(String),
}

/// Path below the root → entry.
pub type Files = BTreeMap<String, Entry>;

/// From a directory of `proc/sys/net/ipv4/conf` up to the root.
const CONF_TO_ROOT: &str = "../../../../..";

/// All files of the node at `now` (seconds since the epoch).
#[must_use]
pub fn files(world: &World, now: i64) -> Files {
    let mut out = Files::new();
    let mut put = |path: &str, text: String| {
        out.insert(path.to_owned(), Entry::Text(text));
    };
    put("proc/sys/net/ipv4/ip_forward", "0\n".to_owned());
    put("proc/sys/kernel/hostname", format!("{}\n", world.exit.node));
    put("proc/sys/kernel/osrelease", format!("{}\n", tools::KERNEL));
    put("etc/hostname", format!("{}\n", world.exit.node));
    let count = tools::conntrack_count(world, now);
    put("proc/sys/net/netfilter/nf_conntrack_count", format!("{count}\n"));
    put("proc/sys/net/netfilter/nf_conntrack_max", format!("{}\n", tools::CONNTRACK_MAX));
    put("proc/sys/net/netfilter/nf_conntrack_acct", "0\n".to_owned());
    put("proc/net/stat/nf_conntrack", conntrack_stat(count, tools::conntrack_drops(world, now)));
    let groups = counters(world, now);
    put("proc/net/snmp", table(&groups, &["Ip", "Icmp"]));
    put("proc/net/netstat", table(&groups, &["TcpExt", "IpExt"]));
    put("etc/iproute2/rt_tables", "255\tlocal\n254\tmain\n253\tdefault\n0\tunspec\n".to_owned());
    let map = vrfs(world).iter().fold(String::new(), |mut map, vrf| {
        let _ = writeln!(map, "{} vrf_{}", vrf.table, vrf.zone);
        map
    });
    put("etc/iproute2/rt_tables.d/ifupdown2_vrf_map.conf", map);
    put("etc/frr/frr.conf.local", frr_local(world));
    if let Some(node) = world.node(&world.exit.node) {
        let loaded = world.loaded(&node.name);
        if let Some(by_hand) = &world.exit.frr_saved {
            put("etc/frr/frr.conf.sav", format!("{}{by_hand}", frr_conf(world, loaded, node)));
        }
        put("etc/frr/frr.conf", frr_conf(world, loaded, node));
        let version = node.sdn_version.unwrap_or(world.sdn.version);
        put("etc/network/interfaces.d/sdn", interfaces_sdn(world, loaded, loaded, node, version));
    }
    out.extend(interface_settings(world));
    out
}

/// `forwarding` and `rp_filter` of every interface.
fn interface_settings(world: &World) -> Files {
    let open = forwarding(world);
    let mut out = Files::new();
    for name in links::names(world).iter().map(String::as_str).chain(["all", "default"]) {
        let forwards = u8::from(open.contains(name));
        let strict = match name {
            _ if name == world.exit.transit_dev => world.exit.rp_filter,
            _ if name.starts_with("xvrf_") => 1,
            _ => 0,
        };
        let settings = format!(".settings/{forwards}{strict}");
        out.insert(format!("{settings}/forwarding"), Entry::Text(format!("{forwards}\n")));
        out.insert(format!("{settings}/rp_filter"), Entry::Text(format!("{strict}\n")));
        out.insert(format!("proc/sys/net/ipv4/conf/{name}"), Entry::Link(format!("{CONF_TO_ROOT}/{settings}")));
    }
    out
}

/// Interfaces that forward. The bridges of VRFs do, the devices below them need not (facts/exit-node.md §1).
fn forwarding(world: &World) -> BTreeSet<String> {
    let mut out = BTreeSet::from(["vmbr0".to_owned()]);
    if world.exit.transit_forwarding {
        out.insert(world.exit.transit_dev.clone());
    }
    for vrf in vrfs(world) {
        out.insert(format!("vrfbr_{}", vrf.zone));
        let open = world.exit.vrf(&vrf.zone).forwarding;
        let routed = |vnet: &&super::Vnet| vnet.subnets.iter().any(|subnet| subnet.gateway.is_some());
        out.extend(vrf.vnets.iter().filter(|_| open).filter(routed).map(|vnet| vnet.name.clone()));
    }
    out
}

/// `frr.conf.local` as the site's code keeps it: one stanza per tenant, sorted (domain.md §6).
fn frr_local(world: &World) -> String {
    let exit = &world.exit;
    let contested = exit.vrfs.values().any(|vrf| vrf.local == LocalStanza::Contested);
    let mut out = if contested {
        "! written by deevnet-egress-agent, changes are overwritten\n".to_owned()
    } else {
        String::new()
    };
    for zone in exit.kept(vrfs(world).into_iter().map(|vrf| vrf.zone)) {
        let _ =
            write!(out, "vrf vrf_{zone}\n ip route 0.0.0.0/0 {} nexthop-vrf default\nexit-vrf\n", exit.transit_gateway);
    }
    out
}

fn conntrack_stat(count: u64, drops: u64) -> String {
    format!(
        "entries  clashres found new invalid ignore delete chainlength insert insert_failed drop early_drop icmp_error  \
         expect_new expect_create expect_delete search_restart\n{count:08x}  00000000 00000000 00000000 00000004 \
         00000000 00000000 00000000 00000000 00000000 {drops:08x} 00000000 00000000  00000000 00000000 00000000 \
         00000000\n"
    )
}

/// Kernel counters by group, in the order of `/proc/net/snmp` and `/proc/net/netstat`.
pub(super) fn counters(world: &World, now: i64) -> Vec<(&'static str, Vec<(&'static str, u64)>)> {
    let exit = &world.exit;
    let grown = |name: &str, rate| world.counter(name, rate, now);
    let when = |on: bool, name: &str, rate| if on { world.disturbed(name, rate, now) } else { 0 };
    let closed = !exit.transit_forwarding || exit.vrfs.values().any(|vrf| !vrf.forwarding);
    let bounced = exit.frr != FrrUnit::Active || exit.vrfs.values().any(|vrf| !vrf.return_route);
    vec![
        (
            "Ip",
            vec![
                ("Forwarding", 2),
                ("InReceives", grown("IpInReceives", 9_500_000)),
                ("InHdrErrors", 0),
                ("InAddrErrors", 217 + when(closed, "IpInAddrErrors", 20_000)),
                ("ForwDatagrams", grown("IpForwDatagrams", 9_000_000)),
                ("InDiscards", 0),
                ("InDelivers", grown("IpInDelivers", 80_000)),
                ("OutRequests", grown("IpOutRequests", 90_000)),
                ("OutNoRoutes", 0),
            ],
        ),
        (
            "Icmp",
            vec![
                ("InMsgs", grown("IcmpInMsgs", 400)),
                ("OutMsgs", grown("IcmpOutMsgs", 400)),
                ("OutRedirects", when(bounced, "IcmpOutRedirects", 4000)),
            ],
        ),
        (
            "TcpExt",
            vec![
                ("SyncookiesSent", 0),
                ("IPReversePathFilter", when(exit.rp_drops, "TcpExtIPReversePathFilter", 9000)),
            ],
        ),
        ("IpExt", vec![("InNoRoutes", 0), ("InOctets", grown("IpExtInOctets", 4_000_000_000))]),
    ]
}

fn table(groups: &[(&'static str, Vec<(&'static str, u64)>)], wanted: &[&str]) -> String {
    let mut out = String::new();
    for (group, values) in groups.iter().filter(|(group, _)| wanted.contains(group)) {
        let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
        let numbers: Vec<String> = values.iter().map(|(_, value)| value.to_string()).collect();
        let _ = write!(out, "{group}: {}\n{group}: {}\n", names.join(" "), numbers.join(" "));
    }
    out
}
