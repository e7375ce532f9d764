//! `ip -j route`: one table, or all of them with a `table` key.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use serde_json::Value;

use super::{NotUnderstood, Object, needed, number, objects, text, words};
use crate::backends::exit_node::model::{Route, RouteKind};

/// Number of the main table.
pub const MAIN: u32 = 254;

/// A route and the name or number of its table; `None` is main, or the one table that was asked for.
pub type InTable = (Option<String>, Route);

/// IPv4 routes of a document. What a VRF or the main table is usually listed without is left out here as well: local,
/// broadcast, multicast and anycast entries, and IPv6.
///
/// # Errors
/// When the document is not a list of routes.
pub fn routes(document: &Value) -> Result<Vec<InTable>, NotUnderstood> {
    let mut found = Vec::new();
    for object in objects(document)? {
        let dst = needed(object, "dst")?;
        let kind = text(object, "type").unwrap_or("unicast");
        if dst.contains(':') || matches!(kind, "local" | "broadcast" | "multicast" | "anycast") {
            continue;
        }
        found.push((text(object, "table").map(str::to_owned), route(object, dst, kind)?));
    }
    Ok(found)
}

fn route(object: &Object, dst: &str, kind: &str) -> Result<Route, NotUnderstood> {
    let hops = object.get("nexthops").and_then(Value::as_array);
    // Multipath has its next hops in a list and none at the top.
    let first = hops.and_then(|h| h.first()).and_then(Value::as_object).unwrap_or(object);
    Ok(Route {
        dst: destination(dst)?,
        kind: match kind {
            "unicast" => RouteKind::Unicast,
            "blackhole" => RouteKind::Blackhole,
            "unreachable" => RouteKind::Unreachable,
            other => RouteKind::Other(other.to_owned()),
        },
        gateway: gateway(first)?,
        dev: text(first, "dev").map(str::to_owned),
        protocol: text(object, "protocol").map(str::to_owned),
        metric: number(object, "metric"),
        flags: words(object, "flags"),
        nexthops: hops.map_or(1, |h| u8::try_from(h.len()).unwrap_or(u8::MAX)),
    })
}

fn destination(dst: &str) -> Result<Ipv4Net, NotUnderstood> {
    let parsed = match dst {
        "default" => Some(Ipv4Net::default()),
        net if net.contains('/') => net.parse().ok(),
        host => host.parse::<Ipv4Addr>().ok().map(Ipv4Net::from),
    };
    parsed.ok_or_else(|| NotUnderstood::new("\"dst\" is not an IPv4 network"))
}

fn gateway(object: &Object) -> Result<Option<Ipv4Addr>, NotUnderstood> {
    let parsed = text(object, "gateway").map(str::parse).transpose();
    parsed.map_err(|_| NotUnderstood::new("\"gateway\" is not an IPv4 address"))
}

/// Names of tables: lines `NUMBER NAME` of the files below `/etc/iproute2`.
#[must_use]
pub fn table_names(text: &str) -> BTreeMap<String, u32> {
    let entry = |line: &str| {
        let mut words = line.split_whitespace();
        let number = words.next()?;
        let number = match number.strip_prefix("0x") {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        Some((words.next()?.to_owned(), number))
    };
    text.lines().filter_map(entry).collect()
}

/// Number of the table that a document calls `table`.
#[must_use]
pub fn table_number(table: Option<&str>, names: &BTreeMap<String, u32>) -> Option<u32> {
    match table {
        None | Some("main") => Some(MAIN),
        Some(other) => other.parse().ok().or_else(|| names.get(other).copied()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn kinds_metrics_and_multipath() {
        let doc = json!([
            {"dst": "default", "type": "unreachable", "metric": 4_278_198_272_u64, "table": "vrf_a", "flags": []},
            {"dst": "10.9.0.0/16", "nexthops": [{"gateway": "10.0.0.1", "dev": "a", "weight": 1}, {"gateway": "10.0.0.2", "dev": "b"}], "flags": ["linkdown"]},
            {"dst": "192.0.2.7", "type": "prohibit"},
            {"type": "local", "dst": "10.0.0.9", "dev": "lo"},
            {"dst": "fe80::/64", "dev": "a"},
        ]);
        let found = routes(&doc).unwrap();
        assert_eq!(found.len(), 3);
        assert_eq!(
            (found[0].0.as_deref(), &found[0].1.kind, found[0].1.metric),
            (Some("vrf_a"), &RouteKind::Unreachable, Some(4_278_198_272))
        );
        assert_eq!(found[1].1.gateway, Some(Ipv4Addr::new(10, 0, 0, 1)));
        assert_eq!((found[1].1.dev.as_deref(), found[1].1.nexthops), (Some("a"), 2));
        assert_eq!(
            (found[2].1.dst.to_string(), &found[2].1.kind),
            ("192.0.2.7/32".to_owned(), &RouteKind::Other("prohibit".to_owned()))
        );
    }

    #[test]
    fn a_wrong_shape_is_told() {
        for bad in [json!([{"dev": "a"}]), json!([{"dst": "10.0.0.0/40"}]), json!([{"dst": "default", "gateway": "x"}])]
        {
            assert!(routes(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn tables_go_by_name_or_number() {
        let names = table_names("255\tlocal\n1001 vrf_tdemo\n0x3ea vrf_eds\n# 7 no\nnonsense\n");
        assert_eq!(table_number(Some("vrf_tdemo"), &names), Some(1001));
        assert_eq!(table_number(Some("vrf_eds"), &names), Some(1002));
        assert_eq!(table_number(Some("1003"), &names), Some(1003));
        assert_eq!(table_number(None, &names), Some(MAIN));
        assert_eq!(table_number(Some("stranger"), &names), None);
    }
}
