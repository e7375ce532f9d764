//! The content of a zone changed and its serial did not.

use std::collections::BTreeMap;

use super::super::{Out, Rule};
use super::named;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::dns::Reply;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "serial-unchanged",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "A zone's content changed and its serial did not, so that secondaries never fetch it. The zone's soa_edit_api \
           decides how the API moves the serial; an empty or unknown value does not move it. The secondary is not to blame.",
    reads: "the zone before and after a write, its soa_edit_api, answers of several servers with the serials they carry",
    unlike: &[
        ("negative-cached", "a resolver answers, not a secondary, and the serial it carries is older"),
        ("zone-not-served", "the server refuses the zone"),
    ],
    explains: &[],
    judge,
};

/// Values that move the serial (facts/dns.md §2).
const MOVING: [&str; 5] = ["DEFAULT", "INCREASE", "EPOCH", "SOA-EDIT", "SOA-EDIT-INCREASE"];

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let mut stuck: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (zone, files) in written(facts).into_iter().chain(answered(facts)) {
        stuck.entry(zone).or_default().extend(files);
    }
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
            None => out.unknown(format!("soa_edit_api of {zone}"), facts.calls.why(Api::PowerDns, "servers/*/zones/*")),
            Some((head, value)) => {
                let shown = if value.is_empty() { "empty" } else { value };
                finding = finding.fact("zone.soa-edit-api", &zone, shown).from(head);
                if !MOVING.contains(&value) {
                    finding = finding.next(
                        "set-soa-edit-api",
                        2,
                        format!(
                            "set soa_edit_api of {zone} to DEFAULT, then write one record again to move the serial"
                        ),
                    );
                }
            }
        }
        let finding = finding.next("raise-serial", 2, format!("raise the serial of {zone} once, by hand"));
        out.found(finding);
    }
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
