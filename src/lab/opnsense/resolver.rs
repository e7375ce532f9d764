//! The resolver: its settings, and what it says about itself (facts/opnsense.md §9, §10).

use serde_json::{Map, Value, json};

use super::options::{self, choice};
use super::{Ask, config};
use crate::lab::dns;
use crate::lab::names::{self, AUTHORITATIVE, backwards};
use crate::lab::perimeter::{Forward, ForwardKind};

pub(super) fn read(ask: &Ask<'_>, name: &str) -> Option<Value> {
    let resolver = &ask.perimeter.resolver;
    let ok = |data: Value| json!({"status": "ok", "data": data});
    let open = ask.perimeter.running().iter().filter(|f| f.enabled && f.kind == ForwardKind::Forward);
    Some(match name {
        "unbound/settings/get" => settings(ask),
        "unbound/service/status" => json!({"status": if resolver.up { "running" } else { "stopped" },
            "widget": {"caption_restart": "Restart", "caption_start": "Start", "caption_stop": "Stop"}}),
        "unbound/diagnostics/listinsecure" => {
            ok(open.filter(|f| !resolver.bogus.contains(&f.domain)).map(|f| format!("{}.", f.domain)).collect())
        }
        "unbound/settings/search_acl" => ask.grid(access_lists(ask)),
        "unbound/diagnostics/listlocalzones" => ok(local_zones(ask)),
        "unbound/diagnostics/listlocaldata" => {
            let sets = resolver.local.rrsets.iter();
            let row = |((name, kind), set): (&(String, String), &names::Rrset)| {
                json!({"name": name, "ttl": set.ttl.to_string(), "type": "IN", "rrtype": kind,
                    "value": set.served().next().unwrap_or_default()})
            };
            ok(sets.map(row).collect())
        }
        "unbound/diagnostics/dumpinfra" => {
            let row = |f: &Forward| {
                let rtt = if ask.world.names.up { "376" } else { "120000" };
                json!({"ip": AUTHORITATIVE, "host": format!("{}.", f.domain), "ttl": "600", "ping": "0", "var": "94",
                    "rtt": rtt, "rto": rtt, "tA": "0", "tAAAA": "0", "tother": "0", "ednsknown": "1", "edns": "0",
                    "delay": "0", "lame": true, "dnssec": "0", "rec": "0", "A": "0", "other": "0"})
            };
            ok(open.map(row).collect())
        }
        "unbound/diagnostics/stats" => {
            let queries = ask.world.counter("unbound queries", 3000, ask.now);
            let text = |n: u64| n.to_string();
            let up = (ask.now - ask.world.booted).to_string();
            ok(json!({"thread0": {"num": {"queries": text(queries)}},
                "total": {"num": {"queries": text(queries), "cachehits": text(queries / 5 * 4),
                    "cachemiss": text(queries - queries / 5 * 4)}},
                "time": {"now": format!("{}.1", ask.now), "up": format!("{up}.0")}}))
        }
        "unbound/diagnostics/dumpcache" => ok(json!([])),
        "diagnostics/dns/reverse_lookup" => {
            let address = ask.query("address")?;
            let owner = format!("{}.in-addr.arpa.", backwards(address));
            let name = resolver.local.contents(&owner, "PTR").into_iter().next();
            json!({address: name.map_or_else(|| address.to_owned(), |name| name.trim_end_matches('.').to_owned())})
        }
        _ => return None,
    })
}

fn access_lists(ask: &Ask<'_>) -> Vec<Value> {
    let row = |nets: &Vec<ipnet::Ipv4Net>| {
        let networks = nets.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        json!({"uuid": "5f1d0c7e-6a52-4b7e-9b0a-2d3c4e5f6071", "enabled": "1", "name": "inside", "action": "allow",
            "%action": "Allow", "networks": networks, "description": ""})
    };
    ask.perimeter.resolver.allowed.iter().map(row).collect()
}

/// Built-in zones, and those that a plain forward of a reverse zone opens.
fn local_zones(ask: &Ask<'_>) -> Value {
    let row = |zone: &str, kind: &str| json!({"zone": zone, "type": kind});
    let mut rows: Vec<Value> = dns::BUILT_IN.iter().chain(&["localhost."]).map(|zone| row(zone, "static")).collect();
    let forwards = ask.perimeter.running().iter().filter(|f| f.enabled && f.kind == ForwardKind::Forward);
    let reverse = forwards.filter(|f| f.domain.ends_with(".in-addr.arpa"));
    let opened = reverse.filter(|f| !ask.perimeter.resolver.shadowed.contains(&f.domain));
    rows.extend(opened.map(|f| row(&format!("{}.", f.domain), "typetransparent")));
    Value::Array(rows)
}

/// The whole model, forwards included. What they exempt from validation and from the rebinding filter is written into
/// the resolver's own configuration and shows nowhere here.
fn settings(ask: &Ask<'_>) -> Value {
    let dots: Map<String, Value> =
        ask.perimeter.forwards.iter().map(|f| (f.uuid.clone(), config::forward_shown(Some(f)))).collect();
    // Written by PHP, an empty map is a list.
    let dots = if dots.is_empty() { json!([]) } else { Value::Object(dots) };
    let default = if ask.perimeter.resolver.allowed.is_some() { "refuse" } else { "allow" };
    let actions = choice([("allow", "Allow"), ("deny", "Deny"), ("refuse", "Refuse")], default);
    json!({"unbound": {"general": general(ask), "advanced": advanced(ask),
        "acls": {"default_action": actions, "acl": []}, "dnsbl": {"blocklist": []}, "forwarding": {"enabled": "0"},
        "dots": {"dot": dots}, "hosts": {"host": []}, "aliases": {"alias": []}}})
}

/// No interface is chosen: it listens on all. Answers are validated, or none could be found bogus.
fn general(ask: &Ask<'_>) -> Value {
    let kinds = [
        "transparent",
        "always_nxdomain",
        "always_refuse",
        "always_transparent",
        "deny",
        "inform",
        "inform_deny",
        "nodefault",
        "refuse",
        "static",
        "typetransparent",
    ];
    json!({"enabled": "1", "port": "53", "stats": "0", "active_interface": options::interfaces(ask, "-"),
        "dnssec": "1", "dns64": "0", "dns64prefix": "", "noarecords": "0", "regdhcp": "0", "regdhcpdomain": "",
        "regdhcpstatic": "0", "noreglladdr6": "0", "noregrecords": "0", "txtsupport": "0", "cacheflush": "0",
        "safesearch": "0", "local_zone_type": choice(kinds.map(|kind| (kind, kind)), "transparent"),
        "outgoing_interface": options::interfaces(ask, "-"), "enable_wpad": "0"})
}

fn advanced(ask: &Ask<'_>) -> Value {
    let off = "hideidentity hideversion prefetch prefetchkey dnssecstripped serveexpired serveexpiredttlreset \
               qnameminstrict extendedstatistics logqueries logreplies logtagqueryreply logservfail loglocalactions \
               infrakeepprobing";
    let unset = "serveexpiredreplyttl serveexpiredttl serveexpiredclienttimeout msgcachesize rrsetcachesize \
                 outgoingnumtcp incomingnumtcp numqueriesperthread outgoingrange jostletimeout discardtimeout \
                 cachemaxttl cachemaxnegativettl cacheminttl infrahostttl infracachenumhosts unwantedreplythreshold";
    let levels = |words: &[&str], chosen: usize| -> Value {
        let row = |(at, word): (usize, &&str)| json!({"value": word, "selected": i32::from(at == chosen)});
        words.iter().enumerate().map(row).collect()
    };
    let all = dns::PRIVATE.join(",");
    let mut out = Map::new();
    out.extend(off.split_whitespace().map(|key| (key.to_owned(), json!("0"))));
    out.extend(unset.split_whitespace().map(|key| (key.to_owned(), json!(""))));
    out.insert("aggressivensec".to_owned(), json!("1"));
    if ask.modern() {
        out.insert("belownxdomain".to_owned(), json!("1"));
    }
    let log = ["Level 0", "Level 1 (Default)", "Level 2", "Level 3", "Level 4", "Level 5"];
    out.insert("logverbosity".to_owned(), levels(&log, 1));
    out.insert("valloglevel".to_owned(), levels(&["Level 0 (Default)", "Level 1", "Level 2"], 0));
    out.insert("privateaddress".to_owned(), choice(dns::PRIVATE.iter().map(|net| (net, net)), &all));
    for key in ["privatedomain", "insecuredomain"] {
        out.insert(key.to_owned(), choice([("", "")], ""));
    }
    Value::Object(out)
}
