//! Faults of SDN, of what a node made of it, and of guests (facts/proxmox.md §7–§10).

use serde_json::json;

use super::Scope::{Node, Tenant};
use super::table::first_vnet;
use super::{Spec, outside, way_out};
use crate::lab::build::task;
use crate::lab::object;
use crate::lab::pve::NO_TOOLS;
use crate::lab::sdn::Kind;
use crate::lab::state::{Guest, World};
use crate::lab::writing::Reload;

/// Faults of the fabric and of workloads.
pub(super) const SPECS: &[Spec] = &[
    Spec {
        id: "apply-partial",
        scope: Node,
        title: "the node's reload failed after an apply",
        changes: "its last srvreload ended in an error; a VNet of its first tenant is in error there",
        apply: |w, node| {
            reload(w, node, "command 'ifreload -a' failed: exit code 1", "error: vxlan_x: netlink: operation failed");
            let vnet = w.sdn.running.of(Kind::Vnet).map(|(vnet, _)| vnet.clone()).next();
            if let (Some(vnet), Some(node)) = (vnet, w.node_mut(node)) {
                node.vnet_errors.insert(vnet.clone(), format!("missing vxlan_{vnet}"));
            }
        },
    },
    Spec {
        id: "node-lags",
        scope: Node,
        title: "the node has not generated its configuration since the last apply",
        changes: "its file has the version before; its zones are pending",
        apply: |w, node| {
            let before = w.sdn.version.saturating_sub(1);
            if let Some(node) = w.node_mut(node) {
                node.sdn_version = Some(before);
            }
        },
    },
    Spec {
        id: "routing-packages-missing",
        scope: Node,
        title: "the node has no tools to reload FRR",
        changes: "its last srvreload ended with a warning, and its log asks for frr-pythontools",
        apply: |w, node| {
            reload(w, node, "WARNINGS: 1", NO_TOOLS);
            if let Some(node) = w.node_mut(node) {
                node.reload = Reload::NoTools;
            }
        },
    },
    Spec {
        id: "sdn-no-effect",
        scope: Tenant,
        title: "the tenant's zone is marked as changed and is not",
        changes: "advertise-subnets 0 pends, where nothing was set",
        apply: |w, t| w.sdn.set(Kind::Zone, t, object(json!({"advertise-subnets": 0}))),
    },
    Spec {
        id: "subnet-overlap",
        scope: Tenant,
        title: "a neighbour has a part of the tenant's subnet",
        changes: "a second subnet of the next tenant's VNet: the upper half of this one's",
        apply: subnet_overlap,
    },
    Spec {
        id: "vni-collision",
        scope: Tenant,
        title: "the next tenant's VNet has the tenant's VRF VNI as its tag",
        changes: "tag = vrf-vxlan of this zone, applied",
        apply: |w, t| {
            let other = outside::neighbour(w, t);
            let vni = w.sdn.running.text(Kind::Zone, t, "vrf-vxlan").and_then(|vni| vni.parse::<u32>().ok());
            if let (Some(vnet), Some(vni)) = (first_vnet(w, &other), vni) {
                w.sdn.settle(Kind::Vnet, &vnet, |options| drop(options.insert("tag".to_owned(), json!(vni))));
            }
        },
    },
    Spec {
        id: "tenants-share-vrf",
        scope: Tenant,
        title: "another tenant's VNet is in the tenant's zone",
        changes: "VNet shop0 in it, applied",
        apply: |w, t| {
            let vnet = json!({"type": "vnet", "zone": t, "tag": 29_990});
            w.sdn.settle(Kind::Vnet, "shop0", |options| *options = object(vnet.clone()));
        },
    },
    Spec {
        id: "agent-option-off",
        scope: Tenant,
        title: "the first workload has no agent device",
        changes: "no agent in its configuration: No QEMU guest agent configured",
        apply: |w, t| {
            first_guest(w, t, |guest| {
                guest.config.shift_remove("agent");
            });
        },
    },
    Spec {
        id: "agent-silent",
        scope: Tenant,
        title: "the first workload's agent does not answer",
        changes: "QEMU guest agent is not running",
        apply: |w, t| first_guest(w, t, |guest| guest.agent_up = false),
    },
    Spec {
        id: "workload-unplugged",
        scope: Tenant,
        title: "the first workload runs with its card unplugged",
        changes: "link_down=1: nobody answers for its address, its agent does",
        apply: |w, t| first_guest(w, t, |guest| card(guest, ",link_down=1")),
    },
    Spec {
        id: "address-not-announced",
        scope: Tenant,
        title: "the first workload holds an address that no node has learnt",
        changes: "a second address on its card without an entry in the MAC-VRF; the zone is not limited to nodes",
        apply: |w, t| {
            // The API fails for zones with a list of nodes (facts/proxmox.md §8).
            w.sdn.settle(Kind::Zone, t, |zone| drop(zone.shift_remove("nodes")));
            way_out::join_fabric(w);
            first_guest(w, t, |guest| {
                let own = guest.address.map(|(ip, _)| ip.octets());
                guest.floating = own.map(|[a, b, c, _]| [a, b, c, 200].into());
            });
        },
    },
    Spec {
        id: "firewall-bridge-mtu",
        scope: Tenant,
        title: "the first workload's firewall bridge is smaller than its segment",
        changes: "VNet and card of 8950, fwbr, fwln and fwpr of 1500; firewall=1 and mtu=1 on the card",
        apply: |w, t| {
            w.exit.vrf_mut(t).jumbo = true;
            first_guest(w, t, |guest| card(guest, ",firewall=1,mtu=1"));
        },
    },
];

/// Adds options to a guest's card.
fn card(guest: &mut Guest, options: &str) {
    if let Some(net) = guest.text("net0") {
        guest.config.insert("net0".to_owned(), json!(format!("{net}{options}")));
    }
}

/// Changes the first guest on the tenant's first VNet.
pub(super) fn first_guest(world: &mut World, tenant: &str, change: impl FnOnce(&mut Guest)) {
    let Some(vnet) = first_vnet(world, tenant) else { return };
    let on = |guest: &&mut Guest| guest.property("net0", "bridge").as_deref() == Some(vnet.as_str());
    if let Some(guest) = world.guests.values_mut().find(on) {
        change(guest);
    }
}

/// The node's last reload, as it ended half a minute before the fault.
fn reload(world: &mut World, node: &str, end: &str, line: &str) {
    let mut last = task(node, 0x4200, world.disturbed - 30, "srvreload", "networking", "root@pam");
    end.clone_into(&mut last.status);
    last.log = vec![line.to_owned()];
    world.tasks.push(last);
}

fn subnet_overlap(world: &mut World, tenant: &str) {
    let other = outside::neighbour(world, tenant);
    let subnet =
        world.sdn.running.of(Kind::Subnet).map(|(id, _)| id.clone()).find(|id| id.starts_with(&format!("{tenant}-")));
    let half = subnet.and_then(|id| Some(id.strip_suffix(".0-24")?.rsplit_once('-')?.1.to_owned()));
    if let (Some(half), Some(vnet)) = (half, first_vnet(world, &other)) {
        let gateway = format!("{half}.129");
        let options = json!({"type": "subnet", "vnet": vnet, "snat": 1, "gateway": gateway});
        world.sdn.settle(Kind::Subnet, &format!("{other}-{half}.128-25"), |own| *own = object(options.clone()));
    }
}
