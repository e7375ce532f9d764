//! Requests name a server id that the API does not have.

use std::collections::BTreeSet;

use super::super::{Out, Rule};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::calls::Failure;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "server-id-wrong",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "The API answers 404 alike for a server id it does not have and for a zone it does not have. Its own list of \
           servers tells which it was; the zone may well be there.",
    reads: "answers 404 below servers/, the API's list of servers",
    unlike: &[
        ("zone-missing", "the server id is right, and the zone is not there"),
        ("server-is-recursor", "another product answers under the same path"),
    ],
    explains: &["zone-missing"],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let of = &facts.powerdns;
    let mut said = BTreeSet::new();
    for call in facts.calls.of(Api::PowerDns).filter(|call| call.http.path.starts_with("servers/")) {
        let not_found = matches!(call.failure, Some(Failure::Status { status: 404 | 422, .. }));
        let asked = call.http.segment(1);
        if !not_found || !said.insert((&call.from, asked)) {
            continue;
        }
        if !of.listed.contains(&call.from) {
            out.unknown(
                format!("the servers behind the API of {}", call.from),
                facts.calls.why(Api::PowerDns, "servers"),
            );
            continue;
        }
        let ids: Vec<_> = of.servers.iter().filter(|server| server.from == call.from).collect();
        let (false, Some(right)) = (ids.iter().any(|server| server.id == asked), ids.first()) else { continue };
        let finding = out
            .finding(
                Subject::new("server", &call.from),
                format!("The server id is {}, not {asked}: nothing is said about the zone.", right.id),
            )
            .fact("server.id", &call.from, &right.id)
            .fact("server.id-asked", &call.from, asked)
            .affects([asked])
            .resting_on(&call.file)
            .from(right)
            .next("use-server-id", 0, format!("use the id the API tells: {}", right.id));
        out.found(finding);
    }
}
