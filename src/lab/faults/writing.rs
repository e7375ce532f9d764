//! Faults of changing something: nobody who only reads sees them, but for those that leave something lying about.
//!
//! A fault is over when somebody does what it had undone: frees the lock, applies or rolls back what waits, starts the
//! machine anew. The others stay until they are switched off.

use serde_json::json;

use super::Scope::{Node, Site, Tenant};
use super::Spec;
use super::fabric::first_guest;
use super::table::first_vnet;
use crate::lab::object;
use crate::lab::sdn::Kind;
use crate::lab::state::World;
use crate::lab::writing::{Putting, Reload, WrittenAnswer};

/// Milliseconds that a late answer takes: longer than the API's own patience with a node (facts/proxmox.md §1).
const LATE: u64 = 45_000;

/// Those that leave something lying about, which who reads can see.
const SEEN: &[&str] = &["sdn-lock-stale", "foreign-edits"];

/// Whether a fault shows in nothing that can be read, only when something is changed.
#[must_use]
pub fn shows_in_changes_alone(id: &str) -> bool {
    SPECS.iter().chain(super::writing_names::SPECS).any(|spec| spec.id == id) && !SEEN.contains(&id)
}

/// Faults that show when something is changed.
pub(super) const SPECS: &[Spec] = &[
    Spec {
        id: "sdn-lock-stale",
        scope: Site,
        title: "a client that ended holds the SDN lock, its work half done",
        changes: "a lock token that nobody knows, and a new zone half1 without a VNet that waits for an apply",
        apply: stale_lock,
    },
    Spec {
        id: "sdn-busy",
        scope: Site,
        title: "another process keeps the cluster's own SDN lock",
        changes: "every change of SDN answers: got lock request timeout",
        apply: |w, _| w.writing.sdn_busy = true,
    },
    Spec {
        id: "foreign-edits",
        scope: Tenant,
        title: "somebody's removal of the tenant's subnet waits for an apply",
        changes: "its subnet is deleted and not applied: the next apply takes the tenant's gateway away",
        apply: |w, t| {
            let subnets: Vec<String> = first_vnet(w, t)
                .map_or_else(Vec::new, |vnet| w.sdn.configured.subnets_of(&vnet).map(|(id, _)| id.clone()).collect());
            subnets.iter().for_each(|id| w.sdn.delete(Kind::Subnet, id));
        },
    },
    Spec {
        id: "apply-misses-node",
        scope: Node,
        title: "an apply does not reach the node",
        changes: "the task of the next apply says so in its log and ends with OK; no reload there, its zones stay pending",
        apply: |w, node| reload(w, node, Reload::Untold),
    },
    Spec {
        id: "reload-fails",
        scope: Node,
        title: "the node's next reload fails",
        changes: "its srvreload ends with an error; VNets that are new are not there",
        apply: |w, node| reload(w, node, Reload::Refused),
    },
    Spec {
        id: "egress-apply-fails",
        scope: Site,
        title: "the command that puts frr.conf.local in place fails",
        changes: "it ends with code 1 and writes nothing",
        apply: |w, _| w.writing.putting = Putting::Fails,
    },
    Spec {
        id: "egress-apply-idle",
        scope: Site,
        title: "the command that puts frr.conf.local in place does nothing",
        changes: "it ends well and writes nothing",
        apply: |w, _| w.writing.putting = Putting::Idle,
    },
    Spec {
        id: "clone-fails",
        scope: Site,
        title: "a clone ends halfway",
        changes: "the task ends with clone failed, and the machine that was begun is gone",
        apply: |w, _| w.writing.clone_fails = true,
    },
    Spec {
        id: "storage-full",
        scope: Site,
        title: "the storage has no room",
        changes: "full clones and growing disks end with an error of the storage",
        apply: |w, _| w.writing.storage_full = true,
    },
    Spec {
        id: "start-fails",
        scope: Tenant,
        title: "the tenant's first workload does not start",
        changes: "the task ends with start failed: QEMU exited with code 1",
        apply: |w, t| first_guest(w, t, |guest| guest.start_fails = true),
    },
    Spec {
        id: "shutdown-ignored",
        scope: Tenant,
        title: "the tenant's first workload ignores the request to shut down",
        changes: "the task ends after its time with VM quit/powerdown failed - got timeout",
        apply: |w, t| first_guest(w, t, |guest| guest.deaf = true),
    },
    Spec {
        id: "answer-lost",
        scope: Site,
        title: "the answer to a change is lost",
        changes: "it takes effect, and the connection is closed without an answer",
        apply: |w, _| w.writing.answer = WrittenAnswer::Lost,
    },
    Spec {
        id: "answer-late",
        scope: Site,
        title: "the answer to a change is very late",
        changes: "it takes effect at once, and is answered 45 seconds later",
        apply: |w, _| w.writing.answer = WrittenAnswer::Late(LATE),
    },
    Spec {
        id: "answer-500",
        scope: Site,
        title: "a change is answered with an error although it took effect",
        changes: "it takes effect, and is answered 500 with an empty body",
        apply: |w, _| w.writing.answer = WrittenAnswer::Instead(500, "Internal Server Error"),
    },
    Spec {
        id: "answer-596",
        scope: Site,
        title: "the API loses its connection to the node after a change",
        changes: "it takes effect, and is answered 596 with an empty body",
        apply: |w, _| w.writing.answer = WrittenAnswer::Instead(596, "Broken pipe"),
    },
    Spec {
        id: "answer-599",
        scope: Site,
        title: "the API gives up on the node after a change",
        changes: "it takes effect, and is answered 599 with an empty body",
        apply: |w, _| w.writing.answer = WrittenAnswer::Instead(599, "Too many redirections"),
    },
];

fn reload(world: &mut World, node: &str, way: Reload) {
    if let Some(node) = world.node_mut(node) {
        node.reload = way;
    }
}

fn stale_lock(world: &mut World, _: &str) {
    world.sdn.lock = Some("019d0000-0000-7000-8000-0000000001ab".to_owned());
    let exit = world.exit.node.clone();
    let zone = json!({"type": "evpn", "controller": "evpn1", "vrf-vxlan": 10_061, "nodes": exit, "exitnodes": exit,
        "exitnodes-primary": exit, "mac": "BC:24:11:1A:B0:61"});
    world.sdn.set(Kind::Zone, "half1", object(zone));
}
