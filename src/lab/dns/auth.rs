//! What the authoritative server answers, as PowerDNS does: `aa`, no recursion, REFUSED for what is not here
//! (facts/dns.md §5, §6).

use std::str::FromStr as _;

use hickory_proto::op::{Message, OpCode, ResponseCode};
use hickory_proto::rr::{Record, RecordType};

use super::{tsig, update, wire};
use crate::lab::names::{Rrset, Zone, closest};
use crate::lab::state::World;

/// CNAMEs that are followed inside the server.
const CHAIN: usize = 10;

/// What came of a request.
pub(in crate::lab) struct Answered {
    /// The message to send; `None` = silence.
    pub(in crate::lab) bytes: Option<Vec<u8>>,
    /// What an update has changed.
    pub(in crate::lab) changed: Option<update::Change>,
}

impl Answered {
    fn silence() -> Self {
        Self { bytes: None, changed: None }
    }
}

/// Answers a packet that came over UDP or TCP.
pub(in crate::lab) fn packet(world: &World, now: i64, packet: &[u8], udp: bool) -> Answered {
    let Ok(request) = Message::from_vec(packet) else { return Answered::silence() };
    // Updates that are too large for one datagram vanish (facts/dns.md §5).
    let oversized = udp && request.metadata.op_code == OpCode::Update && packet.len() > 1232;
    if !world.names.up || oversized {
        return Answered::silence();
    }
    let signature = tsig::verified(&world.names, now, packet, &request);
    let (response, changed) = match request.metadata.op_code {
        OpCode::Update => update::answer(world, &request, &signature),
        // A bad signature on a query is an unsigned NOTAUTH, whatever was asked.
        OpCode::Query if matches!(signature, tsig::Signature::Bad) => {
            let mut response = wire::response(&request, ResponseCode::NotAuth);
            response.metadata.authoritative = true;
            (response, None)
        }
        OpCode::Query if udp && asks_for_all(world, &request) => {
            let mut response = wire::response(&request, ResponseCode::NoError);
            response.metadata.authoritative = true;
            response.metadata.truncation = true;
            (response, None)
        }
        OpCode::Query => (answer(world, &request), None),
        _ => (wire::response(&request, ResponseCode::NotImp), None),
    };
    let bytes = match signature {
        tsig::Signature::Good(key) => tsig::signed(&key, now, response),
        _ => wire::bytes(&request, &response, udp),
    };
    Answered { bytes, changed }
}

/// A question for everything at a name of a zone that is here: over UDP it is sent to TCP (`any-to-tcp`).
fn asks_for_all(world: &World, request: &Message) -> bool {
    wire::question(request).is_some_and(|(name, kind)| {
        kind == RecordType::ANY && closest(&world.names.zones, &name).is_some_and(|(_, zone)| !zone.unserved)
    })
}

/// Answers a query.
pub(super) fn answer(world: &World, request: &Message) -> Message {
    let refused = || wire::response(request, ResponseCode::Refused);
    let Some((name, kind)) = wire::question(request) else { return wire::response(request, ResponseCode::FormErr) };
    let Some((origin, zone)) = closest(&world.names.zones, &name) else { return refused() };
    if zone.unserved || zone.contents(origin, "SOA").is_empty() {
        return refused();
    }
    let found = look(origin, zone, &name, kind);
    let mut response = wire::response(request, found.code);
    response.metadata.authoritative = !found.referral;
    response.add_answers(found.answers);
    response.add_authorities(found.authorities);
    response
}

/// What a zone says about a name.
pub(super) struct Found {
    pub(super) code: ResponseCode,
    pub(super) answers: Vec<Record>,
    pub(super) authorities: Vec<Record>,
    pub(super) referral: bool,
}

/// Looks a name up in a zone.
pub(super) fn look(origin: &str, zone: &Zone, name: &str, kind: RecordType) -> Found {
    let mut found =
        Found { code: ResponseCode::NoError, answers: Vec::new(), authorities: Vec::new(), referral: false };
    let mut owner = name.to_owned();
    for _ in 0..CHAIN {
        if let Some(cut) = delegation(origin, zone, &owner) {
            found.referral = found.answers.is_empty();
            found.authorities = cut;
            return found;
        }
        let here = records_at(zone, &owner);
        let wanted = here
            .iter()
            .filter(|(t, _)| kind == RecordType::ANY || RecordType::from_str(t).is_ok_and(|held| held == kind));
        let direct: Vec<Record> = wanted.flat_map(|(t, set)| wire::records(&owner, t, set)).collect();
        if !direct.is_empty() {
            found.answers.extend(direct);
            return found;
        }
        let alias = here.iter().find(|(t, _)| *t == "CNAME");
        let Some((t, set)) = alias else {
            let exists = !here.is_empty() || zone.rrsets.keys().any(|(below, _)| below.ends_with(&format!(".{owner}")));
            found.code = if exists { ResponseCode::NoError } else { ResponseCode::NXDomain };
            found.authorities = negative(origin, zone);
            return found;
        };
        found.answers.extend(wire::records(&owner, t, set));
        owner = set.served().next().unwrap_or_default().to_lowercase();
        if owner != origin && !owner.ends_with(&format!(".{origin}")) {
            return found;
        }
    }
    found.code = ResponseCode::ServFail;
    found
}

/// The sets at a name with something to serve, else those of the wildcard above it.
fn records_at<'a>(zone: &'a Zone, owner: &str) -> Vec<(&'a str, &'a Rrset)> {
    let at = |name: &str| -> Vec<(&'a str, &'a Rrset)> {
        let sets = zone.rrsets.iter().filter(|((n, _), set)| n == name && set.served().next().is_some());
        sets.map(|((_, kind), set)| (kind.as_str(), set)).collect()
    };
    let here = at(owner);
    match owner.split_once('.') {
        Some((_, parent)) if here.is_empty() => at(&format!("*.{parent}")),
        _ => here,
    }
}

/// NS of a child zone that was delegated above `owner`.
fn delegation(origin: &str, zone: &Zone, owner: &str) -> Option<Vec<Record>> {
    let mut cut = owner;
    while cut != origin {
        if let Some(set) = zone.rrsets.get(&(cut.to_owned(), "NS".to_owned()))
            && set.served().next().is_some()
        {
            return Some(wire::records(cut, "NS", set));
        }
        cut = cut.split_once('.')?.1;
    }
    None
}

/// The SOA of a negative answer, with the TTL that it may be kept: the smaller of its own and the minimum.
pub(super) fn negative(origin: &str, zone: &Zone) -> Vec<Record> {
    let Some(set) = zone.rrsets.get(&(origin.to_owned(), "SOA".to_owned())) else { return Vec::new() };
    let minimum = set.served().next().and_then(|soa| soa.rsplit(' ').next()?.parse().ok()).unwrap_or(set.ttl);
    let mut records = wire::records(origin, "SOA", set);
    for record in &mut records {
        record.ttl = record.ttl.min(minimum);
    }
    records
}
