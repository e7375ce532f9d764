//! The content of a zone changed and its serial did not.

use std::collections::BTreeMap;

use super::super::{Out, Rule};
use super::{known_zones, named, negative_cached};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::dns::Reply;
use crate::diagnose::facts::powerdns::Head;
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "serial-unchanged",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "A zone's content changed and its serial did not, so that secondaries never fetch it. The zone's soa_edit_api \
           decides how the API moves the serial; an empty or unknown value leaves it where it is, which is 0 in \
           a new zone. Neither the secondary nor a resolver that remembers the old data is to blame.",
    reads: "the zone before and after a write, its soa_edit_api, answers of several servers with the serials they carry",
    unlike: &[
        ("negative-cached", "a resolver answers, not a secondary, and the serial it carries is older"),
        ("apex-broken", "the serial is 0 for want of an SOA"),
        ("zone-not-served", "the server refuses the zone"),
    ],
    explains: &[],
    judge,
};

/// Values that move the serial (facts/dns.md §2).
const MOVING: [&str; 5] = ["DEFAULT", "INCREASE", "EPOCH", "SOA-EDIT", "SOA-EDIT-INCREASE"];

/// Whether the API leaves the serial where it is with this value of `soa_edit_api`: none, or one that the server does not know.
pub(super) fn stays(value: &str) -> bool {
    !MOVING.contains(&value.to_ascii_uppercase().as_str())
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let mut stuck: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (zone, files) in written(facts).into_iter().chain(answered(facts)).chain(remembered(facts, out)) {
        stuck.entry(zone).or_default().extend(files);
    }
    still(facts, &stuck, out);
    for (zone, files) in stuck {
        let mut finding = out
            .finding(
                Subject::new("name", &zone),
                format!("{zone} changed and its serial did not: secondaries keep the old data."),
            )
            .fact("zone.content", &zone, "changed")
            .fact("zone.serial", &zone, "unchanged")
            .affects([&zone]);
        for file in files {
            finding = finding.resting_on(&file);
        }
        let head = facts.powerdns.head(&named(&zone));
        match head.and_then(|head| head.soa_edit_api.as_deref().map(|value| (head, value))) {
            None => out.unknown_of(
                [Subject::new("name", &zone)],
                format!("soa_edit_api of {zone}"),
                facts.calls.why(Api::PowerDns, "servers/*/zones/*"),
            ),
            Some((head, value)) => {
                let shown = if value.is_empty() { "empty" } else { value };
                finding = finding.fact("zone.soa-edit-api", &zone, shown).from(head);
                if stays(value) {
                    finding = set(finding, &zone);
                }
            }
        }
        let finding = finding.next("raise-serial", 2, format!("raise the serial of {zone} once, by hand"));
        out.found(finding);
    }
}

/// What makes the serial move again.
fn set(finding: Finding, zone: &str) -> Finding {
    let text = format!("set soa_edit_api of {zone} to DEFAULT, then write one record again to move the serial");
    finding.next("set-soa-edit-api", 2, text)
}

/// Zones whose serial no change by the API moves, beside those that are told already: it is 0, where a new zone begins, or their
/// `soa_edit_api` is none that the server knows. A zone without one may be changed by updates alone, which move it;
/// one that is copied from another server has its serial from there.
fn still(facts: &Facts, told: &BTreeMap<String, Vec<String>>, out: &mut Out<'_>) {
    let mut zones: BTreeMap<&str, (&Sourced<Head>, &str)> = BTreeMap::new();
    for head in facts.powerdns.zones.iter().filter(|head| !head.is_copy()) {
        let how = head.soa_edit_api.as_deref().filter(|how| stays(how) && (!how.is_empty() || head.serial == Some(0)));
        if let Some(how) = how {
            zones.insert(head.name.as_str(), (head, how));
        }
    }
    for (name, (head, how)) in zones.into_iter().filter(|(name, _)| !told.keys().any(|zone| named(zone) == named(name)))
    {
        let zone = name.trim_end_matches('.');
        let shown = if how.is_empty() { "empty" } else { how };
        let title = format!("The serial of {zone} does not move with changes by the API: its soa_edit_api is {shown}.");
        let mut finding = out
            .finding(Subject::new("name", zone), title)
            .fact("zone.soa-edit-api", zone, shown)
            .affects([zone])
            .from(head);
        finding.severity = Severity::Warning;
        if let Some(serial) = head.serial {
            finding = finding.fact("zone.serial", zone, serial);
        }
        let finding = set(finding, zone);
        out.found(finding);
    }
}

/// Zones of which a resolver remembers that a name was not there, at the serial at which the authoritative server has it. Where the
/// API moves the serial it is not known why.
fn remembered(facts: &Facts, out: &mut Out<'_>) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    for reply in facts.dns.resolved().filter(|reply| !reply.has_data()) {
        let Some((record, soa)) = reply.soa() else { continue };
        let Some(source) = facts.dns.at_source(reply).filter(|source| source.has_data()) else { continue };
        let zone = record.name.as_str();
        let known = known_zones(facts).iter().any(|known| known == zone);
        if !known || negative_cached::serial(facts, zone) != Some(u64::from(soa.serial)) {
            continue;
        }
        let how = facts.powerdns.head(&named(zone)).and_then(|head| head.soa_edit_api.as_deref());
        if how.is_some_and(stays) {
            found.push((zone.to_owned(), vec![reply.file.to_string(), source.file.to_string()]));
        } else {
            let name = reply.name.as_str();
            let missing = format!("why the resolver does not have {name}, at the serial at which the zone has it");
            out.unknown_of([Subject::new("name", name)], missing, None);
        }
    }
    found
}

/// Zones read before and after a write that was accepted, with one serial.
fn written(facts: &Facts) -> Vec<(String, Vec<String>)> {
    let heads = &facts.powerdns.zones;
    let mut found = Vec::new();
    for (n, before) in heads.iter().enumerate() {
        let Some(after) = heads.iter().skip(n + 1).find(|h| h.name == before.name && h.from == before.from) else {
            continue;
        };
        let between = facts.calls.all.get(before.after..after.after).unwrap_or_default();
        let write = between.iter().find(|call| {
            let http = &call.http;
            call.failure.is_none()
                && call.writes()
                && http.asks(Api::PowerDns, "servers/*/zones/*")
                && named(http.segment(3)) == before.name
        });
        if let (Some(write), true) = (write, before.serial.is_some() && before.serial == after.serial) {
            let files = [&before.file, &write.file, &after.file].map(ToString::to_string);
            found.push((before.name.as_str().to_owned(), files.to_vec()));
        }
    }
    found
}

/// Zones of which two servers tell different data with one serial.
fn answered(facts: &Facts) -> Vec<(String, Vec<String>)> {
    let told = |reply: &Reply| reply.soa().map(|(record, soa)| (record.name.clone(), soa.serial));
    let mut found = Vec::new();
    for (n, one) in facts.dns.replies.iter().enumerate().filter(|(_, r)| r.has_data()) {
        for other in facts.dns.replies.iter().skip(n + 1).filter(|r| r.has_data()) {
            let comparable = one.name == other.name && one.server != other.server && one.kinds == other.kinds;
            if let (true, Some(mine), Some(its)) = (comparable, told(one), told(other))
                && mine == its
                && one.values() != other.values()
            {
                found.push((mine.0, vec![one.file.to_string(), other.file.to_string()]));
            }
        }
    }
    found
}
