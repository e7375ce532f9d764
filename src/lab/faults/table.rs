//! The table of faults. Titles and effects follow facts/exit-node.md §2 and facts/proxmox.md.

use std::net::Ipv4Addr;

use serde_json::json;

use super::Scope::{Node, Site, Tenant};
use super::Spec;
use crate::lab::object;
use crate::lab::sdn::Kind;
use crate::lab::state::{FrrUnit, Guest, Isolation, LocalStanza, Reach, Role, SnatState, VrfDefault, World};

/// Faults of the cluster and its exit node: what Proxmox and the node itself can show.
pub const SPECS: &[Spec] = &[
    Spec {
        id: "transit-forwarding-off",
        scope: Node,
        title: "the transit interface does not forward",
        changes: "forwarding of vmbr0.50 is 0",
        apply: |w, _| w.exit.transit_forwarding = false,
    },
    Spec {
        id: "vrf-default-missing",
        scope: Tenant,
        title: "the VRF has no default route",
        changes: "the default of the VRF's table is gone",
        apply: |w, t| w.exit.vrf_mut(t).default = VrfDefault::Missing,
    },
    Spec {
        id: "vrf-default-wrong-gateway",
        scope: Tenant,
        title: "the VRF's default points at nobody",
        changes: "the default goes via 10.20.50.99, whose neighbour entry is FAILED",
        apply: |w, t| w.exit.vrf_mut(t).default = VrfDefault::Via(Ipv4Addr::new(10, 20, 50, 99)),
    },
    Spec {
        id: "snat-missing",
        scope: Tenant,
        title: "the SNAT rule is gone",
        changes: "no SNAT rule for the tenant's subnet",
        apply: |w, t| w.exit.vrf_mut(t).snat = SnatState::Missing,
    },
    Spec {
        id: "snat-wrong-source",
        scope: Tenant,
        title: "the SNAT rule translates to a foreign address",
        changes: "--to-source 10.20.50.23",
        apply: |w, t| w.exit.vrf_mut(t).snat = SnatState::Source(Ipv4Addr::new(10, 20, 50, 23)),
    },
    Spec {
        id: "snat-duplicate",
        scope: Tenant,
        title: "the SNAT rule is there twice",
        changes: "the rule twice, the second never counts",
        apply: |w, t| w.exit.vrf_mut(t).snat = SnatState::Duplicate,
    },
    Spec {
        id: "snat-without-exit-node",
        scope: Tenant,
        title: "SNAT is asked for, but the zone has no exit node",
        changes: "exitnodes removed and applied: no SNAT, no return route, unreachable default",
        apply: without_exit_node,
    },
    Spec {
        id: "frr-down",
        scope: Node,
        title: "FRR is stopped",
        changes: "unit inactive, its routes withdrawn",
        apply: |w, _| w.exit.frr = FrrUnit::Inactive,
    },
    Spec {
        id: "frr-local-not-merged",
        scope: Tenant,
        title: "frr.conf.local was not merged",
        changes: "stanza in frr.conf.local, not in frr.conf; no default in the VRF",
        apply: |w, t| w.exit.vrf_mut(t).local = LocalStanza::NotMerged,
    },
    Spec {
        id: "frr-local-contested",
        scope: Tenant,
        title: "another agent owns frr.conf.local",
        changes: "the file carries another writer's mark and lacks the tenant; no default in the VRF",
        apply: |w, t| w.exit.vrf_mut(t).local = LocalStanza::Contested,
    },
    Spec {
        id: "rp-filter-drops",
        scope: Node,
        title: "reverse path filter drops replies",
        changes: "rp_filter of vmbr0.50 is 1 and TcpExtIPReversePathFilter climbs",
        apply: |w, _| (w.exit.rp_filter, w.exit.rp_drops) = (1, true),
    },
    Spec {
        id: "tenant-forwarding-off",
        scope: Tenant,
        title: "the tenant's bridge does not forward",
        changes: "forwarding of the VNet is 0",
        apply: |w, t| w.exit.vrf_mut(t).forwarding = false,
    },
    Spec {
        id: "forward-policy-drop",
        scope: Node,
        title: "the firewall drops forwarded packets",
        changes: "policy of filter/FORWARD is DROP",
        apply: |w, _| w.exit.forward_drop = true,
    },
    Spec {
        id: "conntrack-full",
        scope: Node,
        title: "the connection table is full",
        changes: "count = max, drops climb",
        apply: |w, _| w.exit.conntrack_full = true,
    },
    Spec {
        id: "gateway-unreachable",
        scope: Node,
        title: "the perimeter does not answer on transit",
        changes: "neighbour 10.20.50.1 is FAILED",
        apply: |w, _| w.exit.gateway_answers = false,
    },
    Spec {
        id: "transit-mtu",
        scope: Node,
        title: "large packets vanish beyond the transit",
        changes: "pings over 1272 bytes are lost silently",
        apply: |w, _| w.exit.mtu_blackhole = true,
    },
    Spec {
        id: "return-route-missing",
        scope: Tenant,
        title: "main lacks the tenant's subnet",
        changes: "no proto bgp route for the subnet",
        apply: |w, t| w.exit.vrf_mut(t).return_route = false,
    },
    Spec {
        id: "management-leak",
        scope: Tenant,
        title: "the tenant falls through to management",
        changes: "no default in the VRF, main's default via 10.20.99.1",
        apply: management_leak,
    },
    Spec {
        id: "inter-tenant-leak",
        scope: Tenant,
        title: "the tenant and its neighbours see each other",
        changes: "direct routes instead of null routes, both ways",
        apply: |w, t| w.exit.vrf_mut(t).isolation = Isolation::Direct,
    },
    Spec {
        id: "hairpin-leak",
        scope: Tenant,
        title: "the tenant reaches its neighbours through the perimeter",
        changes: "null routes gone both ways: the default takes the packet out and back in",
        apply: |w, t| w.exit.vrf_mut(t).isolation = Isolation::Hairpin,
    },
    Spec {
        id: "sdn-pending",
        scope: Tenant,
        title: "SDN changes of the tenant wait for an apply",
        changes: "zone mtu 1400 and a VNet alias pend",
        apply: sdn_pending,
    },
    Spec {
        id: "vnet-missing",
        scope: Tenant,
        title: "the VNet does not exist on the node",
        changes: "no bridge, no vxlan; the node reports an error for it",
        apply: vnet_missing,
    },
    Spec {
        id: "workload-down",
        scope: Tenant,
        title: "the tenant's first workload is stopped",
        changes: "VM stopped, its neighbour FAILED",
        apply: workload_down,
    },
    Spec {
        id: "exit-node-unreachable",
        scope: Node,
        title: "the exit node is gone",
        changes: "node offline in the cluster, no route to its ssh",
        apply: |w, t| {
            offline(w, t);
            w.exit.reach = Reach::NoRoute;
        },
    },
    Spec {
        id: "exit-down",
        scope: Site,
        title: "the exit node refuses logins",
        changes: "its ssh refuses connections",
        apply: |w, _| w.exit.reach = Reach::Refused,
    },
    Spec {
        id: "exit-slow",
        scope: Site,
        title: "the exit node answers late",
        changes: "4 seconds before a login succeeds",
        apply: |w, _| w.exit.reach = Reach::After(4000),
    },
    Spec {
        id: "exit-denied",
        scope: Site,
        title: "the login on the exit node is not root",
        changes: "no root, no sudo",
        apply: |w, _| w.exit.root = false,
    },
    Spec {
        id: "pve-down",
        scope: Site,
        title: "the Proxmox API does not answer",
        changes: "connections are closed before the handshake",
        apply: |w, _| w.api.up = false,
    },
    Spec {
        id: "pve-slow",
        scope: Site,
        title: "the Proxmox API answers late",
        changes: "4 seconds before every answer",
        apply: |w, _| w.api.delay_ms = 4000,
    },
    Spec {
        id: "pve-denied",
        scope: Site,
        title: "the token has no rights",
        changes: "a privilege-separated token without ACL: lists are empty",
        apply: |w, _| w.tokens.values_mut().for_each(|token| token.role = Role::Empty),
    },
    Spec {
        id: "pve-auth",
        scope: Site,
        title: "the token is not accepted",
        changes: "every answer is 401 with an empty body",
        apply: |w, _| w.api.tokens_known = false,
    },
    Spec {
        id: "pve-no-quorum",
        scope: Site,
        title: "the cluster has lost quorum",
        changes: "quorate 0, the other nodes offline",
        apply: no_quorum,
    },
    Spec {
        id: "node-offline",
        scope: Node,
        title: "a node of the cluster is offline",
        changes: "595 for its paths, its guests unknown",
        apply: offline,
    },
    Spec {
        id: "sdn-locked",
        scope: Site,
        title: "somebody holds the SDN lock",
        changes: "a lock token exists; reads do not show it",
        apply: |w, _| w.sdn.lock = Some("019e0000-0000-7000-8000-00000000lab1".to_owned()),
    },
    Spec {
        id: "foreign-zone",
        scope: Site,
        title: "a zone outside the band waits for an apply",
        changes: "zone lab, vrf-vxlan 10099, new",
        apply: foreign_zone,
    },
    Spec {
        id: "foreign-vm",
        scope: Tenant,
        title: "a hand-made VM sits on the tenant's VNet",
        changes: "VM 5001, bridge of the tenant",
        apply: foreign_vm,
    },
    Spec {
        id: "hostile-names",
        scope: Site,
        title: "names try to break the screen",
        changes: "escape sequences, bidi, wide and long names in VM names, tags, aliases",
        apply: hostile_names,
    },
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

pub(super) fn first_vnet(world: &World, tenant: &str) -> Option<String> {
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

/// Takes a node away. The API is then answered by another one; a quorum device keeps the cluster quorate.
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
    let vnets: Vec<String> = world.sdn.configured.of(Kind::Vnet).map(|(id, _)| id.clone()).collect();
    let long = ("long-".repeat(60), "t".repeat(300));
    let guests = [
        ("esc\u{1b}[2J\u{1b}]0;owned\u{7}", "red\u{1b}[31m;x"),
        ("rtl\u{202e}gpj.exe\u{2066}", "\u{202e}tnanet"),
        ("wide-\u{5bbd}\u{5b57}\u{7b26}-\u{1f9ea}\u{200d}\u{1f52c}-e\u{301}", "\u{7530}"),
        (&long.0, &long.1),
        ("line\nbreak\ttab\u{0}nul\u{85}\u{9b}31m", "a;b\u{2028}c"),
    ];
    // On tenants' VNets, so that every pane and screen has them.
    for ((vmid, (name, tags)), vnet) in (6001..).zip(guests).zip(vnets.iter().cycle()) {
        by_hand(world, vmid, name, tags, vnet);
    }
    let aliases = ["alias \u{1b}[5mblink", "\u{202e}alias", "\u{5bbd}alias\u{200b}"];
    for (vnet, alias) in vnets.iter().zip(aliases) {
        world.sdn.settle(Kind::Vnet, vnet, |options| {
            options.insert("alias".to_owned(), json!(alias));
        });
    }
}
