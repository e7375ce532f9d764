//! The resolver still believes that a name is not there.

use super::super::{Out, Rule};
use super::named;
use crate::backends::dns::Rcode;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::dns::Reply;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "negative-cached",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "The name was asked for before it existed, and the resolver keeps that answer: it carries the SOA of the zone with \
           an older serial than the authoritative server's. Its TTL counts the seconds that are left.",
    reads: "the resolver's negative answer with its SOA, the authoritative server's answer and serial",
    unlike: &[
        ("forward-missing", "the SOA is of a zone further up"),
        ("rebind-filtered", "the empty answer carries no SOA"),
        ("builtin-reverse-zone", "the SOA is of localhost. and nobody.invalid."),
    ],
    explains: &[],
    judge,
};

/// The zone's serial at the authoritative server: by DNS, or by its API.
pub(super) fn serial(facts: &Facts, zone: &str) -> Option<u64> {
    let authorities = facts.dns.authorities();
    let spoken = facts.dns.replies.iter().filter(|r| authorities.contains(r.server.as_str()));
    let spoken = spoken.filter_map(Reply::soa).filter(|(record, _)| record.name == zone);
    spoken.map(|(_, soa)| u64::from(soa.serial)).max().or_else(|| facts.powerdns.head(&named(zone))?.serial)
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for reply in facts.dns.resolved() {
        let name = reply.name.as_str();
        let negative = reply.is(Rcode::NXDOMAIN) || (reply.is(Rcode::NOERROR) && !reply.has_data());
        let Some((record, soa)) = reply.soa().filter(|_| negative) else { continue };
        let zone = record.name.as_str();
        if !super::known_zones(facts).iter().any(|known| known == zone) {
            continue;
        }
        let Some(source) = facts.dns.at_source(reply) else {
            out.unknown_of(
                [Subject::new("name", name)],
                format!("what the authoritative server answers for {name}"),
                None,
            );
            continue;
        };
        if !source.has_data() {
            out.pass(Subject::new("name", name));
            continue;
        }
        let Some(current) = serial(facts, zone) else {
            out.unknown_of(
                [Subject::new("name", name)],
                format!("the serial of {zone} at the authoritative server"),
                None,
            );
            continue;
        };
        // Serials wrap (RFC 1982); equal ones say that the serial does not move, which is another rule's.
        let behind = u32::try_from(current).map_or(0, |now| now.wrapping_sub(soa.serial));
        if behind == 0 || behind > u32::MAX / 2 {
            continue;
        }
        let left = record.ttl;
        let finding = out
            .finding(
                Subject::new("name", name),
                format!("The resolver remembers that {name} was not there; {left} s are left."),
            )
            .fact("answer.serial", name, soa.serial)
            .fact("zone.serial", zone, current)
            .fact("answer.seconds-left", name, left)
            .affects([zone])
            .resting_on(&reply.file)
            .resting_on(&source.file)
            .next("wait-for-expiry", 0, format!("wait {left} s, then ask again"));
        out.found(finding);
    }
}
