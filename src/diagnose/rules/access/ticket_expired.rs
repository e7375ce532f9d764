//! A login ticket that is too old.

use super::super::{Out, Rule};
use super::{refused_logins, rest_on, source};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity};

/// The rule.
pub static RULE: Rule = Rule {
    id: "ticket-expired",
    layer: Layer::Access,
    severity: Severity::Fault,
    says: "The login ticket is not accepted any more. A ticket lives for two hours and can be renewed while it is valid; \
           everything it is used for then fails at once. What was seen before stays on the screen with its age.",
    reads: "answers 401 that name the ticket, and whether a login was renewed",
    unlike: &[
        ("token-expired", "the answer names a token"),
        ("credentials-rejected", "the credential was never good"),
        ("source-unreachable", "nothing answers at all"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let calls: Vec<_> = refused_logins(facts)
        .filter(|(_, reason)| reason.to_ascii_lowercase().contains("invalid pve ticket"))
        .map(|(call, _)| call)
        .collect();
    if calls.is_empty() {
        return;
    }
    let subject = source(Api::Proxmox);
    let title = "The login ticket is too old: Proxmox VE wants a new one.";
    let mut finding = out.finding(subject, title);
    finding = match &facts.access.renewed {
        Some(renewed) => finding.fact("ticket.state", "login", "too old").from(renewed),
        None => {
            out.unknown("whether the login can be renewed", facts.calls.why(Api::Proxmox, "access/ticket"));
            finding.fact("ticket.state", "login", "not accepted")
        }
    };
    let finding =
        rest_on(finding, calls, out).next("renew-login", 0, "log in again; repeat reads, never writes by itself");
    out.found(finding);
}
