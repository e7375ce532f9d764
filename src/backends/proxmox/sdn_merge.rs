//! Rows of `?pending=1` taken apart: what runs, what is configured, how they differ (facts/proxmox.md §5).
//!
//! Top-level values are the applied ones, `pending` holds what an apply would change, a removed option reads
//! `deleted` there. A new object has its values, of fabrics even the ids, inside `pending` only.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::model::{Change, Controller, Fabric, FabricNode, Sdn, Subnet, Vnet, Zone};
use super::wire::{Row, Unreadable, scalar_text};

/// An SDN object that can be read from a flat row.
pub(super) trait FromRow: Sized {
    /// Keys that stand at the top level of a new object without having been applied.
    const TOP_OF_NEW: &'static [&'static str];
    /// Decodes a flat row.
    fn from_row(row: &Row<'_>) -> Result<Self, Unreadable>;
}

/// What differs, from one row of `?pending=1`. `plain` is the object's row in the list without a flag, where it was
/// read: it tells a removed option from one whose value is the word `deleted`.
pub(super) fn merge<T: FromRow>(row: &Row<'_>, plain: Option<&Row<'_>>) -> Result<Sdn<T>, Unreadable> {
    let change = change(row)?;
    let empty = Map::new();
    let pending = match row.get("pending") {
        None => &empty,
        Some(Value::Object(map)) => map,
        // An empty Perl hash may come out as an empty list.
        Some(Value::Array(list)) if list.is_empty() => &empty,
        Some(_) => return Err(row.fault("pending", "expected an object")),
    };
    let mut flat = row.map().clone();
    for key in ["pending", "state", "digest"] {
        flat.remove(key);
    }
    let running = match change {
        Change::New => None,
        _ => Some(T::from_row(&Row::of_map(&flat, row.at()))?),
    };
    let configured = match change {
        Change::Deleted => None,
        _ => {
            if change == Change::New {
                flat.retain(|key, _| T::TOP_OF_NEW.contains(&key.as_str()));
            }
            overlay(&mut flat, pending, plain);
            Some(T::from_row(&Row::of_map(&flat, row.at()))?)
        }
    };
    Ok(Sdn { running, configured, change, pending: texts(pending) })
}

/// A row of the plain list: configured, nothing known of what runs.
pub(super) fn only_configured<T: FromRow>(row: &Row<'_>) -> Result<Sdn<T>, Unreadable> {
    Ok(Sdn { running: None, configured: Some(T::from_row(row)?), change: Change::None, pending: BTreeMap::new() })
}

/// A row of `?running=1`: applied, nothing known of what is configured.
pub(super) fn only_running<T: FromRow>(row: &Row<'_>) -> Result<Sdn<T>, Unreadable> {
    Ok(Sdn { running: Some(T::from_row(row)?), configured: None, change: Change::None, pending: BTreeMap::new() })
}

fn change(row: &Row<'_>) -> Result<Change, Unreadable> {
    match row.text("state")?.as_deref() {
        None | Some("") => Ok(Change::None),
        Some("new") => Ok(Change::New),
        Some("changed") => Ok(Change::Changed),
        Some("deleted") => Ok(Change::Deleted),
        Some(_) => Err(row.fault("state", "is none of new, changed, deleted")),
    }
}

fn overlay(flat: &mut Map<String, Value>, pending: &Map<String, Value>, plain: Option<&Row<'_>>) {
    for (key, value) in pending {
        let removed = value.as_str() == Some("deleted") && plain.is_none_or(|p| p.get(key).is_none());
        if removed {
            flat.remove(key);
        } else {
            flat.insert(key.clone(), value.clone());
        }
    }
}

pub(super) fn texts(pending: &Map<String, Value>) -> BTreeMap<String, String> {
    let words = |v: &Value| match v {
        Value::Array(items) => items.iter().filter_map(scalar_text).collect::<Vec<_>>().join(" "),
        other => scalar_text(other).unwrap_or_default(),
    };
    pending.iter().map(|(key, value)| (key.clone(), words(value))).collect()
}

impl FromRow for Zone {
    const TOP_OF_NEW: &'static [&'static str] = &["zone", "type"];

    fn from_row(row: &Row<'_>) -> Result<Self, Unreadable> {
        Ok(Self {
            zone: row.need_text("zone")?,
            kind: row.need_text("type")?,
            controller: row.text("controller")?,
            vrf_vxlan: row.u32("vrf-vxlan")?,
            nodes: row.words("nodes")?,
            exit_nodes: row.words("exitnodes")?,
            exit_nodes_primary: row.text("exitnodes-primary")?,
            mtu: row.u32("mtu")?,
            mac: row.text("mac")?,
            advertise_subnets: row.bool("advertise-subnets")?,
            exit_nodes_local_routing: row.bool("exitnodes-local-routing")?,
            ipam: row.text("ipam")?,
        })
    }
}

impl FromRow for Vnet {
    const TOP_OF_NEW: &'static [&'static str] = &["vnet", "type"];

    fn from_row(row: &Row<'_>) -> Result<Self, Unreadable> {
        Ok(Self {
            vnet: row.need_text("vnet")?,
            zone: row.need_text("zone")?,
            tag: row.u32("tag")?,
            alias: row.text("alias")?,
        })
    }
}

impl FromRow for Subnet {
    // What the id says is at the top level even of a new subnet.
    const TOP_OF_NEW: &'static [&'static str] = &["id", "subnet", "vnet", "zone", "type", "cidr", "network", "mask"];

    fn from_row(row: &Row<'_>) -> Result<Self, Unreadable> {
        let id = match row.text("subnet")? {
            Some(id) => id,
            None => row.need_text("id")?,
        };
        let cidr_text = match row.text("cidr")? {
            Some(cidr) => cidr,
            // `<zone>-<ip>-<mask>`
            None => cidr_of_id(&id).ok_or_else(|| row.fault("cidr", "is missing, and the id does not tell it"))?,
        };
        // An IPv6 prefix or gateway has no place in the typed fields; its text is kept.
        let v6 = cidr_text.contains(':');
        let cidr = match cidr_text.parse() {
            Ok(cidr) => Some(cidr),
            Err(_) if v6 => None,
            Err(_) => return Err(row.fault("cidr", "is not a prefix")),
        };
        let gateway = match row.text("gateway")? {
            Some(gateway) if !gateway.contains(':') => {
                Some(gateway.parse().map_err(|_| row.fault("gateway", "is not an address"))?)
            }
            _ => None,
        };
        let (vnet, zone, snat) = (row.need_text("vnet")?, row.text("zone")?, row.bool("snat")?.unwrap_or(false));
        Ok(Self { id, vnet, zone, cidr, cidr_text, gateway, snat })
    }
}

fn cidr_of_id(id: &str) -> Option<String> {
    let (rest, mask) = id.rsplit_once('-')?;
    let (_, network) = rest.split_once('-')?;
    Some(format!("{network}/{mask}"))
}

impl FromRow for Controller {
    const TOP_OF_NEW: &'static [&'static str] = &["controller", "type"];

    fn from_row(row: &Row<'_>) -> Result<Self, Unreadable> {
        Ok(Self {
            controller: row.need_text("controller")?,
            kind: row.need_text("type")?,
            asn: row.u32("asn")?,
            fabric: row.text("fabric")?,
            peers: row.words("peers")?,
        })
    }
}

impl FromRow for Fabric {
    const TOP_OF_NEW: &'static [&'static str] = &["id", "protocol", "type"];

    fn from_row(row: &Row<'_>) -> Result<Self, Unreadable> {
        Ok(Self { id: row.need_text("id")?, protocol: row.need_text("protocol")?, ip_prefix: row.text("ip_prefix")? })
    }
}

impl FromRow for FabricNode {
    const TOP_OF_NEW: &'static [&'static str] = &["fabric_id", "node_id", "protocol", "type"];

    fn from_row(row: &Row<'_>) -> Result<Self, Unreadable> {
        Ok(Self {
            fabric: row.need_text("fabric_id")?,
            node: row.need_text("node_id")?,
            ip: row.text("ip")?,
            interfaces: interfaces(row)?,
        })
    }
}

/// Names in a list of property strings: `name=vmbr0.51,hello_interval=2` or just `vmbr0.51`.
fn interfaces(row: &Row<'_>) -> Result<Vec<String>, Unreadable> {
    let entries: Vec<String> = match row.get("interfaces") {
        None => return Ok(Vec::new()),
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| match item {
                Value::Object(map) => Row::of_map(map, row.at()).need_text("name"),
                other => scalar_text(other).ok_or_else(|| row.fault("interfaces", "holds something else than text")),
            })
            .collect::<Result<_, _>>()?,
        Some(other) => vec![scalar_text(other).ok_or_else(|| row.fault("interfaces", "is not a list"))?],
    };
    let name = |entry: &str| {
        let named = entry.split(',').find_map(|p| p.strip_prefix("name="));
        named.or_else(|| entry.split(',').next()).unwrap_or_default().to_owned()
    };
    Ok(entries.iter().map(|entry| name(entry)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn merged<T: FromRow>(value: &Value) -> Sdn<T> {
        merge(&Row::new(value, "data[0]").unwrap(), None).unwrap()
    }

    #[test]
    fn a_new_object_is_configured_and_does_not_run() {
        let zone: Sdn<Zone> = merged(&json!({"state": "new", "zone": "tdemo", "type": "evpn", "digest": null,
            "pending": {"vrf-vxlan": "10001", "exitnodes": "hyp1", "advertise-subnets": 1}}));
        assert_eq!((zone.change, zone.running.is_none()), (Change::New, true));
        let now = zone.configured.unwrap();
        assert_eq!(
            (now.vrf_vxlan, now.exit_nodes, now.advertise_subnets),
            (Some(10001), vec!["hyp1".into()], Some(true))
        );
        let vnet: Sdn<Vnet> = merged(
            &json!({"state": "new", "vnet": "tdemo0", "type": "vnet", "pending": {"zone": "tdemo", "tag": 20010}}),
        );
        assert_eq!(vnet.configured.unwrap().zone, "tdemo");
    }

    #[test]
    fn fabrics_keep_even_their_ids_inside_pending() {
        let fabric: Sdn<Fabric> = merged(&json!({"state": "new", "digest": "aa",
            "pending": {"id": "tfab", "protocol": "openfabric", "ip_prefix": "10.20.255.0/24"}}));
        assert_eq!(fabric.configured.unwrap().id, "tfab");
        let node: Sdn<FabricNode> = merged(&json!({"state": "new", "pending": {"fabric_id": "tfab", "node_id": "hyp1",
            "protocol": "openfabric", "ip": "10.20.255.2", "interfaces": ["name=vmbr0.51,hello_interval=2", "ens1"]}}));
        let node = node.configured.unwrap();
        assert_eq!((node.node.as_str(), node.interfaces), ("hyp1", vec!["vmbr0.51".to_owned(), "ens1".to_owned()]));
    }

    #[test]
    fn changed_and_deleted_options_are_told_apart() {
        let row = json!({"zone": "tdemo", "type": "evpn", "mtu": 1450, "advertise-subnets": 1, "state": "changed",
            "pending": {"mtu": 1400, "advertise-subnets": "deleted"}});
        let zone: Sdn<Zone> = merged(&row);
        let (was, is) = (zone.running.unwrap(), zone.configured.unwrap());
        assert_eq!((was.mtu, is.mtu), (Some(1450), Some(1400)));
        assert_eq!((was.advertise_subnets, is.advertise_subnets), (Some(true), None));
        assert_eq!(zone.pending["advertise-subnets"], "deleted");
    }

    #[test]
    fn an_alias_that_says_deleted_is_kept_where_the_plain_list_has_it() {
        let row =
            json!({"vnet": "v0", "zone": "z0", "alias": "old", "state": "changed", "pending": {"alias": "deleted"}});
        let plain = json!({"vnet": "v0", "zone": "z0", "alias": "deleted"});
        let (row, plain) = (Row::new(&row, "d").unwrap(), Row::new(&plain, "p").unwrap());
        let removed: Sdn<Vnet> = merge(&row, None).unwrap();
        let renamed: Sdn<Vnet> = merge(&row, Some(&plain)).unwrap();
        assert_eq!(removed.configured.unwrap().alias, None);
        assert_eq!(renamed.configured.unwrap().alias.as_deref(), Some("deleted"));
    }

    #[test]
    fn a_deleted_object_only_runs() {
        let subnet: Sdn<Subnet> = merged(&json!({"state": "deleted", "pending": {}, "vnet": "eds0", "zone": "eds",
            "gateway": "10.20.130.1", "snat": 1, "subnet": "eds-10.20.130.0-24", "cidr": "10.20.130.5/24"}));
        assert!(subnet.configured.is_none());
        let ran = subnet.running.unwrap();
        assert_eq!((ran.cidr.unwrap().to_string().as_str(), ran.snat), ("10.20.130.5/24", true));
    }

    #[test]
    fn odd_rows_are_errors_that_name_their_place() {
        let at = |v: Value| merge::<Subnet>(&Row::new(&v, "data[2]").unwrap(), None).unwrap_err().to_string();
        assert_eq!(at(json!({"subnet": "z-x-24", "vnet": "v0"})), "data[2].cidr: is not a prefix");
        assert_eq!(
            at(json!({"subnet": "z-10.0.0.0-24", "vnet": "v0", "state": "odd"})),
            "data[2].state: is none of new, changed, deleted"
        );
        let v6 = json!({"subnet": "z-2001:db8::-64", "vnet": "v0", "cidr": "2001:db8::/64", "gateway": "2001:db8::1"});
        let v6: Subnet = merged(&v6).running.unwrap();
        assert_eq!((v6.cidr, v6.gateway, v6.cidr_text.as_str()), (None, None, "2001:db8::/64"));
    }
}
