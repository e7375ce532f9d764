//! Faults of what a tenant is given and keeps to: numbers, names and keys that are not as its index derives them.

use serde_json::json;

use super::Scope::Tenant;
use super::Spec;
use super::outside::{neighbour, with_zone};
use crate::lab::names::{self, Rrset, forward_zone, workloads};
use crate::lab::sdn::Kind;
use crate::lab::state::World;

/// Faults of the tenant contract.
pub(super) const SPECS: &[Spec] = &[
    Spec {
        id: "tenant-off-plan",
        scope: Tenant,
        title: "the tenant's VNet has a tag that is not the tenant's",
        changes: "tag 20637 of the drill's band, applied",
        apply: |w, t| {
            let first = w.sdn.configured.vnets_of(t).next().cloned();
            if let Some(vnet) = first {
                w.sdn.settle(Kind::Vnet, &vnet, |options| {
                    options.insert("tag".to_owned(), json!(20637));
                });
            }
        },
    },
    Spec {
        id: "workload-off-plan",
        scope: Tenant,
        title: "the tenant's first workload is given another address",
        changes: "ipconfig0 names .99; the machine has its old address until it is started anew",
        apply: |w, t| {
            change_first(w, t, |config| {
                let Some((ip, gateway)) = config.get("ipconfig0").and_then(|v| v.as_str()?.split_once("/24,gw="))
                else {
                    return;
                };
                let Some((net, _)) = ip.rsplit_once('.') else { return };
                let other = format!("{net}.99/24,gw={gateway}");
                config.insert("ipconfig0".to_owned(), json!(other));
            });
        },
    },
    Spec {
        id: "workload-on-foreign-network",
        scope: Tenant,
        title: "the tenant's first workload has a card on another tenant's VNet",
        changes: "net1 on the neighbour's VNet",
        apply: |w, t| {
            let other = neighbour(w, t);
            let bridge = w.sdn.configured.vnets_of(&other).next().cloned().unwrap_or_else(|| "vmbr0".to_owned());
            change_first(w, t, |config| {
                config.insert("net1".to_owned(), json!(format!("virtio=BC:24:11:50:0E:01,bridge={bridge}")));
            });
        },
    },
    Spec {
        id: "workload-name-missing",
        scope: Tenant,
        title: "the records of the tenant's first workload are gone",
        changes: "no address and no reverse record, as after a rebuilt DNS",
        apply: |w, t| {
            let Some((_, name, address)) = workloads(w, t).into_iter().next() else { return };
            with_zone(w, t, |zone| {
                zone.rrsets.remove(&(format!("{name}.{}", forward_zone(t)), "A".to_owned()));
            });
            let owner = format!("{}.in-addr.arpa.", names::backwards(&address));
            if let Some(zone) = names::reverse_zone(w, t).and_then(|zone| w.names.zones.get_mut(&zone)) {
                zone.rrsets.remove(&(owner, "PTR".to_owned()));
            }
        },
    },
    Spec {
        id: "name-points-outside",
        scope: Tenant,
        title: "a name of the tenant leads to another tenant's machine",
        changes: "web has the address of the neighbour's first workload",
        apply: |w, t| {
            let other = neighbour(w, t);
            let Some((.., address)) = workloads(w, &other).into_iter().next() else { return };
            with_zone(w, t, |zone| zone.set(&format!("web.{}", forward_zone(t)), "A", Rrset::one(300, &address)));
        },
    },
    Spec {
        id: "update-key-missing",
        scope: Tenant,
        title: "the tenant's update key was deleted",
        changes: "no such key; the zones still list it",
        apply: |w, t| {
            w.names.keys.remove(t);
        },
    },
];

/// Changes the configuration of the tenant's first machine.
fn change_first(world: &mut World, tenant: &str, change: impl FnOnce(&mut serde_json::Map<String, serde_json::Value>)) {
    let first = workloads(world, tenant).into_iter().next();
    if let Some(guest) = first.and_then(|(vmid, ..)| world.guests.get_mut(&vmid)) {
        change(&mut guest.config);
    }
}
