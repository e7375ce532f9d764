//! The PowerDNS API, 4.9 (facts/dns.md §1–§4): pure functions from a request to an answer, and to what it changes.

mod write;

use base64::Engine as _;
use serde_json::{Value, json};

use super::http::{Answer, Call, Payload};
use super::names::{Names, Rrset, TsigKey, Zone};
use super::state::World;

pub(super) use write::Op;

/// Path of the one server.
const SERVER: &str = "/api/v1/servers/localhost";
/// Version it says it is.
const VERSION: &str = "4.9.17";
/// Metadata that the zone object holds instead.
const HIDDEN: &[&str] = &["API-RECTIFY", "SOA-EDIT-API"];

/// Answers a request that reads.
pub(super) fn answer(world: &World, now: i64, call: &Call) -> Answer {
    let rest = match admitted(world, call) {
        Ok(rest) => rest,
        Err(refusal) => return *refusal,
    };
    let parts: Vec<&str> = rest.trim_start_matches('/').split('/').collect();
    match parts.as_slice() {
        [""] if rest.is_empty() => Answer::json(json!([server(&world.names)])),
        ["localhost"] => Answer::json(server(&world.names)),
        ["localhost", rest @ ..] => inside(world, now, call, rest),
        _ => failed(call, 404, "Not Found"),
    }
}

/// Answers a request that changes something, and says what it does.
pub(super) fn write(world: &World, now: i64, call: &Call) -> (Answer, Option<Op>) {
    let rest = match admitted(world, call) {
        Ok(rest) => rest,
        Err(refusal) => return (*refusal, None),
    };
    let parts: Vec<&str> = rest.trim_start_matches('/').split('/').collect();
    write::judge(world, now, call, &parts).unwrap_or_else(|| (failed(call, 405, "Method Not Allowed"), None))
}

/// The path below the list of servers, decoded, of whoever has the key.
fn admitted(world: &World, call: &Call) -> Result<String, Box<Answer>> {
    let names = &world.names;
    let known = names.api.tokens_known && call.header("x-api-key") == Some(names.api_key.as_str());
    if !known {
        let mut answer = Answer::new(401, unauthorized(call.header("accept")));
        answer.headers.push(("www-authenticate", "X-API-Key realm=\"PowerDNS\"".to_owned()));
        return Err(answer.into());
    }
    let rest = call.path.strip_prefix("/api/v1/servers").ok_or_else(|| Box::new(failed(call, 404, "Not Found")))?;
    Ok(super::http::percent_decode(rest))
}

fn unauthorized(accept: Option<&str>) -> Payload {
    match accept {
        Some(accept) if accept.contains("application/json") => Payload::Json(json!({"error": "Unauthorized"})),
        Some(accept) if accept.contains("text/html") => Payload::Text(
            "text/html; charset=utf-8",
            "<!html><title>Unauthorized</title><h1>Unauthorized</h1>".to_owned(),
        ),
        _ => Payload::Text("text/plain; charset=utf-8", "Unauthorized".to_owned()),
    }
}

/// An error: with its reason for clients that take JSON, else the bare words of the status.
fn failed(call: &Call, status: u16, reason: &str) -> Answer {
    if status == 422 || call.header("accept").is_some_and(|accept| accept.contains("application/json")) {
        return Answer::new(status, Payload::Json(json!({"error": reason})));
    }
    let words = match status {
        400 => "Bad Request",
        404 => "Not Found",
        _ => "Method Not Allowed",
    };
    Answer::new(status, Payload::Text("text/plain; charset=utf-8", words.to_owned()))
}

fn server(names: &Names) -> Value {
    let daemon = if names.recursor { "recursor" } else { "authoritative" };
    json!({"autoprimaries_url": format!("{SERVER}/autoprimaries{{/autoprimary}}"),
        "config_url": format!("{SERVER}/config{{/config_setting}}"), "daemon_type": daemon,
        "id": "localhost", "type": "Server", "url": SERVER, "version": VERSION,
        "zones_url": format!("{SERVER}/zones{{/zone}}")})
}

fn inside(world: &World, now: i64, call: &Call, parts: &[&str]) -> Answer {
    let names = &world.names;
    match parts {
        ["statistics"] => statistics(world, now, call),
        ["config"] => Answer::json(config()),
        // A recursor has the same paths, and none of the zones.
        ["zones"] if names.recursor => Answer::json(json!([])),
        ["zones", ..] | ["tsigkeys", ..] if names.recursor => failed(call, 404, "Not Found"),
        ["zones"] => zones(names, call),
        ["zones", id, rest @ ..] => match (zone(names, id), rest) {
            (None, _) => failed(call, 404, "Not Found"),
            (Some((origin, zone)), []) => Answer::json(whole(origin, zone, call)),
            (Some((_, zone)), ["metadata"]) => Answer::json(metadata(zone)),
            (Some((_, zone)), ["metadata", kind]) => one_metadata(call, zone, kind),
            _ => failed(call, 404, "Not Found"),
        },
        ["tsigkeys"] => Answer::json(names.keys.iter().map(|(name, key)| tsig(name, key, false)).collect()),
        ["tsigkeys", id] => match names.keys.get_key_value(id.trim_end_matches('.')) {
            Some((name, key)) => Answer::json(tsig(name, key, true)),
            None => failed(call, 404, &format!("TSIG key with name '{}' not found", id.trim_end_matches('.'))),
        },
        _ => failed(call, 404, "Not Found"),
    }
}

fn zones(names: &Names, call: &Call) -> Answer {
    let wanted = call.param("zone");
    let full = call.param("dnssec") != Some("false");
    let rows = names.zones.iter().filter(|(origin, _)| wanted.is_none_or(|name| name == origin.as_str()));
    Answer::json(rows.map(|(origin, zone)| row(origin, zone, full)).collect())
}

/// The zone of an id, whose dot may be missing.
fn zone<'a>(names: &'a Names, id: &str) -> Option<(&'a String, &'a Zone)> {
    let dotted = if id.ends_with('.') { id.to_lowercase() } else { format!("{}.", id.to_lowercase()) };
    names.zones.get_key_value(&dotted)
}

/// A zone as the list shows it.
fn row(origin: &str, zone: &Zone, full: bool) -> Value {
    let serial = zone.serial(origin);
    let mut row = json!({"account": zone.account, "catalog": "", "id": origin, "kind": if zone.copy { "Slave" } else { "Native" }, "last_check": 0,
        "masters": [], "name": origin, "notified_serial": 0, "serial": serial,
        "url": format!("{SERVER}/zones/{origin}")});
    if full && let Value::Object(row) = &mut row {
        row.insert("dnssec".to_owned(), json!(false));
        row.insert("edited_serial".to_owned(), json!(serial));
    }
    row
}

fn whole(origin: &str, zone: &Zone, call: &Call) -> Value {
    let mut value = row(origin, zone, true);
    let Value::Object(object) = &mut value else { return value };
    let more = json!({"api_rectify": false, "master_tsig_key_ids": [], "nsec3narrow": false, "nsec3param": "",
        "slave_tsig_key_ids": [], "soa_edit": "", "soa_edit_api": zone.edit_by_api()});
    if let Value::Object(more) = more {
        object.extend(more);
    }
    if call.param("rrsets") == Some("false") {
        return value;
    }
    let (name, kind) = (call.param("rrset_name"), call.param("rrset_type"));
    let sets = zone
        .rrsets
        .iter()
        .filter(|((owner, t), _)| name.is_none_or(|name| name == owner) && kind.is_none_or(|kind| kind == t));
    object.insert("rrsets".to_owned(), sets.map(|((owner, t), set)| rrset(owner, t, set)).collect());
    value
}

fn rrset(owner: &str, kind: &str, set: &Rrset) -> Value {
    let records = set.records.iter().map(|(content, disabled)| json!({"content": content, "disabled": disabled}));
    let comments =
        set.comments.iter().map(|(text, account, at)| json!({"account": account, "content": text, "modified_at": at}));
    json!({"comments": comments.collect::<Vec<_>>(), "name": owner, "records": records.collect::<Vec<_>>(),
        "ttl": set.ttl, "type": kind})
}

fn metadata(zone: &Zone) -> Value {
    let mut rows: Vec<Value> = zone.metadata.iter().map(|(kind, values)| held_metadata(kind, values)).collect();
    rows.push(held_metadata("SOA-EDIT-API", &[zone.edit_by_api().to_owned()]));
    Value::Array(rows)
}

fn held_metadata(kind: &str, values: &[String]) -> Value {
    json!({"kind": kind, "metadata": values, "type": "Metadata"})
}

fn one_metadata(call: &Call, zone: &Zone, kind: &str) -> Answer {
    if HIDDEN.contains(&kind) {
        return failed(call, 422, &format!("Unsupported metadata kind '{kind}'"));
    }
    let values = zone.metadata.get(kind).cloned().unwrap_or_default();
    Answer::json(held_metadata(kind, &values))
}

/// A key; the list leaves the secret out, the single key has it.
fn tsig(name: &str, key: &TsigKey, with_secret: bool) -> Value {
    let secret =
        if with_secret { base64::engine::general_purpose::STANDARD.encode(&key.secret) } else { String::new() };
    json!({"algorithm": key.algorithm, "id": format!("{name}."), "key": secret, "name": name, "type": "TSIGKey"})
}

/// Settings that say what updates can do; secrets are masked by the server.
fn config() -> Value {
    let settings = [
        ("allow-dnsupdate-from", "127.0.0.0/8,::1"),
        ("api-key", "***"),
        ("default-soa-content", "a.misconfigured.dns.server.invalid hostmaster.@ 0 10800 3600 604800 3600"),
        ("dnsupdate", "yes"),
        ("enable-lua-records", "no"),
        ("launch", "gsqlite3"),
        ("lua-dnsupdate-policy-script", ""),
        ("version-string", "full"),
        ("webserver-allow-from", "10.20.25.20/32,127.0.0.0/8"),
        ("webserver-max-bodysize", "2"),
    ];
    settings.iter().map(|(name, value)| json!({"name": name, "type": "ConfigSetting", "value": value})).collect()
}

fn statistics(world: &World, now: i64, call: &Call) -> Answer {
    let counters = [
        ("dnsupdate-answers", 6),
        ("dnsupdate-changes", 4),
        ("dnsupdate-queries", 6),
        ("dnsupdate-refused", 0),
        ("packetcache-hit", 900),
        ("packetcache-miss", 300),
        ("tcp-queries", 20),
        ("udp-answers", 1200),
        ("udp-queries", 1200),
    ];
    let item = |name: &str, value: u64| json!({"name": name, "type": "StatisticItem", "value": value.to_string()});
    let mut rows: Vec<Value> = counters
        .iter()
        .map(|(name, rate)| {
            let counted = if *rate == 0 { 0 } else { world.counter(&format!("pdns {name}"), *rate, now) };
            item(name, counted)
        })
        .collect();
    rows.push(item("key-cache-size", u64::try_from(world.names.keys.len()).unwrap_or(0)));
    rows.push(item("uptime", u64::try_from(now - world.booted).unwrap_or(0)));
    match call.param("statistic") {
        None => Answer::json(Value::Array(rows)),
        Some(wanted) => {
            rows.retain(|row| row.get("name").is_some_and(|name| name == wanted));
            if rows.is_empty() { failed(call, 422, "Unknown statistic name") } else { Answer::json(Value::Array(rows)) }
        }
    }
}
