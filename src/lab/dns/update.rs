//! Dynamic updates (RFC 2136), checked in the order of PowerDNS: signature, source, key, zone, names, prerequisites,
//! and only then the changes (facts/dns.md §5).

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::str::FromStr as _;

use hickory_proto::op::{Message, ResponseCode};
use hickory_proto::rr::{DNSClass, Record, RecordType};
use ipnet::Ipv4Net;

use super::tsig::Signature;
use super::wire;
use crate::lab::names::{ALLOW_FROM, ALLOW_KEY, Names, Rrset, Zone, closest};
use crate::lab::state::World;

/// Where requests come from in the invented site: the machine that operators log in to. On loopback they all look alike.
const OPERATORS: Ipv4Addr = Ipv4Addr::new(10, 20, 99, 95);

/// What an update has changed: sets that are other now, or gone.
#[derive(Debug, Clone)]
pub(in crate::lab) struct Change {
    origin: String,
    serial_stuck: bool,
    sets: Vec<((String, String), Option<Rrset>)>,
}

impl Change {
    fn between(origin: &str, before: &Zone, after: &Zone) -> Self {
        let keys: BTreeSet<_> = before.rrsets.keys().chain(after.rrsets.keys()).collect();
        let other = keys.into_iter().filter(|key| before.rrsets.get(*key) != after.rrsets.get(*key));
        let sets = other.map(|key| (key.clone(), after.rrsets.get(key).cloned())).collect();
        Self { origin: origin.to_owned(), serial_stuck: false, sets }
    }

    /// Makes the change in the same zone of another state, where faults may not have been at work.
    pub(in crate::lab) fn apply(&self, names: &mut Names, now: i64) {
        let Some(zone) = names.zones.get_mut(&self.origin) else { return };
        let own_serial = self.sets.iter().any(|((_, kind), _)| kind == "SOA");
        for (key, set) in &self.sets {
            match set {
                Some(set) => zone.rrsets.insert(key.clone(), set.clone()),
                None => zone.rrsets.remove(key),
            };
        }
        if !own_serial && !self.serial_stuck {
            zone.bump_by_update(&self.origin, now);
        }
    }
}

/// The answer, and what it has changed.
pub(super) fn answer(world: &World, request: &Message, signature: &Signature) -> (Message, Option<Change>) {
    let (code, changed) = match checked(world, request, signature) {
        Ok(changed) => (ResponseCode::NoError, changed),
        Err(code) => (code, None),
    };
    let mut response = wire::response(request, code);
    response.metadata.authoritative = true;
    (response, changed)
}

fn checked(world: &World, request: &Message, signature: &Signature) -> Result<Option<Change>, ResponseCode> {
    if matches!(signature, Signature::Bad) {
        return Err(ResponseCode::Refused);
    }
    let (origin, _) = wire::question(request).ok_or(ResponseCode::FormErr)?;
    // A zone that is not here has no list of networks, so that nobody may update it.
    let (held, zone) = closest(&world.names.zones, &origin).ok_or(ResponseCode::Refused)?;
    if *held != origin || zone.unserved {
        return Err(ResponseCode::Refused);
    }
    admitted(zone, signature)?;
    // A copy passes updates on, and this one has nobody to pass them to.
    if zone.copy {
        return Err(ResponseCode::ServFail);
    }
    let inside = |record: &&Record| {
        let name = wire::name_text(&record.name);
        name == origin || name.ends_with(&format!(".{origin}"))
    };
    // In an update the answer section holds the prerequisites and the authority section the changes.
    if !request.answers.iter().chain(&request.authorities).all(|record| inside(&record)) {
        return Err(ResponseCode::NotZone);
    }
    prerequisites(zone, &request.answers)?;
    let mut after = zone.clone();
    for record in &request.authorities {
        change(&mut after, &origin, record)?;
    }
    let mut change = Change::between(&origin, zone, &after);
    change.serial_stuck = world.names.writing.serial_stuck;
    Ok((!change.sets.is_empty()).then_some(change))
}

/// Source and key. An empty list of keys lets every key and no key in: an open zone, not a closed one.
fn admitted(zone: &Zone, signature: &Signature) -> Result<(), ResponseCode> {
    let none = Vec::new();
    for network in zone.metadata.get(ALLOW_FROM).unwrap_or(&none) {
        if network.parse::<Ipv4Net>().is_err() {
            return Err(ResponseCode::ServFail);
        }
    }
    let from = |network: &String| network.parse().is_ok_and(|net: Ipv4Net| net.contains(&OPERATORS));
    if !zone.metadata.get(ALLOW_FROM).is_some_and(|networks| networks.iter().any(from)) {
        return Err(ResponseCode::Refused);
    }
    let keys = zone.metadata.get(ALLOW_KEY).unwrap_or(&none);
    let named = |key: &str| keys.iter().any(|allowed| allowed.trim_end_matches('.').eq_ignore_ascii_case(key));
    match signature {
        _ if keys.is_empty() => Ok(()),
        Signature::Good(key) if named(&key.name) => Ok(()),
        _ => Err(ResponseCode::Refused),
    }
}

fn prerequisites(zone: &Zone, wanted: &[Record]) -> Result<(), ResponseCode> {
    let mut exact: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for record in wanted {
        let name = wire::name_text(&record.name);
        let any = record.record_type() == RecordType::ANY;
        let key = (name.clone(), record.record_type().to_string());
        let name_there = zone.rrsets.keys().any(|(owner, _)| *owner == name);
        let set_there = zone.rrsets.contains_key(&key);
        match record.dns_class {
            DNSClass::ANY if any && !name_there => return Err(ResponseCode::NXDomain),
            DNSClass::ANY if !any && !set_there => return Err(ResponseCode::NXRRSet),
            DNSClass::NONE if any && name_there => return Err(ResponseCode::YXDomain),
            DNSClass::NONE if !any && set_there => return Err(ResponseCode::YXRRSet),
            DNSClass::IN => exact.entry(key).or_default().push(wire::content(&record.data)),
            _ => {}
        }
    }
    for ((name, kind), mut contents) in exact {
        let mut held = zone.contents(&name, &kind);
        held.sort();
        contents.sort();
        if held != contents {
            return Err(ResponseCode::NXRRSet);
        }
    }
    Ok(())
}

fn change(zone: &mut Zone, origin: &str, record: &Record) -> Result<(), ResponseCode> {
    let name = wire::name_text(&record.name);
    let kind = record.record_type();
    let key = (name.clone(), kind.to_string());
    let at_apex = |kind: &str| name == origin && matches!(kind, "SOA" | "NS");
    match record.dns_class {
        DNSClass::IN => add(zone, &name, record),
        DNSClass::ANY if kind == RecordType::ANY => {
            zone.rrsets.retain(|(owner, held), _| *owner != name || at_apex(held));
            Ok(())
        }
        DNSClass::ANY => {
            // Apex SOA and NS stay, and the answer does not say so.
            if !at_apex(&key.1) {
                zone.rrsets.remove(&key);
            }
            Ok(())
        }
        DNSClass::NONE => {
            remove_one(zone, &key, &wire::content(&record.data), at_apex(&key.1));
            Ok(())
        }
        _ => Err(ResponseCode::FormErr),
    }
}

fn remove_one(zone: &mut Zone, key: &(String, String), content: &str, apex: bool) {
    let Some(set) = zone.rrsets.get_mut(key) else { return };
    if apex && (key.1 == "SOA" || set.records.len() == 1) {
        return;
    }
    set.records.retain(|(held, _)| held != content);
    set.comments.clear();
    if set.records.is_empty() {
        zone.rrsets.remove(key);
    }
}

fn add(zone: &mut Zone, name: &str, record: &Record) -> Result<(), ResponseCode> {
    let kind = record.record_type().to_string();
    if RecordType::from_str(&kind).is_err() || kind.starts_with("TYPE") {
        return Err(ResponseCode::FormErr);
    }
    let beside = |other: &str| (other == "CNAME") != (kind == "CNAME");
    if zone.rrsets.iter().any(|((owner, held), set)| owner == name && beside(held) && set.served().next().is_some()) {
        return Err(ResponseCode::Refused);
    }
    let content = wire::content(&record.data);
    let set = zone.rrsets.entry((name.to_owned(), kind.clone())).or_default();
    if kind == "SOA" || kind == "CNAME" {
        set.records.clear();
    }
    if !set.records.iter().any(|(held, _)| *held == content) {
        set.records.push((content, false));
    }
    // All records of a set share one TTL: the last one sent.
    set.ttl = record.ttl;
    Ok(())
}
