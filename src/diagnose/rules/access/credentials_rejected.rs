//! A credential that is not accepted.

use std::collections::BTreeMap;

use super::super::{Out, Rule};
use super::{refused_logins, rest_on, source};
use crate::backends::opnsense::Error;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::calls::{Call, Failure};
use crate::diagnose::finding::{Layer, Severity};

/// The rule.
pub static RULE: Rule = Rule {
    id: "credentials-rejected",
    layer: Layer::Access,
    severity: Severity::Fault,
    says: "A credential arrived and is not accepted: the key, its secret or its user is wrong or switched off.",
    reads: "answers 401, and the words they come with",
    unlike: &[
        ("credentials-not-sent", "no credential arrived"),
        ("ticket-expired", "the ticket was good once"),
        ("token-expired", "the token is known and past its end"),
        ("token-unknown", "the user has no token of that name"),
        ("privilege-missing", "the credential is accepted: 403"),
    ],
    explains: &[],
    judge,
};

/// Whether another rule knows better why Proxmox VE said no.
fn explained(reason: &str) -> bool {
    let reason = reason.to_ascii_lowercase();
    ["no ticket", "invalid pve ticket", "access expired", "no such token"].iter().any(|words| reason.contains(words))
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let mut by_api: BTreeMap<Api, Vec<&Call>> = BTreeMap::new();
    for call in &facts.calls.all {
        let rejected = match &call.failure {
            Some(Failure::Opnsense(Error::Unauthenticated { .. })) => true,
            Some(Failure::Status { status: 401, .. }) => call.http.api == Api::PowerDns,
            Some(Failure::Proxmox(_)) => refused_logins(facts).any(|(c, why)| c.file == call.file && !explained(why)),
            _ => false,
        };
        if rejected {
            by_api.entry(call.http.api).or_default().push(call);
        }
    }
    for (api, calls) in by_api {
        let finding = out
            .finding(source(api), format!("{} does not accept the key or its secret.", api.words()))
            .fact("key.accepted", api.words(), "no")
            .affects(calls.iter().map(|call| call.http.path.as_str()))
            .next("check-key", 0, "compare key and secret with those that were issued; is their user switched on?");
        let finding = rest_on(finding, calls, out);
        out.found(finding);
    }
}
