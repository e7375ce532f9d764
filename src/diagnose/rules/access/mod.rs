//! Whether the console may and can look at all: credentials, rights, nodes, quorum, locks, trust.

mod ca_unknown;
mod change_unfinished;
mod credentials_not_sent;
mod credentials_rejected;
mod endpoint_renamed;
mod exit_rights_missing;
mod lock_held;
mod no_quorum;
mod node_unknown;
mod node_unreachable;
mod pin_mismatch;
mod privilege_missing;
mod probe_without_trust;
mod request_without_body;
mod source_unreachable;
mod ticket_expired;
mod token_end_not_read;
mod token_ends_soon;
mod token_expired;
mod token_unknown;
mod token_without_rights;

pub(in crate::diagnose) use change_unfinished::cause_of;
pub(super) use source_unreachable::dead;

use super::{Out, Rule};
use crate::backends::proxmox::Error;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::calls::{Call, Failure};
use crate::diagnose::finding::{Finding, Subject};

/// Rules of this layer, those first whose faults explain others.
pub(super) static RULES: &[&Rule] = &[
    &source_unreachable::RULE,
    &pin_mismatch::RULE,
    &ca_unknown::RULE,
    &no_quorum::RULE,
    &node_unknown::RULE,
    &node_unreachable::RULE,
    &token_without_rights::RULE,
    &credentials_not_sent::RULE,
    &credentials_rejected::RULE,
    &ticket_expired::RULE,
    &token_expired::RULE,
    &token_unknown::RULE,
    &token_ends_soon::RULE,
    &token_end_not_read::RULE,
    &change_unfinished::RULE,
    &endpoint_renamed::RULE,
    &privilege_missing::RULE,
    &exit_rights_missing::RULE,
    &request_without_body::RULE,
    &lock_held::RULE,
    &probe_without_trust::RULE,
];

/// Names every call of `calls` as evidence, and those that were to read something as unknown.
fn rest_on<'a>(mut finding: Finding, calls: impl IntoIterator<Item = &'a Call>, out: &mut Out<'_>) -> Finding {
    for call in calls {
        finding = finding.resting_on(&call.file);
        if !call.writes() {
            of_call(call, out).unknown(unread(call), call.failure.as_ref().map(Failure::words));
        }
    }
    finding
}

/// Where it is said what a read did not tell: of whom its path names. On whose network a guest has its cards, and whose
/// network a VNet's subnets meet, is not told by whose guest and whose VNet it is: that is everybody's.
fn of_call<'o>(call: &Call, out: &'o mut Out<'_>) -> Out<'o> {
    let whom = match (call.http.api, call.http.path.split('/').collect::<Vec<_>>().as_slice()) {
        (Api::Proxmox, ["nodes", _, "qemu" | "lxc", _, "config"] | ["cluster", "sdn", "vnets", _, "subnets"]) => None,
        (Api::Proxmox, ["cluster", "sdn", "vnets", vnet, ..]) => Some(("vnet", *vnet)),
        (Api::Proxmox, ["cluster", "sdn", "zones", zone, ..] | ["nodes", _, "sdn", "zones", zone, ..]) => {
            Some(("zone", *zone))
        }
        (Api::Proxmox, ["nodes", _, "qemu" | "lxc", vmid, ..]) => Some(("workload", *vmid)),
        (Api::PowerDns, ["servers", _, "zones", zone, ..]) => Some(("name", *zone)),
        _ => None,
    };
    match whom {
        Some((kind, name)) => out.about([Subject::new(kind, name)]),
        None => out.everybody(),
    }
}

/// What a read that failed would have told.
fn unread(call: &Call) -> String {
    format!("{} of {}", call.http.path, call.http.api.words())
}

/// An interface as a subject.
pub(super) fn source(api: Api) -> Subject {
    Subject::new("source", api.words())
}

/// Answers 401 of Proxmox VE with the reason they give.
fn refused_logins(facts: &Facts) -> impl Iterator<Item = (&Call, &str)> {
    facts.calls.of(Api::Proxmox).filter_map(|call| match call.proxmox()? {
        Error::Unauthenticated { reason } => Some((call, reason.as_str())),
        _ => None,
    })
}

/// What stands between the next two single quotes.
fn quoted(text: &str) -> Option<&str> {
    text.split('\'').nth(1)
}

/// The same request of OPNsense in its other spelling (`search_rule`, `searchRule`), where that one was answered: access
/// lists know one of the two only (facts/opnsense.md §2).
fn respelt<'a>(facts: &'a Facts, call: &Call) -> Option<&'a Call> {
    let plain = |path: &str| path.replace('_', "").to_ascii_lowercase();
    let mut same = facts.calls.of(call.http.api).filter(|other| {
        other.failure.is_none()
            && other.http.path != call.http.path
            && plain(&other.http.path) == plain(&call.http.path)
    });
    same.find(|_| call.http.api == Api::Opnsense && call.http.ended.status == 403)
}

/// Why a request got no answer at all, in the words of who asked.
fn no_answer(call: &Call) -> Option<&str> {
    match &call.failure {
        Some(Failure::NoAnswer(why)) => Some(why),
        _ => None,
    }
}
