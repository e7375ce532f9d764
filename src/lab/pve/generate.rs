//! What Proxmox writes on a node: `interfaces.d/sdn` and `frr.conf`, and the dry run's diffs of both (§7, §8).

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::lab::diff::hunks;
use crate::lab::moment;
use crate::lab::sdn::{Kind, Tree, scalar, subnet_parts};
use crate::lab::state::{LocalStanza, Node, World};

/// Whether a comma list option of a zone names a node; `otherwise` where the option is absent.
fn names(tree: &Tree, zone: &str, option: &str, node: &str, otherwise: bool) -> bool {
    tree.text(Kind::Zone, zone, option).map_or(otherwise, |list| list.split(',').any(|entry| entry == node))
}

fn zones_on<'a>(tree: &'a Tree, node: &'a str) -> impl Iterator<Item = &'a String> {
    tree.of(Kind::Zone)
        .filter(|(_, options)| options.get("type").is_some_and(|kind| kind == "evpn"))
        .map(|(zone, _)| zone)
        .filter(move |zone| names(tree, zone, "nodes", node, true))
}

/// Tunnel address of a node: its fabric address where the controller uses a fabric, else its own.
fn tunnel_ip(world: &World, tree: &Tree, node: &Node) -> String {
    let fabric = tree.of(Kind::Controller).find_map(|(_, c)| c.get("fabric").map(scalar));
    fabric
        .and_then(|fabric| tree.text(Kind::FabricNode, &format!("{fabric}_{}", node.name), "ip"))
        .unwrap_or_else(|| world.node(&node.name).map_or_else(String::new, |n| n.ip.to_string()))
}

/// `/etc/network/interfaces.d/sdn`. Subnets come from `subnets`, which the dry run takes from the applied set (§7).
#[must_use]
pub fn interfaces_sdn(world: &World, tree: &Tree, subnets: &Tree, node: &Node, version: u64) -> String {
    let mut out = format!("#version:{version}\n");
    let local = tunnel_ip(world, tree, node);
    for zone in zones_on(tree, &node.name) {
        let exit = names(tree, zone, "exitnodes", &node.name, false);
        let mtu = tree.text(Kind::Zone, zone, "mtu").unwrap_or_else(|| "1450".to_owned());
        for vnet in tree.vnets_of(zone) {
            vnet_stanza(&mut out, world, (tree, subnets), (zone, vnet), exit, &mtu);
        }
        let word = if exit { "del" } else { "add" };
        let _ = write!(
            out,
            "\nauto vrf_{zone}\niface vrf_{zone}\n\tvrf-table auto\n\tpost-up ip route {word} vrf vrf_{zone} \
             unreachable default metric 4278198272\n\nauto vrfbr_{zone}\niface vrfbr_{zone}\n\tbridge-ports \
             vrfvx_{zone}\n\tbridge_stp off\n\tbridge_fd 0\n\tmtu {mtu}\n\tvrf vrf_{zone}\n"
        );
        let vni = tree.text(Kind::Zone, zone, "vrf-vxlan").unwrap_or_default();
        vxlan_stanza(&mut out, &format!("vrfvx_{zone}"), &vni, &local, &mtu);
        for vnet in tree.vnets_of(zone) {
            let tag = tree.text(Kind::Vnet, vnet, "tag").unwrap_or_default();
            vxlan_stanza(&mut out, &format!("vxlan_{vnet}"), &tag, &local, &mtu);
        }
    }
    out
}

fn vxlan_stanza(out: &mut String, name: &str, vni: &str, local: &str, mtu: &str) {
    let _ = write!(
        out,
        "\nauto {name}\niface {name}\n\tvxlan-id {vni}\n\tvxlan-local-tunnelip {local}\n\tbridge-learning off\n\
         \tbridge-arp-nd-suppress on\n\tmtu {mtu}\n"
    );
}

fn vnet_stanza(
    out: &mut String,
    world: &World,
    (tree, subnets): (&Tree, &Tree),
    (zone, vnet): (&str, &str),
    exit: bool,
    mtu: &str,
) {
    let _ = write!(out, "\nauto {vnet}\niface {vnet}\n");
    let mut forward = false;
    for (id, options) in subnets.subnets_of(vnet) {
        let Some((_, network, mask)) = subnet_parts(id) else { continue };
        if let Some(gateway) = options.get("gateway") {
            let _ = writeln!(out, "\taddress {}/{mask}", scalar(gateway));
            forward = true;
        }
        if exit && options.get("snat").is_some_and(|snat| scalar(snat) == "1") {
            let rule = format!(
                "POSTROUTING -s '{network}/{mask}' -o {} -j SNAT --to-source {}",
                world.exit.transit_dev, world.exit.transit_address
            );
            let _ = write!(
                out,
                "\tpost-up iptables -t nat -A {rule}\n\tpost-down iptables -t nat -D {rule}\n\tpost-up iptables -t \
                 raw -I PREROUTING -i fwbr+ -j CT --zone 1\n\tpost-down iptables -t raw -D PREROUTING -i fwbr+ -j CT \
                 --zone 1\n"
            );
        }
    }
    if let Some(mac) = tree.text(Kind::Zone, zone, "mac") {
        let _ = writeln!(out, "\thwaddress {mac}");
    }
    let _ = write!(out, "\tbridge_ports vxlan_{vnet}\n\tbridge_stp off\n\tbridge_fd 0\n\tmtu {mtu}\n");
    if let Some(alias) = tree.text(Kind::Vnet, vnet, "alias") {
        let _ = writeln!(out, "\talias {alias}");
    }
    if forward {
        out.push_str("\tip-forward on\n\tarp-accept on\n");
    }
    let _ = writeln!(out, "\tvrf vrf_{zone}");
}

/// `/etc/frr/frr.conf` of a node. The exit node's tenants get the default route their `frr.conf.local` stanza holds.
#[must_use]
pub fn frr_conf(world: &World, tree: &Tree, node: &Node) -> String {
    let mut out = format!(
        "frr version 10.4.1\nfrr defaults datacenter\nhostname {}\nlog syslog informational\n\
         service integrated-vtysh-config\n!\n",
        node.name
    );
    let asn = tree.of(Kind::Controller).find_map(|(_, c)| c.get("asn").map(scalar)).filter(|asn| asn != "0");
    let zones: Vec<&String> = zones_on(tree, &node.name).collect();
    if let Some(asn) = asn {
        for zone in &zones {
            vrf_block(&mut out, world, tree, node, zone);
        }
        bgp_blocks(&mut out, tree, node, &zones, &asn);
    }
    out.push_str("line vty\n!\n");
    out
}

fn vrf_block(out: &mut String, world: &World, tree: &Tree, node: &Node, zone: &str) {
    let vni = tree.text(Kind::Zone, zone, "vrf-vxlan").unwrap_or_default();
    let _ = write!(out, "vrf vrf_{zone}\n vni {vni}\n");
    if names(tree, zone, "exitnodes", &node.name, false) {
        for (id, _) in tree.of(Kind::Subnet) {
            if let Some((_, network, mask)) = subnet_parts(id).filter(|(owner, ..)| *owner != zone) {
                let _ = writeln!(out, " ip route {network}/{mask} null0");
            }
        }
    }
    if node.name == world.exit.node && matches!(world.exit.vrf(zone).local, LocalStanza::Merged | LocalStanza::Unkept) {
        let _ = writeln!(out, " ip route 0.0.0.0/0 {} nexthop-vrf default", world.exit.transit_gateway);
    }
    out.push_str("exit-vrf\n!\n");
}

fn bgp_blocks(out: &mut String, tree: &Tree, node: &Node, zones: &[&String], asn: &str) {
    let id = node.ip;
    let _ = write!(
        out,
        "router bgp {asn}\n bgp router-id {id}\n no bgp hard-administrative-reset\n no bgp default ipv4-unicast\n \
         coalesce-time 1000\n no bgp graceful-restart notification\n neighbor VTEP peer-group\n neighbor VTEP \
         remote-as {asn}\n neighbor VTEP bfd\n"
    );
    let peers = tree.of(Kind::Controller).find_map(|(_, c)| c.get("peers").map(scalar)).unwrap_or_default();
    for peer in peers.split(',').filter(|peer| !peer.is_empty() && *peer != id.to_string()) {
        let _ = writeln!(out, " neighbor {peer} peer-group VTEP");
    }
    out.push_str(" !\n");
    for family in ["ipv4", "ipv6"] {
        let _ = writeln!(out, " address-family {family} unicast");
        for zone in zones.iter().filter(|zone| names(tree, zone, "exitnodes", &node.name, false)) {
            let _ = writeln!(out, "  import vrf vrf_{zone}");
        }
        out.push_str(" exit-address-family\n !\n");
    }
    out.push_str(
        " address-family l2vpn evpn\n  neighbor VTEP activate\n  neighbor VTEP route-map MAP_VTEP_IN in\n  neighbor \
         VTEP route-map MAP_VTEP_OUT out\n  advertise-all-vni\n exit-address-family\nexit\n!\n",
    );
    for zone in zones {
        let _ = write!(
            out,
            "router bgp {asn} vrf vrf_{zone}\n bgp router-id {id}\n no bgp hard-administrative-reset\n no bgp \
             graceful-restart notification\n !\n address-family ipv4 unicast\n  redistribute connected\n \
             exit-address-family\n !\n address-family ipv6 unicast\n  redistribute connected\n exit-address-family\n \
             !\n address-family l2vpn evpn\n  default-originate ipv4\n  default-originate ipv6\n \
             exit-address-family\nexit\n!\n"
        );
    }
    out.push_str(
        "ip prefix-list only_default seq 1 permit 0.0.0.0/0\n!\nipv6 prefix-list only_default_v6 seq 1 permit \
         ::/0\n!\nroute-map MAP_VTEP_IN deny 1\n match ip address prefix-list only_default\nexit\n!\nroute-map \
         MAP_VTEP_IN deny 2\n match ipv6 address prefix-list only_default_v6\nexit\n!\nroute-map MAP_VTEP_IN permit \
         3\nexit\n!\nroute-map MAP_VTEP_OUT permit 1\nexit\n!\n",
    );
}

/// `data` of `GET /cluster/sdn/dry-run`. The version header is not bumped, and subnets come from the applied set.
pub(super) fn dry_run(world: &World, node: &Node, now: i64) -> Value {
    let sdn = &world.sdn;
    let version = sdn.version.max(1);
    let applied = sdn.version > 0;
    let old = applied.then(|| (frr_conf(world, &sdn.running, node), interfaces(world, &sdn.running, node, version)));
    let (old_frr, old_net) = old.unwrap_or_default();
    // What frr.conf.local does not hold is not generated again.
    let mut after = world.clone();
    for vrf in after.exit.vrfs.values_mut().filter(|vrf| vrf.local == LocalStanza::Unkept) {
        vrf.local = LocalStanza::Contested;
    }
    let new_frr = frr_conf(&after, &sdn.configured, node);
    let new_net = interfaces(world, &sdn.configured, node, version);
    json!({"frr-diff": diff("/etc/frr/frr.conf", "/proc/2035/fd/9", &old_frr, &new_frr, now),
        "interfaces-diff": diff("/etc/network/interfaces.d/sdn", "/proc/2035/fd/11", &old_net, &new_net, now)})
}

fn interfaces(world: &World, tree: &Tree, node: &Node, version: u64) -> String {
    interfaces_sdn(world, tree, &world.sdn.running, node, version)
}

/// A unified diff of a file of the node with its new text; `None` when equal.
fn diff(old_name: &str, new_name: &str, old: &str, new: &str, now: i64) -> Option<String> {
    let hunks = hunks(old, new)?;
    let stamp = |at: i64| format!("{}.000000000 +0000", moment(at).strftime("%F %T"));
    let read = if old.is_empty() { 0 } else { now };
    Some(format!("--- {old_name}\t{}\n+++ {new_name}\t{}\n{hunks}", stamp(read), stamp(now)))
}
