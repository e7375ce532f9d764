//! The table of faults. Titles and effects follow facts/exit-node.md §2 and facts/proxmox.md.

use std::net::Ipv4Addr;

use serde_json::json;

use super::super::object;
use super::super::sdn::Kind;
use super::super::state::{FrrUnit, Guest, Isolation, LocalStanza, Reach, Role, SnatState, VrfDefault, World};
use super::{Scope, Spec};

macro_rules! fault {
    ($id:literal, $scope:ident, $title:literal, $changes:literal, $apply:expr) => {
        Spec { id: $id, scope: Scope::$scope, title: $title, changes: $changes, apply: $apply }
    };
}

/// Every fault, in the order in which several are applied.
pub const SPECS: &[Spec] = &[
    fault!(
        "transit-forwarding-off",
        Node,
        "the transit interface does not forward",
        "forwarding of vmbr0.50 is 0",
        |w, _| w.exit.transit_forwarding = false
    ),
    fault!(
        "vrf-default-missing",
        Tenant,
        "the VRF has no default route",
        "the default of the VRF's table is gone",
        |w, t| w.exit.vrf_mut(t).default = VrfDefault::Missing
    ),
    fault!(
        "vrf-default-wrong-gateway",
        Tenant,
        "the VRF's default points at nobody",
        "the default goes via 10.20.50.99, whose neighbour entry is FAILED",
        |w, t| w.exit.vrf_mut(t).default = VrfDefault::Via(Ipv4Addr::new(10, 20, 50, 99))
    ),
    fault!("snat-missing", Tenant, "the SNAT rule is gone", "no SNAT rule for the tenant's subnet", |w, t| w
        .exit
        .vrf_mut(t)
        .snat =
        SnatState::Missing),
    fault!(
        "snat-wrong-source",
        Tenant,
        "the SNAT rule translates to a foreign address",
        "--to-source 10.20.50.23",
        |w, t| w.exit.vrf_mut(t).snat = SnatState::Source(Ipv4Addr::new(10, 20, 50, 23))
    ),
    fault!(
        "snat-duplicate",
        Tenant,
        "the SNAT rule is there twice",
        "the rule twice, the second never counts",
        |w, t| w.exit.vrf_mut(t).snat = SnatState::Duplicate
    ),
    fault!(
        "snat-without-exit-node",
        Tenant,
        "SNAT is asked for, but the zone has no exit node",
        "exitnodes removed and applied: no SNAT, no return route, unreachable default",
        without_exit_node
    ),
    fault!("frr-down", Node, "FRR is stopped", "unit inactive, its routes withdrawn", |w, _| w.exit.frr =
        FrrUnit::Inactive),
    fault!(
        "frr-local-not-merged",
        Tenant,
        "frr.conf.local was not merged",
        "stanza in frr.conf.local, not in frr.conf; no default in the VRF",
        |w, t| w.exit.vrf_mut(t).local = LocalStanza::NotMerged
    ),
    fault!(
        "frr-local-contested",
        Tenant,
        "another agent owns frr.conf.local",
        "the file carries another writer's mark and lacks the tenant; no default in the VRF",
        |w, t| w.exit.vrf_mut(t).local = LocalStanza::Contested
    ),
    fault!(
        "rp-filter-drops",
        Node,
        "reverse path filter drops replies",
        "rp_filter of vmbr0.50 is 1 and TcpExtIPReversePathFilter climbs",
        |w, _| w.exit.rp_filter = 1
    ),
    fault!(
        "tenant-forwarding-off",
        Tenant,
        "the tenant's bridge does not forward",
        "forwarding of the VNet is 0",
        |w, t| w.exit.vrf_mut(t).forwarding = false
    ),
    fault!(
        "forward-policy-drop",
        Node,
        "the firewall drops forwarded packets",
        "policy of filter/FORWARD is DROP",
        |w, _| w.exit.forward_drop = true
    ),
    fault!("conntrack-full", Node, "the connection table is full", "count = max, drops climb", |w, _| w
        .exit
        .conntrack_full =
        true),
    fault!(
        "gateway-unreachable",
        Node,
        "the perimeter does not answer on transit",
        "neighbour 10.20.50.1 is FAILED",
        |w, _| w.exit.gateway_answers = false
    ),
    fault!(
        "transit-mtu",
        Node,
        "large packets vanish beyond the transit",
        "pings over 1272 bytes are lost silently",
        |w, _| w.exit.mtu_blackhole = true
    ),
    fault!(
        "return-route-missing",
        Tenant,
        "main lacks the tenant's subnet",
        "no proto bgp route for the subnet",
        |w, t| w.exit.vrf_mut(t).return_route = false
    ),
    fault!(
        "management-leak",
        Tenant,
        "the tenant falls through to management",
        "no default in the VRF, main's default via 10.20.99.1",
        management_leak
    ),
    fault!(
        "inter-tenant-leak",
        Tenant,
        "the tenant and its neighbours see each other",
        "direct routes instead of null routes, both ways",
        |w, t| w.exit.vrf_mut(t).isolation = Isolation::Direct
    ),
    fault!(
        "hairpin-leak",
        Tenant,
        "the tenant reaches its neighbours through the perimeter",
        "null routes gone both ways: the default takes the packet out and back in",
        |w, t| w.exit.vrf_mut(t).isolation = Isolation::Hairpin
    ),
    fault!(
        "sdn-pending",
        Tenant,
        "SDN changes of the tenant wait for an apply",
        "zone mtu 1400 and a VNet alias pend",
        sdn_pending
    ),
    fault!(
        "vnet-missing",
        Tenant,
        "the VNet does not exist on the node",
        "no bridge, no vxlan; the node reports an error for it",
        vnet_missing
    ),
    fault!(
        "workload-down",
        Tenant,
        "the tenant's first workload is stopped",
        "VM stopped, its neighbour FAILED",
        workload_down
    ),
    fault!(
        "exit-node-unreachable",
        Node,
        "the exit node is gone",
        "node offline in the cluster, no route to its ssh",
        |w, t| {
            offline(w, t);
            w.exit.reach = Reach::NoRoute;
        }
    ),
    fault!("exit-down", Site, "the exit node refuses logins", "its ssh refuses connections", |w, _| w.exit.reach =
        Reach::Refused),
    fault!("exit-slow", Site, "the exit node answers late", "4 seconds before a login succeeds", |w, _| w.exit.reach =
        Reach::After(4000)),
    fault!("exit-denied", Site, "the login on the exit node is not root", "no root, no sudo", |w, _| w.exit.root =
        false),
    fault!(
        "pve-down",
        Site,
        "the Proxmox API does not answer",
        "connections are closed before the handshake",
        |w, _| w.api.up = false
    ),
    fault!("pve-slow", Site, "the Proxmox API answers late", "4 seconds before every answer", |w, _| w.api.delay_ms =
        4000),
    fault!(
        "pve-denied",
        Site,
        "the token has no rights",
        "a privilege-separated token without ACL: lists are empty",
        |w, _| w.tokens.values_mut().for_each(|token| token.role = Role::Empty)
    ),
    fault!("pve-auth", Site, "the token is not accepted", "every answer is 401 with an empty body", |w, _| w
        .api
        .tokens_known =
        false),
    fault!("pve-no-quorum", Site, "the cluster has lost quorum", "quorate 0, the other nodes offline", no_quorum),
    fault!("node-offline", Node, "a node of the cluster is offline", "595 for its paths, its guests unknown", offline),
    fault!("lock-held", Site, "somebody holds the SDN lock", "a lock token exists; reads do not show it", |w, _| w
        .sdn
        .lock =
        Some("019e0000-0000-7000-8000-00000000lab1".to_owned())),
    fault!(
        "foreign-zone",
        Site,
        "a zone outside the band waits for an apply",
        "zone lab, vrf-vxlan 10099, new",
        foreign_zone
    ),
    fault!(
        "foreign-vm",
        Tenant,
        "a hand-made VM sits on the tenant's VNet",
        "VM 5001, bridge of the tenant",
        foreign_vm
    ),
    fault!(
        "hostile-names",
        Site,
        "names try to break the screen",
        "escape sequences, bidi, wide and long names in VM names, tags, aliases",
        hostile_names
    ),
];

fn without_exit_node(world: &mut World, tenant: &str) {
    world.sdn.settle(Kind::Zone, tenant, |zone| {
        zone.shift_remove("exitnodes");
        zone.shift_remove("exitnodes-primary");
    });
}

fn management_leak(world: &mut World, tenant: &str) {
    world.exit.main_via_management = true;
    world.exit.vrf_mut(tenant).default = VrfDefault::Missing;
}

fn first_vnet(world: &World, tenant: &str) -> Option<String> {
    world.sdn.configured.vnets_of(tenant).next().cloned()
}

fn sdn_pending(world: &mut World, tenant: &str) {
    world.sdn.set(Kind::Zone, tenant, object(json!({"mtu": 1400})));
    if let Some(vnet) = first_vnet(world, tenant) {
        world.sdn.set(Kind::Vnet, &vnet, object(json!({"alias": format!("tenant {tenant}")})));
    }
}

fn vnet_missing(world: &mut World, tenant: &str) {
    let Some(vnet) = first_vnet(world, tenant) else { return };
    let exit = world.exit.node.clone();
    if let Some(node) = world.node_mut(&exit) {
        node.vnet_errors.insert(vnet.clone(), format!("missing vxlan_{vnet}"));
    }
    world.exit.missing_vnets.insert(vnet);
}

fn workload_down(world: &mut World, tenant: &str) {
    let Some(vnet) = first_vnet(world, tenant) else { return };
    let on = |guest: &&mut Guest| guest.property("net0", "bridge").as_deref() == Some(vnet.as_str());
    if let Some(guest) = world.guests.values_mut().find(on) {
        guest.started = None;
    }
}

/// Takes a node away. The API is then answered by another one.
fn offline(world: &mut World, node: &str) {
    if let Some(node) = world.node_mut(node) {
        node.online = false;
    }
    if world.local == node
        && let Some(other) = world.nodes.iter().find(|node| node.online)
    {
        world.local = other.name.clone();
    }
}

fn no_quorum(world: &mut World, _: &str) {
    world.quorate = false;
    let local = world.local.clone();
    for node in world.nodes.iter_mut().filter(|node| node.name != local) {
        node.online = false;
    }
}

fn foreign_zone(world: &mut World, _: &str) {
    let exit = world.exit.node.clone();
    let zone = json!({"type": "evpn", "controller": "evpn1", "vrf-vxlan": 10099, "nodes": exit,
        "mac": "BC:24:11:1A:B0:99"});
    world.sdn.set(Kind::Zone, "lab", object(zone));
}

/// A VM made by hand: `name` and `tags` as given, on `bridge`.
fn by_hand(world: &mut World, vmid: u32, name: &str, tags: &str, bridge: &str) {
    let config = json!({"name": name, "cores": 1, "memory": "1024", "ostype": "l26", "tags": tags,
        "net0": format!("virtio=BC:24:11:50:01:{:02X},bridge={bridge}", vmid % 256),
        "scsi0": format!("local-lvm:vm-{vmid}-disk-0,size=8G"), "boot": "order=scsi0"});
    let guest = Guest {
        node: world.exit.node.clone(),
        config: object(config),
        started: Some(world.booted + 86_400),
        disk: 8 << 30,
        ..Guest::default()
    };
    world.guests.insert(vmid, guest);
}

fn foreign_vm(world: &mut World, tenant: &str) {
    if let Some(vnet) = first_vnet(world, tenant) {
        by_hand(world, 5001, "handmade", "", &vnet);
    }
}

fn hostile_names(world: &mut World, _: &str) {
    by_hand(world, 6001, "esc\u{1b}[2J\u{1b}]0;owned\u{7}", "red\u{1b}[31m;x", "vmbr0");
    by_hand(world, 6002, "rtl\u{202e}gpj.exe\u{2066}", "\u{202e}tnanet", "vmbr0");
    by_hand(world, 6003, "wide-\u{5bbd}\u{5b57}\u{7b26}-\u{1f9ea}\u{200d}\u{1f52c}-e\u{301}", "\u{7530}", "vmbr0");
    by_hand(world, 6004, &"long-".repeat(60), &"t".repeat(300), "vmbr0");
    by_hand(world, 6005, "line\nbreak\ttab\u{0}nul\u{85}\u{9b}31m", "a;b\u{2028}c", "vmbr0");
    let aliases = ["alias \u{1b}[5mblink", "\u{202e}alias", "\u{5bbd}alias\u{200b}"];
    let vnets: Vec<String> = world.sdn.configured.of(Kind::Vnet).map(|(id, _)| id.clone()).collect();
    for (vnet, alias) in vnets.iter().zip(aliases) {
        world.sdn.settle(Kind::Vnet, vnet, |options| {
            options.insert("alias".to_owned(), json!(alias));
        });
    }
}
