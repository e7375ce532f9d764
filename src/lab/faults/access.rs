//! Faults of the Proxmox VE API itself: who is let in, what is shown, whose certificate and clock it has, what is locked.

use serde_json::json;

use super::Scope::{Site, Tenant};
use super::Spec;
use super::fabric::first_guest;
use crate::lab::build::TOKEN_ID;
use crate::lab::state::Role;

/// Faults of access.
pub(super) const SPECS: &[Spec] = &[
    Spec {
        id: "token-expired",
        scope: Site,
        title: "the token is past its end date",
        changes: "every answer is 401: token '…' access expired",
        apply: |w, _| w.tokens_refused = Some(format!("token '{}' access expired", token_name().1)),
    },
    Spec {
        id: "token-unknown",
        scope: Site,
        title: "the user has no token of that name",
        changes: "every answer is 401: no such token",
        apply: |w, _| {
            let (user, token) = token_name();
            w.tokens_refused = Some(format!("no such token '{token}' for user '{user}'"));
        },
    },
    Spec {
        id: "credentials-not-sent",
        scope: Site,
        title: "a proxy drops the credentials on their way to the perimeter",
        changes: "302 to the login page, as without a key",
        apply: |w, _| w.perimeter.api.credentials_lost = true,
    },
    Spec {
        id: "ca-unknown",
        scope: Site,
        title: "Proxmox VE has a certificate of another authority",
        changes: "the certificate is signed by another authority of the same name",
        apply: |w, _| w.api.foreign_certificate = true,
    },
    Spec {
        id: "list-filtered",
        scope: Site,
        title: "the token sees nothing of SDN",
        changes: "no SDN.Audit: lists of zones and VNets are empty, of bridges vmbr0 is left",
        apply: |w, _| w.tokens.values_mut().for_each(|token| token.role = Role::NoSdn),
    },
    Spec {
        id: "clock-skew",
        scope: Site,
        title: "the clock of the PowerDNS server is eleven minutes ahead",
        changes: "Date of its answers",
        apply: |w, _| w.names.api.ahead = 660,
    },
    Spec {
        id: "lock-held",
        scope: Tenant,
        title: "a backup holds the tenant's first workload",
        changes: "lock: backup in its configuration",
        apply: |w, t| {
            first_guest(w, t, |guest| {
                guest.config.insert("lock".to_owned(), json!("backup"));
            });
        },
    },
];

/// User and token of the lab.
fn token_name() -> (&'static str, &'static str) {
    TOKEN_ID.split_once('!').unwrap_or((TOKEN_ID, ""))
}
