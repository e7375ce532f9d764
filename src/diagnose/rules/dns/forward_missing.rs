//! The resolver has no forward for a domain.

use super::super::{Out, Rule};
use super::{authority_of, builtin_reverse_zone, known_zones, rows_for, without, zone_of};
use crate::backends::dns::Rcode;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::dns::Reply;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "forward-missing",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "The authoritative server has the name, and the resolver says that it does not exist, in the words of a zone \
           further up: it has no forward for the domain and asked the public tree.",
    reads: "the resolver's answer and its SOA, the authoritative server's answer, both lists of forwards",
    unlike: &[
        ("forward-disabled", "the row is there and switched off"),
        ("forward-wrong-type", "the row is over TLS: SERVFAIL"),
        ("builtin-reverse-zone", "the SOA is of localhost. and nobody.invalid."),
        ("negative-cached", "the SOA is of the zone itself, with an older serial"),
        ("rebind-filtered", "the answer is empty, not NXDOMAIN"),
        ("parent-nxdomain-believed", "the row is there and enabled"),
    ],
    explains: &[],
    judge,
};

/// NXDOMAIN in the words of a zone above that of the name.
pub(super) fn from_above(facts: &Facts, reply: &Reply) -> Option<String> {
    let (record, _) = reply.soa().filter(|_| reply.is(Rcode::NXDOMAIN))?;
    let known = known_zones(facts).contains(&record.name);
    (!known && builtin_reverse_zone::fingerprint(reply).is_none()).then(|| record.name.clone())
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for reply in facts.dns.resolved() {
        let name = reply.name.as_str();
        let Some(parent) = from_above(facts, reply) else { continue };
        let Some(source) = facts.dns.at_source(reply) else {
            out.unknown_of(
                [Subject::new("name", name)],
                format!("what the authoritative server answers for {name}"),
                None,
            );
            continue;
        };
        if !source.has_data() {
            continue;
        }
        let (Some(forwards), Some(_)) = (&facts.perimeter.forwards, &facts.perimeter.dots) else {
            if facts.perimeter.forwards.is_none() {
                without(facts, out, super::FORWARDS, "the forwards of the resolver");
            }
            if facts.perimeter.dots.is_none() {
                without(facts, out, super::DOTS, "the forwards of the resolver over TLS");
            }
            continue;
        };
        let rows: Vec<_> = rows_for(facts, name).collect();
        if rows.iter().any(|row| !row.enabled || row.kind != "forward") {
            // It is off or over TLS, which other rules say: then it is no question why. One beside it in force leaves one.
            if rows.iter().any(|row| row.enabled && row.kind == "forward") {
                out.unknown_of(
                    [Subject::new("name", name)],
                    format!("why the resolver believes {parent} about {name} although it has a row"),
                    None,
                );
            }
            continue;
        }
        // Another rule says what a row in force means.
        if !rows.is_empty() {
            continue;
        }
        let zone = zone_of(facts, name);
        let to = authority_of(facts, Some(source), &zone).unwrap_or_default();
        let finding = out
            .finding(Subject::new("name", &zone), format!("The resolver has no forward for {zone}: it asked {parent}."))
            .fact("forward", &zone, "none")
            .fact("answer.from", name, &parent)
            .affects([name])
            .resting_on(&reply.file)
            .resting_on(&source.file)
            .from(forwards)
            .next("add-forward", 2, format!("add a plain forward for {zone} to {to}, then reconfigure"));
        out.found(finding);
    }
}
