//! Zones of tenants: there, with the right apex, and open to their own tenant alone.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::super::entities::ZoneRow;
use super::super::super::hosts::is_ours;
use super::super::super::readings::{Answer, DnsReading};
use super::super::super::source::{Gap, GapKind, Seen};
use super::super::{Cx, FieldDiff, Seed, diff, fabric};
use super::zones_of;
use crate::backends::powerdns::model::{ZoneHead, ZoneMetadata};
use crate::backends::powerdns::{Knowledge, Name, Part};
use crate::inventory::Class;
use crate::site::names::owns_key;

/// Rows in tenant order, forward zone first; those of nobody last.
pub(super) fn rows(cx: &Cx<'_>, dns: &DnsReading) -> Vec<ZoneRow> {
    let mut rows: Vec<ZoneRow> = Vec::new();
    let mut owned = BTreeSet::new();
    for seed in cx.holders() {
        for zone in zones_of(cx, seed) {
            rows.push(row(cx, dns, Some(seed), &zone));
            owned.insert(zone);
        }
    }
    let others = dns.zones.as_ref().map(|list| list.iter()).into_iter().flatten();
    let others = others.filter(|head| is_ours(cx.site, &head.name) && !owned.contains(&head.name));
    rows.extend(others.map(|head| row(cx, dns, None, &head.name)));
    rows
}

/// What was seen of a zone.
struct Facts {
    exists: Seen<bool>,
    kind: Seen<String>,
    serial: Seen<Option<u32>>,
    nameservers: Seen<Vec<String>>,
    /// First field of the SOA; `None` where there is no SOA.
    primary: Seen<Option<String>>,
    keys: Seen<Vec<String>>,
    networks: Seen<Vec<String>>,
    unsigned: Seen<bool>,
    rrsets: Seen<usize>,
}

fn row(cx: &Cx<'_>, dns: &DnsReading, seed: Option<&Seed>, zone: &Name) -> ZoneRow {
    let facts = if dns.reach.has_api() { by_api(dns, zone) } else { by_queries(dns, zone) };
    let stale = super::stale(cx);
    let (mut diffs, mut class, mut word) = (Vec::new(), Class::Fine, "present".to_owned());
    let old = dns.old.get(zone);
    let hole = [facts.exists.as_ref().err(), old, facts.nameservers.as_ref().err(), facts.keys.as_ref().err()];
    if let Some(gap) = hole.into_iter().flatten().find(|gap| gap.kind != GapKind::Off) {
        (class, word) = (Class::Unknown, gap.word().to_owned());
    }
    match seed {
        _ if stale.is_some() => (class, word) = (Class::Unknown, "unknown".to_owned()),
        None => (class, word) = (Class::Info, "no tenant's".to_owned()),
        Some(seed) => {
            for (found, words, difference) in judge(cx, dns, seed, zone, &facts) {
                if found > class || diffs.is_empty() {
                    (class, word) = (found, words.to_owned());
                }
                diffs.push(difference);
            }
        }
    }
    ZoneRow {
        tenant: seed.map(|s| Arc::clone(&s.name)),
        zone: zone.text(),
        exists: facts.exists,
        kind: facts.kind,
        serial: facts.serial,
        perimeter_serial: super::perimeter(cx, dns, &(zone.clone(), "SOA"))
            .map(|answer| answer.soa.as_ref().filter(|(owner, _)| owner == zone).map(|(_, serial)| *serial)),
        nameservers: facts.nameservers,
        keys: facts.keys,
        unsigned_updates: facts.unsigned,
        records_gap: old.or(facts.rrsets.as_ref().err().filter(|gap| gap.kind != GapKind::Off)).cloned(),
        rrsets: facts.rrsets,
        diffs,
        class,
        word: word.into(),
    }
}

/// What is not as derived, in class and words.
fn judge(
    cx: &Cx<'_>,
    dns: &DnsReading,
    seed: &Seed,
    zone: &Name,
    facts: &Facts,
) -> Vec<(Class, &'static str, FieldDiff)> {
    let object = format!("zone {zone}");
    let mut out = Vec::new();
    let mut found = |class, words, field: &str, expected: &str, observed: &str| {
        out.push((class, words, diff(object.clone(), field, expected, observed)));
    };
    if facts.exists == Ok(false) {
        found(fabric::due(cx, seed).absent(), "zone missing", "zone", "present", "absent");
        return out;
    }
    if let Ok(kind) = &facts.kind
        && kind != "native"
    {
        found(Class::Differs, "kind differs", "kind", "native", kind);
    }
    if let Some(ns) = cx.site.powerdns.as_ref().and_then(|p| p.nameserver.as_deref()).map(Name::new) {
        let old = dns.old.contains_key(zone);
        if let Ok(seen) = &facts.nameservers
            && !old
            && seen.as_slice() != [ns.as_str()]
        {
            found(Class::Differs, "NS differs", "NS", ns.as_str(), &joined(seen));
        }
        match facts.primary.as_ref().ok().filter(|_| !old) {
            Some(None) => found(Class::Fault, "no SOA", "SOA", ns.as_str(), "–"),
            Some(Some(seen)) if seen != ns.as_str() => {
                found(Class::Differs, "SOA differs", "SOA MNAME", ns.as_str(), seen)
            }
            _ => {}
        }
    }
    updates(cx, dns, seed, facts, &mut found);
    out
}

/// Who may update the zone. A list of keys that is empty may be an open zone (facts/dns.md §0.3).
fn updates(
    cx: &Cx<'_>,
    dns: &DnsReading,
    seed: &Seed,
    facts: &Facts,
    found: &mut impl FnMut(Class, &'static str, &str, &str, &str),
) {
    const KEYS: &str = "TSIG-ALLOW-DNSUPDATE";
    let own = Name::new(&seed.name);
    if let Ok(keys) = &facts.keys {
        if keys.iter().any(|key| !owns_key(own.as_str(), key)) {
            found(Class::Fault, "foreign key", KEYS, own.as_str(), &joined(keys));
        } else if keys.is_empty() && facts.unsigned == Ok(true) {
            found(Class::Fault, "unsigned updates", KEYS, own.as_str(), "empty: updates need no signature");
        } else if keys.is_empty() {
            found(Class::Differs, "no key", KEYS, own.as_str(), "–");
        } else if let Ok(known) = &dns.keys
            && !known.iter().any(|key| keys.iter().any(|listed| listed == key.name.as_str()))
        {
            found(Class::Differs, "key missing", "TSIG key", own.as_str(), "absent");
        }
    }
    let site: BTreeSet<String> =
        cx.site.powerdns.iter().flat_map(|p| p.update_networks.iter().map(ToString::to_string)).collect();
    if let (Ok(seen), false) = (&facts.networks, site.is_empty()) {
        let seen: BTreeSet<String> = seen.iter().cloned().collect();
        if seen != site {
            let text = |set: &BTreeSet<String>| joined(&set.iter().cloned().collect::<Vec<_>>());
            found(Class::Differs, "networks differ", "ALLOW-DNSUPDATE-FROM", &text(&site), &text(&seen));
        }
    }
}

fn joined(list: &[String]) -> String {
    if list.is_empty() { "–".to_owned() } else { list.join(", ") }
}

fn by_api(dns: &DnsReading, zone: &Name) -> Facts {
    let head: Seen<Option<&ZoneHead>> =
        dns.zones.as_ref().map(|list| list.iter().find(|head| head.name == *zone)).map_err(Clone::clone);
    let absent = || Gap::new(GapKind::Off, "there is no such zone");
    let there = |what: &str| match &head {
        Err(gap) => gap.clone(),
        Ok(None) => absent(),
        Ok(Some(_)) => Gap::not_read(what),
    };
    let content = dns.content.get(zone).cloned().unwrap_or_else(|| Err(there("the zone's records")));
    let metadata = dns.metadata.get(zone).cloned().unwrap_or_else(|| Err(there("the zone's metadata")));
    let apex = |kind: &str| content.as_ref().map(|z| z.rrset(zone, kind)).map_err(Clone::clone);
    let served = |set: Option<&crate::backends::powerdns::model::RrSet>| {
        set.into_iter().flat_map(|s| &s.records).filter(|r| !r.disabled).map(|r| r.content.clone()).collect::<Vec<_>>()
    };
    Facts {
        exists: head.as_ref().map(Option::is_some).map_err(Clone::clone),
        kind: head.clone().and_then(|h| h.map(|h| h.kind.to_string()).ok_or_else(absent)),
        serial: head.clone().map(|h| h.and_then(|h| h.serial)),
        nameservers: apex("NS").map(|set| {
            let mut names: Vec<String> = served(set).iter().map(|c| c.target().as_str().to_owned()).collect();
            names.sort();
            names
        }),
        primary: apex("SOA").map(|set| {
            let first = served(set).into_iter().next();
            first.map(|c| Name::new(c.to_string().split(' ').next().unwrap_or_default()).as_str().to_owned())
        }),
        keys: metadata.as_ref().map(|m| names(&m.update_keys())).map_err(Clone::clone),
        networks: metadata.as_ref().map(|m| networks(m)).map_err(Clone::clone),
        unsigned: metadata.as_ref().map_err(Clone::clone).and_then(|m| {
            let settings = dns.settings.as_ref().map_err(Clone::clone)?;
            let policy = "a policy script decides alone, or a setting that says who may update is missing";
            m.takes_unsigned_updates(settings).ok_or_else(|| Gap::new(GapKind::Failed, policy))
        }),
        rrsets: content.as_ref().map(|z| z.rrsets.len()).map_err(Clone::clone),
    }
}

fn names(all: &[Name]) -> Vec<String> {
    all.iter().map(|name| name.as_str().to_owned()).collect()
}

/// Networks in one form, cleaned.
fn networks(metadata: &ZoneMetadata) -> Vec<String> {
    let one = |text: &String| {
        text.trim()
            .parse::<ipnet::IpNet>()
            .map_or_else(|_| crate::text::clean(text).into_owned(), |net| net.to_string())
    };
    metadata.update_networks().iter().map(one).collect()
}

fn by_queries(dns: &DnsReading, zone: &Name) -> Facts {
    let answer = |kind: &'static str| {
        dns.authority.get(&(zone.clone(), kind)).cloned().unwrap_or_else(|| Err(Gap::not_read("the zone")))
    };
    let soa = answer("SOA");
    let off = |part| match dns.reach.knows(part) {
        Knowledge::Unknowable(why) => Gap::new(GapKind::Off, why),
        _ => Gap::not_read("the zone"),
    };
    Facts {
        exists: soa.as_ref().map_err(Clone::clone).and_then(|a| is_served(a)),
        kind: Err(off(Part::ZoneList)),
        serial: soa
            .as_ref()
            .map(|a| a.soa.as_ref().filter(|(owner, _)| owner == zone).map(|(_, serial)| *serial))
            .map_err(Clone::clone),
        nameservers: answer("NS").and_then(|a| known(&a).map(|()| a.records.clone())),
        primary: soa.and_then(|a| {
            known(&a)?;
            Ok(a.records.first().and_then(|r| r.split(' ').next()).map(str::to_owned))
        }),
        keys: Err(off(Part::Metadata)),
        networks: Err(off(Part::Metadata)),
        unsigned: Err(off(Part::Metadata)),
        rrsets: Err(off(Part::AllRecords)),
    }
}

/// Whether the authority serves the zone of this SOA answer. It refuses questions about zones that it does not have.
fn is_served(answer: &Answer) -> Seen<bool> {
    match answer.code.as_str() {
        "REFUSED" | "NOTAUTH" => Ok(false),
        "NOERROR" | "NXDOMAIN" if !answer.authoritative => Err(no_authority(answer)),
        "NOERROR" => Ok(!answer.records.is_empty()),
        "NXDOMAIN" => Ok(false),
        other => Err(Gap::new(GapKind::Failed, format!("{} answers {other}", answer.server.ip()))),
    }
}

/// A cache or a forwarder says what it once heard, not what the zone holds (facts/dns.md §7).
fn no_authority(answer: &Answer) -> Gap {
    Gap::new(GapKind::Failed, format!("{} answers without authority: is it a cache?", answer.server.ip()))
}

/// Whether an answer says what is and what is not.
pub(super) fn known(answer: &Answer) -> Seen<()> {
    match answer.code.as_str() {
        "NOERROR" | "NXDOMAIN" if !answer.authoritative => Err(no_authority(answer)),
        "NOERROR" | "NXDOMAIN" | "REFUSED" => Ok(()),
        other => Err(Gap::new(GapKind::Failed, format!("{} answers {other}", answer.server.ip()))),
    }
}
