//! `ip -j -d -s addr` (or `link`): links, and the addresses on them.

use std::net::IpAddr;

use serde_json::Value;

use super::{NotUnderstood, Object, needed, number, objects, text, words};
use crate::backends::exit_node::model::{Address, Link, LinkStats};

/// Links. Details and counters are there as far as `-d` and `-s` were asked for.
///
/// # Errors
/// When the document is not a list of links.
pub fn links(document: &Value) -> Result<Vec<Link>, NotUnderstood> {
    objects(document)?.map(link).collect()
}

fn link(object: &Object) -> Result<Link, NotUnderstood> {
    let info = object.get("linkinfo").and_then(Value::as_object);
    let kind = info.and_then(|i| text(i, "info_kind"));
    let data = info.and_then(|i| i.get("info_data")).and_then(Value::as_object);
    let of_kind = |wanted: &str| data.filter(|_| kind == Some(wanted));
    let local = of_kind("vxlan").and_then(|d| text(d, "local").or_else(|| text(d, "local6")));
    Ok(Link {
        ifindex: number(object, "ifindex").ok_or_else(|| NotUnderstood::new("a link has no \"ifindex\""))?,
        name: needed(object, "ifname")?.to_owned(),
        operstate: needed(object, "operstate")?.to_owned(),
        flags: words(object, "flags"),
        mtu: number(object, "mtu").ok_or_else(|| NotUnderstood::new("a link has no \"mtu\""))?,
        master: text(object, "master").map(str::to_owned),
        kind: kind.map(str::to_owned),
        vrf_table: of_kind("vrf").and_then(|d| number(d, "table")),
        vxlan_id: of_kind("vxlan").and_then(|d| number(d, "id")),
        vxlan_local: local.and_then(|l| l.parse().ok()),
        mac: text(object, "address").map(str::to_owned),
        stats: object.get("stats64").and_then(stats),
    })
}

fn stats(value: &Value) -> Option<LinkStats> {
    let (rx, tx) = (value.get("rx")?.as_object()?, value.get("tx")?.as_object()?);
    Some(LinkStats {
        rx_bytes: number(rx, "bytes")?,
        rx_packets: number(rx, "packets")?,
        tx_bytes: number(tx, "bytes")?,
        tx_packets: number(tx, "packets")?,
        dropped: number::<u64>(rx, "dropped")?.saturating_add(number(tx, "dropped")?),
    })
}

/// Addresses of the same document.
///
/// # Errors
/// When the document is not a list of links, or an address is none.
pub fn addresses(document: &Value) -> Result<Vec<Address>, NotUnderstood> {
    let mut found = Vec::new();
    for object in objects(document)? {
        let dev = needed(object, "ifname")?;
        let infos = object.get("addr_info").ok_or_else(|| NotUnderstood::new("a link has no \"addr_info\""))?;
        for info in objects(infos)? {
            found.push(address(dev, info)?);
        }
    }
    Ok(found)
}

fn address(dev: &str, info: &Object) -> Result<Address, NotUnderstood> {
    let ip: IpAddr = needed(info, "local")?.parse().map_err(|_| NotUnderstood::new("\"local\" is not an address"))?;
    let prefix_len = number(info, "prefixlen").filter(|len| *len <= if ip.is_ipv4() { 32 } else { 128 });
    let prefix_len = prefix_len.ok_or_else(|| NotUnderstood::new("an address has no \"prefixlen\""))?;
    Ok(Address { dev: dev.to_owned(), ip, prefix_len })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn empty_objects_of_a_filtered_list_are_dropped() {
        assert_eq!(links(&json!([{}, {}, {}])), Ok(vec![]));
        assert_eq!(addresses(&json!([{}, {}])), Ok(vec![]));
    }

    #[test]
    fn a_wrong_shape_is_told() {
        assert!(links(&json!({"ifname": "lo"})).is_err());
        assert!(links(&json!([1])).is_err());
        assert!(links(&json!([{"ifname": "lo", "operstate": "UP", "mtu": 1500}])).is_err(), "no ifindex");
        assert!(addresses(&json!([{"ifname": "lo", "addr_info": [{"local": "x", "prefixlen": 8}]}])).is_err());
        assert!(addresses(&json!([{"ifname": "lo", "addr_info": [{"local": "::1", "prefixlen": 129}]}])).is_err());
    }

    #[test]
    fn counters_beyond_32_bits_and_data_of_other_kinds() {
        let doc = json!([{"ifindex": 3, "ifname": "b", "operstate": "UP", "mtu": 1450, "flags": ["UP"], "new_key": {},
            "linkinfo": {"info_kind": "bridge", "info_data": {"id": "8000", "table": 7}},
            "stats64": {"rx": {"bytes": 5_000_000_000_u64, "packets": 2, "dropped": 1}, "tx": {"bytes": 1, "packets": 1, "dropped": 3}}}]);
        let link = links(&doc).unwrap().remove(0);
        assert_eq!((link.vrf_table, link.vxlan_id), (None, None), "a bridge has neither");
        assert_eq!(link.stats.map(|s| (s.rx_bytes, s.dropped)), Some((5_000_000_000, 4)));
    }
}
