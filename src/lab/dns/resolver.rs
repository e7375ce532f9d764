//! What the perimeter's resolver answers, as Unbound does under OPNsense's configuration (facts/dns.md §6).

use std::collections::BTreeMap;
use std::str::FromStr as _;

use hickory_proto::op::{Message, OpCode, ResponseCode};
use hickory_proto::rr::{RData, Record, RecordType};
use ipnet::Ipv4Net;

use super::{auth, wire};
use crate::lab::names::{AUTHORITATIVE, Rrset, closest};
use crate::lab::perimeter::{Forward, ForwardKind, Resolver};
use crate::lab::state::World;

/// Entries that are kept at most.
const CACHE_LIMIT: usize = 10_000;
/// Seconds a negative answer of a tenant's zone is kept.
const NEGATIVE_TTL: i64 = 3600;
/// Zones that the resolver serves itself, empty (RFC 6303), as far as the site's addresses touch them.
pub(in crate::lab) const BUILT_IN: &[&str] =
    &["10.in-addr.arpa.", "168.192.in-addr.arpa.", "127.in-addr.arpa.", "254.169.in-addr.arpa."];
/// Addresses that the rebinding filter takes out of answers.
pub(in crate::lab) const PRIVATE: &[&str] =
    &["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "127.0.0.0/8"];

/// Answers kept from upstream, for one state of the lab.
#[derive(Default)]
pub(in crate::lab) struct Cache {
    epoch: u64,
    entries: BTreeMap<(String, u16), (i64, Parts)>,
}

impl Cache {
    /// Forgets everything when the lab was changed by hand: what a fault did must not outlive it.
    pub(in crate::lab) fn at(&mut self, epoch: u64) -> &mut Self {
        if self.epoch != epoch {
            *self = Self { epoch, entries: BTreeMap::new() };
        }
        self
    }

    fn get(&self, key: &(String, u16), now: i64) -> Option<Parts> {
        let (at, parts) = self.entries.get(key)?;
        let age = u32::try_from(now - at).ok()?;
        let mut parts = parts.clone();
        for record in parts.answers.iter_mut().chain(&mut parts.authorities) {
            record.ttl = record.ttl.checked_sub(age).filter(|left| *left > 0)?;
        }
        Some(parts)
    }

    fn put(&mut self, key: (String, u16), now: i64, parts: &Parts) {
        let lasting = parts.answers.iter().chain(&parts.authorities).next().is_some();
        if !lasting || parts.code == ResponseCode::ServFail {
            return;
        }
        if self.entries.len() >= CACHE_LIMIT {
            self.entries.clear();
        }
        self.entries.insert(key, (now, parts.clone()));
    }
}

/// An answer without its header.
#[derive(Clone)]
struct Parts {
    code: ResponseCode,
    answers: Vec<Record>,
    authorities: Vec<Record>,
    /// Answered from the resolver's own data: `aa`.
    own: bool,
}

impl Parts {
    fn code(code: ResponseCode) -> Self {
        Self { code, answers: Vec::new(), authorities: Vec::new(), own: false }
    }
}

/// Answers a packet that came over UDP or TCP; `None` = silence.
pub(in crate::lab) fn packet(world: &World, cache: &mut Cache, now: i64, packet: &[u8], udp: bool) -> Option<Vec<u8>> {
    let request = Message::from_vec(packet).ok()?;
    if !world.perimeter.resolver.up {
        return None;
    }
    let Some((name, kind)) = wire::question(&request) else {
        return wire::bytes(&request, &wire::response(&request, ResponseCode::FormErr), udp);
    };
    if request.metadata.op_code != OpCode::Query {
        return wire::bytes(&request, &wire::response(&request, ResponseCode::NotImp), udp);
    }
    if !request.metadata.recursion_desired {
        let mut response = wire::response(&request, ResponseCode::Refused);
        wire::explain(&mut response, 20, "");
        return wire::bytes(&request, &response, udp);
    }
    let parts = own(world, &name, kind).or_else(|| kept(world, now, &name)).unwrap_or_else(|| {
        let key = (name.clone(), u16::from(kind));
        let unchecked = request.metadata.checking_disabled;
        match cache.get(&key, now) {
            Some(parts) if !bogus(world, &name) => parts,
            _ => {
                let parts = upstream(world, &name, kind, unchecked);
                cache.put(key, now, &parts);
                parts
            }
        }
    });
    let mut response = wire::response(&request, parts.code);
    response.metadata.recursion_available = true;
    response.metadata.authoritative = parts.own;
    response.add_answers(parts.answers);
    response.add_authorities(parts.authorities);
    wire::bytes(&request, &response, udp)
}

/// Local data and built-in zones.
fn own(world: &World, name: &str, kind: RecordType) -> Option<Parts> {
    let resolver = &world.perimeter.resolver;
    let mut parts = Parts { own: true, ..Parts::code(ResponseCode::NoError) };
    if name == "localhost." {
        if kind == RecordType::A {
            parts.answers = wire::records(name, "A", &Rrset::one(10_800, "127.0.0.1"));
        }
        return Some(parts);
    }
    let here = |(owner, _): &&(String, String)| owner == name;
    let held: Vec<&(String, String)> = resolver.local.rrsets.keys().filter(here).collect();
    if !held.is_empty() {
        let wanted = held.iter().filter(|(_, t)| RecordType::from_str(t).is_ok_and(|held| held == kind));
        let sets = wanted.filter_map(|key| Some((&key.1, resolver.local.rrsets.get(*key)?)));
        parts.answers = sets.flat_map(|(t, set)| wire::records(name, t, set)).collect();
        return Some(parts);
    }
    let built_in = BUILT_IN.iter().find(|zone| below(name, zone))?;
    // A plain forward of a reverse zone opens the built-in zone for it.
    let opened = forward(world, name).filter(|row| row.kind == ForwardKind::Forward);
    if opened.is_some_and(|row| !resolver.shadowed.contains(&row.domain)) {
        return None;
    }
    let soa = Rrset::one(10_800, "localhost. nobody.invalid. 1 3600 1200 604800 10800");
    parts.code = if name == *built_in { ResponseCode::NoError } else { ResponseCode::NXDomain };
    parts.authorities = wire::records(built_in, "SOA", &soa);
    Some(parts)
}

/// An NXDOMAIN from before the record was there, while it is kept.
fn kept(world: &World, now: i64, name: &str) -> Option<Parts> {
    let (zone, serial) = world.perimeter.resolver.negative.get(name)?;
    let left = NEGATIVE_TTL - (now - world.disturbed);
    let left = u32::try_from(left).ok().filter(|left| *left > 0)?;
    let soa = world.names.zones.get(zone).cloned().unwrap_or_default();
    let text = soa.contents(zone, "SOA").into_iter().next()?;
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    *words.get_mut(2)? = serial.to_string();
    let authorities = wire::records(zone, "SOA", &Rrset::one(left, &words.join(" ")));
    Some(Parts { authorities, ..Parts::code(ResponseCode::NXDomain) })
}

fn below(name: &str, zone: &str) -> bool {
    name == zone || name.ends_with(&format!(".{zone}"))
}

/// The enabled forward whose domain holds a name, the longest first.
fn forward<'a>(world: &'a World, name: &str) -> Option<&'a Forward> {
    let rows = world.perimeter.running().iter().filter(|row| row.enabled);
    rows.filter(|row| below(name, &format!("{}.", row.domain))).max_by_key(|row| row.domain.len())
}

fn bogus(world: &World, name: &str) -> bool {
    forward(world, name).is_some_and(|row| world.perimeter.resolver.bogus.contains(&row.domain))
}

/// Asks whoever is to be asked for a name.
fn upstream(world: &World, name: &str, kind: RecordType, unchecked: bool) -> Parts {
    let resolver = &world.perimeter.resolver;
    let Some(row) = forward(world, name) else { return filtered(world, public(resolver, name, kind)) };
    let port_53 = matches!(row.port.as_str(), "" | "53");
    // The authoritative server speaks no TLS. It is the lab's own under its address of loopback too, whatever the port.
    let own = row.server.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    let authoritative = own || (port_53 && row.server == AUTHORITATIVE);
    if row.kind == ForwardKind::Dot || !authoritative || !world.names.up {
        return Parts::code(ResponseCode::ServFail);
    }
    if resolver.bogus.contains(&row.domain) && !unchecked {
        return Parts::code(ResponseCode::ServFail);
    }
    let Some((origin, zone)) = closest(&world.names.zones, name)
        .filter(|(origin, zone)| !zone.unserved && !zone.contents(origin, "SOA").is_empty())
    else {
        // The server refuses: lame.
        return Parts::code(ResponseCode::ServFail);
    };
    filtered(world, parts(auth::look(origin, zone, name, kind)))
}

fn parts(found: auth::Found) -> Parts {
    Parts { code: found.code, answers: found.answers, authorities: found.authorities, own: false }
}

fn public(resolver: &Resolver, name: &str, kind: RecordType) -> Parts {
    match closest(&resolver.public, name) {
        Some((origin, zone)) => parts(auth::look(origin, zone, name, kind)),
        None => Parts::code(ResponseCode::ServFail),
    }
}

/// Takes private addresses out, except under domains that are exempt: no SOA is put in their place.
fn filtered(world: &World, mut parts: Parts) -> Parts {
    let before = parts.answers.len();
    parts.answers.retain(|record| match &record.data {
        RData::A(address) if private(address.0) => exempt(world, &wire::name_text(&record.name)),
        _ => true,
    });
    if parts.answers.len() < before && parts.answers.is_empty() {
        parts.authorities.clear();
    }
    parts
}

fn private(address: std::net::Ipv4Addr) -> bool {
    PRIVATE.iter().any(|network| network.parse().is_ok_and(|net: Ipv4Net| net.contains(&address)))
}

fn exempt(world: &World, name: &str) -> bool {
    let row = forward(world, name).filter(|row| row.kind == ForwardKind::Forward);
    row.is_some_and(|row| !world.perimeter.resolver.filtered.contains(&row.domain))
}
