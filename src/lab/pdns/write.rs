//! The writing side of the PowerDNS API (facts/dns.md §2–§4): what is refused, in the words of 4.7 to 4.9, and what is done.

use std::net::{Ipv4Addr, Ipv6Addr};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::{HIDDEN, failed, held_metadata, tsig, whole, zone};
use crate::lab::http::{Answer, Call, Payload};
use crate::lab::names::{Names, PLACEHOLDER, Rrset, TsigKey, Zone};
use crate::lab::state::{World, mix};

/// What a request does.
pub(in crate::lab) type Op = Box<dyn Fn(&mut Names) + Send + Sync>;

/// Kinds of metadata that 4.7 takes, as far as they matter here; those with `X-` in front beside them.
const KINDS: &[&str] = &[
    "ALLOW-AXFR-FROM",
    "ALLOW-DNSUPDATE-FROM",
    "ALSO-NOTIFY",
    "AXFR-SOURCE",
    "FORWARD-DNSUPDATE",
    "IXFR",
    "NOTIFY-DNSUPDATE",
    "PUBLISH-CDNSKEY",
    "PUBLISH-CDS",
    "SLAVE-RENOTIFY",
    "SOA-EDIT",
    "SOA-EDIT-DNSUPDATE",
    "TSIG-ALLOW-DNSUPDATE",
];
/// Algorithms of keys.
const ALGORITHMS: &[&str] =
    &["hmac-md5", "hmac-sha1", "hmac-sha224", "hmac-sha256", "hmac-sha384", "hmac-sha512", "gss-tsig"];

/// A refusal: status and reason.
type Refusal = (u16, String);
type Judged = Result<(Answer, Op), Refusal>;

fn unprocessable(reason: impl Into<String>) -> Refusal {
    (422, reason.into())
}

/// The answer to a change whose key is right, and what it does; `None` for what no version has.
pub(super) fn judge(world: &World, now: i64, call: &Call, parts: &[&str]) -> Option<(Answer, Option<Op>)> {
    let names = &world.names;
    let ["localhost", rest @ ..] = parts else { return None };
    if names.recursor {
        return None;
    }
    let absent = || (404, "Not Found".to_owned());
    let judged: Judged = match (rest, call.method.as_str()) {
        (["zones"], "POST") => create(names, now, call),
        (["zones", id, more @ ..], method) => match (zone(names, id), more, method) {
            (None, [] | ["metadata", ..], "PATCH" | "PUT" | "POST" | "DELETE") => Err(absent()),
            (Some((origin, held)), [], "PATCH") => patch(names, now, call, origin, held),
            (Some((origin, _)), [], "PUT") => settings(call, origin),
            (Some((origin, _)), [], "DELETE") => Ok(delete_zone(origin)),
            (Some((origin, _)), ["metadata", kind], "PUT") => metadata(call, origin, kind),
            (Some((origin, _)), ["metadata", kind], "DELETE") => delete_metadata(origin, kind),
            _ => return None,
        },
        (["tsigkeys"], "POST") => create_key(world, now, call),
        (["tsigkeys", id], "DELETE") => {
            let name = id.trim_end_matches('.').to_lowercase();
            match names.keys.contains_key(&name) {
                true => Ok((empty(), Box::new(move |names: &mut Names| drop(names.keys.remove(&name))))),
                false => Err((404, format!("TSIG key with name '{name}' not found"))),
            }
        }
        _ => return None,
    };
    let judged: Judged = match judged {
        // A back end that cannot be written, e.g. files.
        Ok(_) if names.writing.refused => Err(unprocessable("Hosting backend does not support editing records.")),
        other => other,
    };
    Some(match judged {
        Ok((answer, op)) => (answer, Some(op)),
        Err((status, reason)) => (failed(call, status, &reason), None),
    })
}

fn empty() -> Answer {
    Answer::new(204, Payload::Empty)
}

fn body(call: &Call) -> Result<Map<String, Value>, Refusal> {
    match serde_json::from_slice(&call.body) {
        Ok(Value::Object(map)) => Ok(map),
        _ => Err((400, "Bad Request".to_owned())),
    }
}

fn text<'a>(map: &'a Map<String, Value>, key: &str) -> Result<&'a str, Refusal> {
    let missing = || unprocessable(format!("Key '{key}' not present or not a String"));
    map.get(key).and_then(Value::as_str).ok_or_else(missing)
}

fn canonical(name: &str) -> Result<String, Refusal> {
    match name.ends_with('.') {
        true => Ok(name.to_lowercase()),
        false => Err(unprocessable(format!("DNS Name '{name}' is not canonical"))),
    }
}

fn create(names: &Names, now: i64, call: &Call) -> Judged {
    let map = body(call)?;
    let origin = canonical(text(&map, "name")?)?;
    if names.zones.contains_key(&origin) {
        return Err((409, "Conflict".to_owned()));
    }
    let copy = matches!(text(&map, "kind")?.to_lowercase().as_str(), "slave" | "secondary");
    let word = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut made = Zone { account: word("account").unwrap_or_default(), copy, ..Zone::default() };
    made.soa_edit_api = word("soa_edit_api");
    for set in map.get("rrsets").and_then(Value::as_array).into_iter().flatten() {
        let (key, set) = read_set(set, &origin, now)?;
        made.rrsets.insert(key, set);
    }
    let servers: Vec<&str> =
        map.get("nameservers").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    if let Some(odd) = servers.iter().find(|server| !server.ends_with('.')) {
        return Err(unprocessable(format!("Nameserver is not canonical: '{odd}'")));
    }
    if !servers.is_empty() {
        let records = servers.iter().map(|server| ((*server).to_owned(), false)).collect();
        made.set(&origin, "NS", Rrset { ttl: 3600, records, comments: Vec::new() });
    }
    if !copy && made.contents(&origin, "SOA").is_empty() {
        let soa = format!("{PLACEHOLDER} hostmaster.{origin} 0 10800 3600 604800 3600");
        made.set(&origin, "SOA", Rrset::one(3600, &soa));
    }
    made.bump_by_api(&origin, now);
    let answer = Answer::new(201, Payload::Json(whole(&origin, &made, call)));
    Ok((answer, Box::new(move |names| drop(names.zones.insert(origin.clone(), made.clone())))))
}

fn delete_zone(origin: &str) -> (Answer, Op) {
    let origin = origin.to_owned();
    (empty(), Box::new(move |names| drop(names.zones.remove(&origin))))
}

fn settings(call: &Call, origin: &str) -> Judged {
    let map = body(call)?;
    let origin = origin.to_owned();
    let word = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
    let (kind, edit, account) = (word("kind"), word("soa_edit_api"), word("account"));
    let op = move |names: &mut Names| {
        let Some(zone) = names.zones.get_mut(&origin) else { return };
        if let Some(kind) = &kind {
            zone.copy = matches!(kind.to_lowercase().as_str(), "slave" | "secondary");
        }
        if let Some(edit) = &edit {
            zone.soa_edit_api = Some(edit.clone());
        }
        if let Some(account) = &account {
            zone.account.clone_from(account);
        }
    };
    Ok((empty(), Box::new(op)))
}

fn known(kind: &str) -> Result<(), Refusal> {
    let taken = !HIDDEN.contains(&kind) && (KINDS.contains(&kind) || kind.starts_with("X-"));
    if taken { Ok(()) } else { Err(unprocessable(format!("Unsupported metadata kind '{kind}'"))) }
}

fn metadata(call: &Call, origin: &str, kind: &str) -> Judged {
    let map = body(call)?;
    known(kind)?;
    let Some(values) = map.get("metadata").and_then(Value::as_array) else {
        return Err(unprocessable("metadata is not specified or not an array"));
    };
    let values: Vec<String> = values.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let answer = Answer::json(held_metadata(kind, &values));
    let (origin, kind) = (origin.to_owned(), kind.to_owned());
    let op = move |names: &mut Names| {
        let Some(zone) = names.zones.get_mut(&origin) else { return };
        match values.is_empty() {
            true => drop(zone.metadata.remove(&kind)),
            false => drop(zone.metadata.insert(kind.clone(), values.clone())),
        }
    };
    Ok((answer, Box::new(op)))
}

fn delete_metadata(origin: &str, kind: &str) -> Judged {
    known(kind)?;
    let (origin, kind) = (origin.to_owned(), kind.to_owned());
    let op = move |names: &mut Names| {
        if let Some(zone) = names.zones.get_mut(&origin) {
            zone.metadata.remove(&kind);
        }
    };
    Ok((empty(), Box::new(op)))
}

fn create_key(world: &World, now: i64, call: &Call) -> Judged {
    let map = body(call)?;
    let name = text(&map, "name")?.trim_end_matches('.').to_lowercase();
    let algorithm = text(&map, "algorithm")?.to_lowercase();
    if world.names.keys.contains_key(&name) {
        return Err((409, format!("A TSIG key with the name '{name}' already exists")));
    }
    if !ALGORITHMS.contains(&algorithm.as_str()) {
        return Err((400, format!("Invalid TSIG algorithm: {algorithm}")));
    }
    let secret = match map.get("key").and_then(Value::as_str).filter(|key| !key.is_empty()) {
        Some(key) => {
            STANDARD.decode(key).map_err(|_| unprocessable(format!("TSIG content '{key}' cannot be base64-decoded")))?
        }
        None => (0..8).flat_map(|n| mix(world.seed, &format!("key {name} {now} {n}")).to_be_bytes()).collect(),
    };
    let key = TsigKey { algorithm, secret };
    let answer = Answer::new(201, Payload::Json(tsig(&name, &key, true)));
    Ok((answer, Box::new(move |names| drop(names.keys.insert(name.clone(), key.clone())))))
}

/// Text, account and time of a comment.
type Comment = (String, String, i64);

/// What becomes of one set.
enum Edit {
    Put(Option<Rrset>, Option<Vec<Comment>>),
    Gone,
}

fn patch(names: &Names, now: i64, call: &Call, origin: &str, zone: &Zone) -> Judged {
    let map = body(call)?;
    let Some(sets) = map.get("rrsets").and_then(Value::as_array) else {
        return Err(unprocessable("No rrsets given in update request"));
    };
    let mut edits: Vec<((String, String), Edit)> = Vec::new();
    for set in sets {
        let edit = read_edit(set, origin, now)?;
        if edits.iter().any(|(key, _)| *key == edit.0) {
            let word = set.get("changetype").and_then(Value::as_str).unwrap_or_default().to_uppercase();
            let (name, kind) = edit.0;
            return Err(unprocessable(format!("Duplicate RRset {name} IN {kind} with changetype: {word}")));
        }
        edits.push(edit);
    }
    let mut after = zone.clone();
    apply(&mut after, &edits);
    beside_an_alias(&after, &edits)?;
    let (origin, rival, stuck) = (origin.to_owned(), names.writing.rival, names.writing.serial_stuck);
    let op = move |names: &mut Names| {
        let Some(zone) = names.zones.get_mut(&origin) else { return };
        apply(zone, &edits);
        if rival {
            outdo(zone, &edits);
        }
        for _ in 0..if stuck { 0 } else { 1 + u32::from(rival) } {
            zone.bump_by_api(&origin, now);
        }
    };
    Ok((empty(), Box::new(op)))
}

fn apply(zone: &mut Zone, edits: &[((String, String), Edit)]) {
    for (key, edit) in edits {
        match edit {
            Edit::Gone => drop(zone.rrsets.remove(key)),
            Edit::Put(set, comments) => {
                let held = zone.rrsets.entry(key.clone()).or_default();
                if let Some(set) = set {
                    held.ttl = set.ttl;
                    held.records.clone_from(&set.records);
                }
                if let Some(comments) = comments {
                    held.comments.clone_from(comments);
                }
                if held.records.is_empty() && held.comments.is_empty() {
                    zone.rrsets.remove(key);
                }
            }
        }
    }
}

/// Somebody else writes the same sets a moment later.
fn outdo(zone: &mut Zone, edits: &[((String, String), Edit)]) {
    for (key, _) in edits.iter().filter(|((_, kind), _)| !matches!(kind.as_str(), "SOA" | "NS")) {
        match key.1.as_str() {
            "A" => drop(zone.rrsets.insert(key.clone(), Rrset::one(300, "10.20.99.66"))),
            "PTR" => drop(zone.rrsets.insert(key.clone(), Rrset::one(300, "rival.mobile.deevnet.net."))),
            _ => drop(zone.rrsets.remove(key)),
        }
    }
}

fn beside_an_alias(after: &Zone, edits: &[((String, String), Edit)]) -> Result<(), Refusal> {
    for ((name, kind), edit) in edits {
        let puts = matches!(edit, Edit::Put(Some(_), _));
        let other = |(owner, held): &&(String, String)| owner == name && (held == "CNAME") != (kind == "CNAME");
        let alias = |(_, held): &(String, String)| kind == "CNAME" || held == "CNAME";
        if puts && after.rrsets.keys().filter(other).any(alias) {
            return Err(unprocessable(format!("RRset {name} IN {kind}: Conflicts with pre-existing RRset")));
        }
    }
    Ok(())
}

fn read_edit(set: &Value, origin: &str, now: i64) -> Result<((String, String), Edit), Refusal> {
    let none = Map::new();
    let map = set.as_object().unwrap_or(&none);
    let name = canonical(text(map, "name")?)?;
    let kind = text(map, "type")?.to_uppercase();
    let word = text(map, "changetype")?.to_uppercase();
    if name != origin && !name.ends_with(&format!(".{origin}")) {
        return Err(unprocessable(format!("RRset {name} IN {kind}: Name is out of zone")));
    }
    match word.as_str() {
        "DELETE" => Ok(((name, kind), Edit::Gone)),
        "REPLACE" => {
            let set = match map.contains_key("records") {
                true => Some(read_set(set, origin, now)?.1),
                false => None,
            };
            Ok(((name, kind), Edit::Put(set, comments(map, now)?)))
        }
        _ => Err(unprocessable("Changetype not understood")),
    }
}

fn comments(map: &Map<String, Value>, now: i64) -> Result<Option<Vec<Comment>>, Refusal> {
    let Some(rows) = map.get("comments").and_then(Value::as_array) else { return Ok(None) };
    let none = Map::new();
    let row = |row: &Value| {
        let map = row.as_object().unwrap_or(&none);
        let at = map.get("modified_at").and_then(Value::as_i64).unwrap_or(now);
        Ok((text(map, "content")?.to_owned(), text(map, "account")?.to_owned(), at))
    };
    rows.iter().map(row).collect::<Result<_, _>>().map(Some)
}

fn read_set(set: &Value, origin: &str, now: i64) -> Result<((String, String), Rrset), Refusal> {
    let none = Map::new();
    let map = set.as_object().unwrap_or(&none);
    let name = canonical(text(map, "name")?)?;
    let kind = text(map, "type")?.to_uppercase();
    let ttl = map.get("ttl").and_then(Value::as_u64).and_then(|ttl| u32::try_from(ttl).ok());
    let ttl = ttl.ok_or_else(|| unprocessable("Key 'ttl' not an Integer or not present"))?;
    let mut records: Vec<(String, bool)> = Vec::new();
    for row in map.get("records").and_then(Value::as_array).into_iter().flatten() {
        let row = row.as_object().unwrap_or(&none);
        let content = text(row, "content")?;
        read_content(&kind, content)
            .map_err(|why| unprocessable(format!("Record {name}/{kind} '{content}': {why}")))?;
        if records.iter().any(|(held, _)| held == content) {
            return Err(unprocessable(format!(
                "Duplicate record in RRset {name} IN {kind} with content \"{content}\""
            )));
        }
        records.push((content.to_owned(), row.get("disabled").and_then(Value::as_bool).unwrap_or(false)));
    }
    if matches!(kind.as_str(), "CNAME" | "SOA") && records.len() > 1 {
        return Err(unprocessable(format!("RRset {name} IN {kind} has more than one record")));
    }
    if kind == "SOA" && name != origin {
        return Err(unprocessable(format!("RRset {name} IN SOA: SOA records are only allowed at the zone apex")));
    }
    let comments = comments(map, now)?.unwrap_or_default();
    Ok(((name, kind), Rrset { ttl, records, comments }))
}

/// Content must be in its canonical form; what it would be is told.
fn read_content(kind: &str, content: &str) -> Result<(), String> {
    let dotted = || match content.ends_with('.') {
        true => Ok(()),
        false => Err(format!("Not in expected format (parsed as '{content}.')")),
    };
    match kind {
        "A" => match content.parse::<Ipv4Addr>() {
            Ok(_) => Ok(()),
            Err(_) => Err("unable to parse IP address".to_owned()),
        },
        "AAAA" => match content.parse::<Ipv6Addr>() {
            Ok(_) if !content.contains('.') => Ok(()),
            _ => Err("Invalid IPv6 address".to_owned()),
        },
        "TXT" if !content.starts_with('"') && content.contains(' ') => {
            Err("Data field in DNS should start with quote (\") at position 0 of".to_owned())
        }
        "TXT" if !content.starts_with('"') => Err(format!("Not in expected format (parsed as '\"{content}\"')")),
        "CNAME" | "NS" | "PTR" | "MX" | "SRV" => dotted(),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::read_content;

    #[test]
    fn contents_are_taken_in_their_canonical_form_only() {
        for (kind, content) in [("A", "10.0.0.1"), ("AAAA", "::1"), ("TXT", "\"a b\""), ("PTR", "a.b.")] {
            assert_eq!(read_content(kind, content), Ok(()));
        }
        for (kind, content) in [("A", "010.0.0.1"), ("AAAA", "::ffff:1.2.3.4"), ("TXT", "plain"), ("MX", "10 mail")] {
            assert!(read_content(kind, content).is_err(), "{kind} {content}");
        }
    }
}
