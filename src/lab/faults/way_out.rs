//! More faults of the exit node (facts/exit-node.md §2, cases of local routing, several exit nodes and renumbering).

use std::net::Ipv4Addr;

use serde_json::json;

use super::Scope::{Node, Tenant};
use super::Spec;
use crate::lab::build::SERVICE_NODE;
use crate::lab::sdn::Kind;
use crate::lab::state::{SnatState, World};

/// Faults of the exit node.
pub(super) const SPECS: &[Spec] = &[
    Spec {
        id: "uplink-down",
        scope: Node,
        title: "the transit interface has no carrier",
        changes: "vmbr0.50 DOWN, its neighbour FAILED, no default in any VRF",
        apply: |w, _| w.exit.uplink_down = true,
    },
    Spec {
        id: "rp-filter-strict",
        scope: Node,
        title: "reverse path filter is strict and drops nothing",
        changes: "rp_filter of vmbr0.50 is 1, its counter stands still",
        apply: |w, _| w.exit.rp_filter = 1,
    },
    Spec {
        id: "snat-apply-rewrites",
        scope: Node,
        title: "the node itself leaves by management",
        changes: "main's default via 10.20.99.1; the translation rules are right until the next apply",
        apply: |w, _| w.exit.main_via_management = true,
    },
    Spec {
        id: "snat-stale",
        scope: Tenant,
        title: "the node was renumbered, the tenant's translation rule was not",
        changes: "--to-source 10.20.50.23; the dry run would write the node's address",
        apply: |w, t| w.exit.vrf_mut(t).snat = SnatState::Stale(Ipv4Addr::new(10, 20, 50, 23)),
    },
    Spec {
        id: "frr-handwritten-lost",
        scope: Node,
        title: "routing by hand was lost at an apply",
        changes: "frr.conf.sav holds router ospf, which does not run and is not in frr.conf.local",
        apply: |w, _| {
            let by_hand = "router ospf\n ospf router-id 10.20.51.22\n network 10.20.51.0/24 area 0\nexit\n!\n";
            w.exit.frr_saved = Some(by_hand.to_owned());
        },
    },
    Spec {
        id: "l3vni-not-bound",
        scope: Tenant,
        title: "the tenant's VRF VNI is not bound to its VRF",
        changes: "FRR lists it as layer 2",
        apply: |w, t| w.exit.vrf_mut(t).l3_unbound = true,
    },
    Spec {
        id: "exit-local-routing",
        scope: Tenant,
        title: "the tenant's answers come back by a pair that filters strictly",
        changes: "exitnodes-local-routing on, route by xvrf, rp_filter 1 there",
        apply: |w, t| {
            w.sdn.settle(Kind::Zone, t, |zone| drop(zone.insert("exitnodes-local-routing".to_owned(), json!(1))));
            w.exit.vrf_mut(t).local_routing = true;
        },
    },
    Spec {
        id: "exit-primary-missing",
        scope: Tenant,
        title: "the tenant's zone has two exit nodes and no primary one",
        changes: "exitnodes of both nodes, exitnodes-primary removed, applied",
        apply: |w, t| {
            two_exits(w, t);
            w.sdn.settle(Kind::Zone, t, |zone| drop(zone.shift_remove("exitnodes-primary")));
        },
    },
    Spec {
        id: "exit-nodes-loop",
        scope: Tenant,
        title: "the tenant's exit nodes send its traffic to each other",
        changes: "two exit nodes, each with a default learnt by BGP; the zone is not limited to nodes",
        apply: |w, t| {
            two_exits(w, t);
            // The API fails for zones with a list of nodes (facts/proxmox.md §8).
            w.sdn.settle(Kind::Zone, t, |zone| drop(zone.shift_remove("nodes")));
            let other = w.node(SERVICE_NODE).map(|node| node.ip);
            w.exit.vrf_mut(t).learnt_default = other;
        },
    },
];

fn two_exits(world: &mut World, tenant: &str) {
    let both = format!("{},{SERVICE_NODE}", world.exit.node);
    world.sdn.settle(Kind::Zone, tenant, |zone| {
        zone.insert("exitnodes".to_owned(), json!(both));
        zone.insert("nodes".to_owned(), json!(both));
    });
    join_fabric(world);
}

/// The other node has its loopback in the fabric too, as a zone that is there needs it.
pub(super) fn join_fabric(world: &mut World) {
    let member = json!({"protocol": "openfabric", "ip": "10.20.255.1", "interfaces": ["name=vmbr0.51"],
        "fabric_id": "tfab", "node_id": SERVICE_NODE});
    world
        .sdn
        .settle(Kind::FabricNode, &format!("tfab_{SERVICE_NODE}"), |own| *own = crate::lab::object(member.clone()));
}
