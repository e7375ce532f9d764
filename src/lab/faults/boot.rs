//! Faults of check-ins and of the registry.

use super::Scope::{Site, Tenant};
use super::Spec;
use crate::lab::boot::Delivery;
use crate::lab::names::workloads;
use crate::lab::state::World;

/// Minutes before it is noticed that a quiet fault began.
const QUIET: i64 = 22 * 60;

/// Faults of the service of check-ins, of single deliveries, and of the registry.
pub const SPECS: &[Spec] = &[
    Spec {
        id: "checkins-not-offered",
        scope: Site,
        title: "the API has no check-ins",
        changes: "404 where the list should be",
        apply: |w, _| w.boot.offered = false,
    },
    Spec {
        id: "checkins-down",
        scope: Site,
        title: "the service of check-ins does not answer",
        changes: "connections are closed before the handshake",
        apply: |w, _| w.boot.api.up = false,
    },
    Spec {
        id: "checkins-slow",
        scope: Site,
        title: "the service of check-ins answers late",
        changes: "4 seconds before every answer",
        apply: |w, _| w.boot.api.delay_ms = 4000,
    },
    Spec {
        id: "checkins-denied",
        scope: Site,
        title: "the credential may not list check-ins",
        changes: "every answer is 403",
        apply: |w, _| w.boot.denied = true,
    },
    Spec {
        id: "checkins-auth",
        scope: Site,
        title: "the credential for check-ins is not accepted",
        changes: "every answer is 401",
        apply: |w, _| w.boot.api.tokens_known = false,
    },
    Spec {
        id: "checkin-failed",
        scope: Tenant,
        title: "the first workload's agent gave up",
        changes: "last report: pull, error, image access denied",
        apply: |w, t| {
            change(w, t, |d, now| d.failed = Some((now, "pull", "image-denied", "image access denied")));
        },
    },
    Spec {
        id: "checkin-late",
        scope: Tenant,
        title: "the first workload runs and never used its token",
        changes: "machine new and running for 22 minutes, token issued, nothing heard",
        apply: |w, t| {
            fresh(w, t);
            change(w, t, |d, now| *d = unused(d, now - QUIET - 9, now + 6 * 3600 + 1800));
        },
    },
    Spec {
        id: "checkin-stuck",
        scope: Tenant,
        title: "the first workload got its configuration and fell silent",
        changes: "machine new, token redeemed 21 minutes ago, no report since",
        apply: |w, t| {
            fresh(w, t);
            change(w, t, |d, now| {
                let redeemed = Some(now - QUIET + 56);
                *d = Delivery { redeemed, ..unused(d, now - QUIET - 9, now - QUIET - 9 + 1800) };
            });
        },
    },
    Spec {
        id: "checkin-replay",
        scope: Tenant,
        title: "somebody else used the first workload's token again",
        changes: "a refusal for another claim, not acknowledged",
        apply: |w, t| change(w, t, |d, now| d.replayed = Some(now)),
    },
    Spec {
        id: "checkin-behind",
        scope: Tenant,
        title: "a newer generation is declared than the first workload runs",
        changes: "declared generation + 1",
        apply: |w, t| change(w, t, |d, _| d.declared += 1),
    },
    Spec {
        id: "checkin-foreign",
        scope: Tenant,
        title: "another machine reports in the first workload's name",
        changes: "a report with the SMBIOS UUID of a machine that is gone",
        apply: |w, t| change(w, t, |d, now| d.foreign = Some(now)),
    },
    Spec {
        id: "checkin-silent",
        scope: Tenant,
        title: "the first workload has not reported for hours",
        changes: "no report in the last five hours",
        apply: |w, t| {
            change(w, t, |d, now| {
                let applied = d.applied.map(|at| at.min(now - 6 * 3600));
                (d.issued, d.redeemed) =
                    (d.issued.min(now - 7 * 3600), d.redeemed.map(|at| at.min(now - 7 * 3600 + 60)));
                (d.applied, d.silent) = (applied, Some(now - 5 * 3600));
            });
        },
    },
    Spec {
        id: "checkin-expired",
        scope: Tenant,
        title: "the first workload's token ran out unused",
        changes: "token issued 40 minutes ago for half an hour, nothing heard",
        apply: |w, t| change(w, t, |d, now| *d = unused(d, now - 2400, now - 600)),
    },
    Spec {
        id: "registry-down",
        scope: Site,
        title: "the registry does not answer",
        changes: "connections are closed before the handshake",
        apply: |w, _| w.registry.api.up = false,
    },
    Spec {
        id: "registry-auth",
        scope: Site,
        title: "the registry's token is not accepted",
        changes: "every answer is 401",
        apply: |w, _| w.registry.api.tokens_known = false,
    },
    Spec {
        id: "registry-slow",
        scope: Site,
        title: "the registry answers late",
        changes: "4 seconds before every answer",
        apply: |w, _| w.registry.api.delay_ms = 4000,
    },
    Spec {
        id: "registry-lost",
        scope: Tenant,
        title: "the registry does not list the tenant",
        changes: "its row is gone from both lists",
        apply: |w, t| {
            w.registry.tenants.remove(t);
        },
    },
    Spec {
        id: "registry-differs",
        scope: Tenant,
        title: "the registry has another index for the tenant",
        changes: "index and all numbers are those of index 61",
        apply: |w, t| {
            w.registry.tenants.insert(t.to_owned(), 61);
        },
    },
    Spec {
        id: "registry-only",
        scope: Site,
        title: "a registered tenant is not on the fabric",
        changes: "orchard is registered with index 62, and no zone has its name",
        apply: |w, _| {
            w.registry.tenants.insert("orchard".to_owned(), 62);
        },
    },
];

/// A token that nobody used yet.
fn unused(of: &Delivery, issued: i64, expires: i64) -> Delivery {
    Delivery { declared: of.declared, delivered: of.delivered, issued, expires, ..Delivery::default() }
}

/// VMID of the tenant's first workload.
fn first(world: &World, tenant: &str) -> Option<u32> {
    workloads(world, tenant).into_iter().next().map(|(vmid, ..)| vmid)
}

/// Changes the delivery of the tenant's first workload; the moment is that of the fault.
fn change(world: &mut World, tenant: &str, change: impl FnOnce(&mut Delivery, i64)) {
    let now = world.disturbed;
    if let Some(delivery) = first(world, tenant).and_then(|vmid| world.boot.deliveries.get_mut(&vmid)) {
        change(delivery, now);
    }
}

/// The tenant's first machine started a while before the fault is noticed.
fn fresh(world: &mut World, tenant: &str) {
    let started = world.disturbed - QUIET;
    if let Some(guest) = first(world, tenant).and_then(|vmid| world.guests.get_mut(&vmid)) {
        guest.started = Some(started);
    }
}
