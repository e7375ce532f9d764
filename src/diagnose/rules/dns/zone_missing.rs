//! A zone that the authoritative server does not have.

use std::collections::BTreeMap;

use super::super::{Out, Rule};
use super::{named, rows};
use crate::backends::dns::Rcode;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::calls::Failure;
use crate::diagnose::facts::perimeter::resolver::under;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "zone-missing",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "The authoritative server does not have the zone: its API says 404 under the right server id, or its list of zones \
           lacks a domain that the resolver forwards to it. It refuses the zone's names, and the resolver makes SERVFAIL of it.",
    reads: "the API's answers about the zone, its lists of zones and servers, forwards, answers on the DNS port",
    unlike: &[
        ("server-is-recursor", "another product answers, which has none of the zones"),
        ("server-id-wrong", "404 for a server id that the API does not have"),
        ("zone-not-served", "the API has the zone, and the name server refuses it for a while"),
        ("auth-down", "nothing answers"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let of = &facts.powerdns;
    // What a recursor does not have says nothing about the authoritative server.
    if let Some(server) = of.servers.iter().find(|server| server.daemon == "recursor") {
        out.unknown("which zones PowerDNS has", Some(format!("{} is a recursor", server.from)));
        return;
    }
    let mut gone: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for call in facts.calls.of(Api::PowerDns).filter(|c| c.http.gets(Api::PowerDns, "servers/*/zones/*")) {
        let absent = match &call.failure {
            Some(Failure::Status { status: 404, .. }) => true,
            Some(Failure::Status { status: 422, text }) => text.starts_with("Could not find domain"),
            _ => false,
        };
        let zone = named(call.http.segment(3));
        let right_id = of.servers.iter().any(|s| s.from == call.from && s.id == call.http.segment(1))
            || facts.calls.of(Api::PowerDns).any(|other| {
                other.failure.is_none() && other.from == call.from && other.http.segment(1) == call.http.segment(1)
            });
        if absent && right_id && of.has(&zone) != Some(true) {
            gone.entry(zone.as_str().to_owned()).or_default().push(call.file.to_string());
        }
    }
    // What the resolver sends to a server whose list lacks it, and which refuses it.
    for row in rows(facts).filter(|row| row.enabled && !row.domain.is_empty()) {
        let refusal = facts
            .dns
            .replies
            .iter()
            .find(|r| r.server == row.server && r.is(Rcode::REFUSED) && under(r.name.as_str(), &row.domain));
        match (of.has(&named(&row.domain)), refusal) {
            (Some(false), Some(reply)) => {
                gone.entry(row.domain.clone()).or_default().push(reply.file.to_string());
            }
            (None, Some(_)) => out.unknown_of(
                [Subject::new("name", &row.domain)],
                format!("whether PowerDNS has {}", row.domain),
                facts.calls.why(Api::PowerDns, "servers/*/zones"),
            ),
            (Some(true), _) => out.pass(Subject::new("name", &row.domain)),
            _ => {}
        }
    }
    for (zone, files) in gone {
        let mut finding = out
            .finding(Subject::new("name", &zone), format!("The authoritative server has no zone {zone}."))
            .fact("zone.there", &zone, "no")
            .affects([&zone])
            .next("create-zone", 2, format!("run the tenant's DNS step again: it makes {zone} and binds its key"));
        for file in files {
            finding = finding.resting_on(&file);
        }
        if let Some(list) = &of.zone_list {
            finding = finding.from(list);
        }
        out.found(finding);
    }
}
