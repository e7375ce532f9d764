//! The resolver answers a reverse name from a zone of its own.

use super::super::{Out, Rule};
use super::{authority_of, forwarded, without};
use crate::backends::dns::{Rcode, RecordType};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::dns::Reply;
use crate::diagnose::facts::perimeter::resolver::under;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "builtin-reverse-zone",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "The resolver answers reverse names of private ranges itself, from a zone that is built in, and asks nobody: \
           NXDOMAIN with an SOA of localhost. and nobody.invalid. A plain forward for the reverse zone itself opens that \
           zone; one for the names does not.",
    reads: "the resolver's answer and its SOA, the authoritative server's, local zones and forwards of the resolver",
    unlike: &[
        ("forward-missing", "NXDOMAIN with the SOA of a real parent zone"),
        ("ptr-mismatch", "a PTR comes back and names somebody else"),
        ("negative-cached", "NXDOMAIN with the SOA of the zone itself"),
    ],
    explains: &[],
    judge,
};

/// The built-in zone `reply` came from.
pub(super) fn fingerprint(reply: &Reply) -> Option<&str> {
    let (record, soa) = reply.soa()?;
    let built_in = reply.is(Rcode::NXDOMAIN) && soa.mname == "localhost" && soa.rname == "nobody.invalid";
    built_in.then_some(record.name.as_str())
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for reply in &facts.dns.replies {
        if let Some(zone) = fingerprint(reply) {
            one(facts, reply, zone, out);
        }
    }
    // A source that answers, a built-in zone above the name, and nobody asked the resolver.
    let authorities = facts.dns.authorities();
    for reply in facts.dns.replies.iter().filter(|r| r.asks(RecordType::PTR) && authorities.contains(r.server.as_str()))
    {
        let name = reply.name.as_str();
        let asked = facts.dns.resolved().any(|r| r.name == reply.name);
        let above = facts.perimeter.local_zones.as_ref().is_some_and(|z| z.iter().any(|(zone, _)| under(name, zone)));
        if !asked && above && forwarded(facts, name) == Some(false) {
            out.unknown_of([Subject::new("name", name)], format!("the resolver's answer for {name}"), None);
        }
    }
}

fn one(facts: &Facts, reply: &Reply, built_in: &str, out: &mut Out<'_>) {
    let name = reply.name.as_str();
    let zone = super::zone_of(facts, name);
    // The built-in zone is no zone of anybody's; what is wanted is the one around the name.
    let zone = if zone == built_in { name.split_once('.').map_or(name, |(_, rest)| rest).to_owned() } else { zone };
    let source = facts.dns.at_source(reply);
    let mut finding = out
        .finding(
            Subject::new("name", name),
            format!("The resolver answers {name} from its built-in zone {built_in}, and asks nobody."),
        )
        .fact("answer.from", name, built_in)
        .affects([&zone])
        .resting_on(&reply.file);
    match source {
        Some(source) => {
            finding = finding.resting_on(&source.file);
            for value in source.values() {
                finding = finding.fact("answer.at-source", name, value);
            }
        }
        None => out.unknown_of(
            [Subject::new("name", name)],
            format!("what the authoritative server answers for {name}"),
            None,
        ),
    }
    match forwarded(facts, name) {
        Some(true) => finding = finding.fact("forward", &zone, "there, and not in force"),
        Some(false) => finding = finding.fact("forward", &zone, "none"),
        None => without(facts, out, super::FORWARDS, "the forwards of the resolver"),
    }
    if let Some(forwards) = &facts.perimeter.forwards {
        finding = finding.from(forwards);
    }
    match &facts.perimeter.local_zones {
        Some(zones) => finding = finding.from(zones),
        None => out.unknown(
            "the local zones of the resolver",
            facts.calls.why(Api::Opnsense, "unbound/diagnostics/listlocalzones"),
        ),
    }
    let to = authority_of(facts, source, &zone).unwrap_or_else(|| "the authoritative server".to_owned());
    let finding = finding.next("add-forward", 2, format!("add a plain forward for {zone} to {to}, then reconfigure"));
    out.found(finding);
}
