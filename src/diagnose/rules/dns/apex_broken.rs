//! A zone whose SOA or NS records are not right.

use std::collections::BTreeMap;

use super::super::{Out, Rule};
use super::serial_unchanged::stays;
use crate::backends::dns::{Data, Rcode, RecordType};
use crate::backends::powerdns::Name;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::dns::Reply;
use crate::diagnose::facts::powerdns::Head;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "apex-broken",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "The zone answers and its apex is not right: the SOA is the placeholder PowerDNS puts in, there is no NS record, or \
           the SOA is gone, which makes the server refuse the whole zone and report serial 0. Forwarding never reads the \
           apex, so that names may work all the same.",
    reads: "SOA and NS answers of the authoritative server, the zone's records and serial by the API",
    unlike: &[
        ("zone-missing", "the zone is not there"),
        ("zone-not-served", "the zone has a serial and is refused for a while"),
    ],
    explains: &[],
    judge,
};

/// PowerDNS's own placeholder (facts/dns.md §2).
const PLACEHOLDER: &str = "a.misconfigured.dns.server.invalid";

type Broken = BTreeMap<String, Vec<(&'static str, &'static str, String)>>;

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let mut broken = Broken::new();
    let authorities = facts.dns.authorities();
    for reply in facts.dns.replies.iter().filter(|r| authorities.contains(r.server.as_str()) && r.is(Rcode::NOERROR)) {
        let mut says = |zone: &str, key, value| {
            broken.entry(zone.to_owned()).or_default().push((key, value, reply.file.to_string()));
        };
        if let Some((record, _)) = reply.soa().filter(|(_, soa)| soa.mname == PLACEHOLDER) {
            says(&record.name, "apex.soa", "placeholder");
        }
        // At the apex the SOA of the answer is the asked name's own.
        let apex = reply.soa().is_some_and(|(record, _)| record.name == reply.name.as_str());
        if reply.asks(RecordType::NS) && apex && !reply.answers.iter().any(|r| matches!(r.data, Data::Ns(_))) {
            says(reply.name.as_str(), "apex.ns", "none");
        }
    }
    for head in &facts.powerdns.zones {
        if head.serial == Some(0) && zero(facts, head).is_none() {
            let zone = head.name.as_str().trim_end_matches('.');
            let why = "its serial is 0, and not all of it was read".to_owned();
            out.unknown_of([Subject::new("name", zone)], format!("whether {zone} has an SOA"), Some(why));
        }
        for (key, value) in of_head(facts, head) {
            broken.entry(head.name.as_str().to_owned()).or_default().push((key, value, head.file.to_string()));
        }
    }
    for (zone, said) in broken {
        let mut finding = out
            .finding(Subject::new("name", &zone), format!("The apex of {zone} is not right."))
            .affects([&zone])
            .next("repair-apex", 2, format!("write SOA and NS of {zone} again, with the name server's own host name"));
        for (key, value, file) in said {
            if !finding.facts.iter().any(|f| f.key == key) {
                finding = finding.fact(key, &zone, value);
            }
            finding = finding.resting_on(&file);
        }
        out.found(finding);
    }
}

/// Whether the serial of the zone is 0 by its SOA, and not for want of one: by its records or by an answer. `None` = perhaps,
/// since the API never moved it from where it was when the zone was made, and not all of the zone was read.
fn zero(facts: &Facts, head: &Head) -> Option<bool> {
    let is_zero = |value: &String| value.split_whitespace().nth(2) == Some("0");
    let own = |name: &Name, kind: &String| *name == head.name && kind == "SOA";
    let mut sets =
        facts.powerdns.zones.iter().filter(|one| one.name == head.name).flat_map(|one| one.rrsets.iter().flatten());
    let held = sets.any(|(name, kind, values)| own(name, kind) && values.iter().any(is_zero));
    let apex = head.name.as_str().trim_end_matches('.');
    let told =
        facts.dns.replies.iter().filter_map(Reply::soa).any(|(record, soa)| record.name == apex && soa.serial == 0);
    let perhaps = !head.whole && head.soa_edit_api.as_deref().is_some_and(stays);
    if held || told || !perhaps { Some(held || told) } else { None }
}

fn of_head(facts: &Facts, head: &Head) -> Vec<(&'static str, &'static str)> {
    let mut said = Vec::new();
    if head.serial == Some(0) && zero(facts, head) == Some(false) {
        said.push(("apex.soa", "none"));
    }
    let Some(rrsets) = &head.rrsets else { return said };
    let at_apex = |kind: &str| rrsets.iter().find(|(name, k, _)| *name == head.name && k == kind);
    match at_apex("SOA") {
        // A listing without the SOA is an excerpt: only the serial tells that there is none.
        None => return said,
        Some((.., values)) if values.iter().any(|v| v.starts_with(PLACEHOLDER)) => {
            said.push(("apex.soa", "placeholder"))
        }
        Some(_) => {}
    }
    if at_apex("NS").is_none() {
        said.push(("apex.ns", "none"));
    }
    said
}
