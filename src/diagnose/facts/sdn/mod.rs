//! Proxmox SDN: zones, VNets, subnets, controllers as configured or as applied, and each node's view of them.

use std::collections::BTreeMap;

use ipnet::IpNet;
use serde_json::Value;

use super::{Facts, Reader, Sourced, Taken, json};
use crate::diagnose::evidence::{Api, Http, Item};

/// Readers of this area.
pub(super) const READERS: &[&[Reader]] =
    &[&[zones, subnets, ip_vrf], changes::READERS, objects::READERS, nodes::READERS, underlay::READERS];

mod changes;
mod nodes;
mod objects;
mod underlay;

pub use changes::{Change, DryRun, Pending, RenderedSnat, Vnet, Write};
pub use nodes::{Content, MacEntry};
pub use objects::{Leases, Object};
pub use underlay::{Controller, Fabric, FabricNode, Fabrics};

/// Which state of the configuration a list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum View {
    /// As applied: `?running=1`.
    Running,
    /// As configured, with what waits: `?pending=1`.
    Pending,
    /// As configured.
    Configured,
}

impl View {
    fn of(http: &Http) -> Self {
        let set = |key: &str| http.query.get(key).is_some_and(|v| v == "1");
        if set("running") {
            Self::Running
        } else if set("pending") {
            Self::Pending
        } else {
            Self::Configured
        }
    }
}

/// A zone.
#[derive(Debug, Clone, PartialEq)]
pub struct Zone {
    /// Id.
    pub zone: String,
    /// `evpn`, `vxlan`, …
    pub kind: String,
    /// VRF VNI.
    pub vrf_vni: Option<u32>,
    /// Exit nodes; empty = none named.
    pub exit_nodes: Vec<String>,
    /// Primary exit node.
    pub primary: Option<String>,
    /// Nodes it is limited to; empty = all.
    pub nodes: Vec<String>,
    /// All fields as sent.
    pub fields: serde_json::Map<String, Value>,
}

/// A subnet.
#[derive(Debug, Clone, PartialEq)]
pub struct Subnet {
    /// Prefix.
    pub cidr: IpNet,
    /// Zone.
    pub zone: String,
    /// VNet.
    pub vnet: String,
    /// SNAT is asked for.
    pub snat: bool,
    /// All fields as sent.
    pub fields: serde_json::Map<String, Value>,
}

/// A route of a node's VRF as `ip-vrf` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VrfRoute {
    /// Prefix as shown.
    pub ip: String,
    /// `connected`, `local`, `bgp`, `static`, …
    pub protocol: String,
    /// Devices or addresses.
    pub nexthops: Vec<String>,
}

/// What was read of SDN.
#[derive(Debug, Default)]
pub struct Sdn {
    /// Zones by view.
    pub zones: BTreeMap<View, Sourced<Vec<Zone>>>,
    /// All readings of the zones, in order.
    pub zone_readings: Vec<(View, Sourced<Vec<Zone>>)>,
    /// VNets by view.
    pub vnets: BTreeMap<View, Sourced<Vec<Vnet>>>,
    /// Objects that wait for an apply.
    pub pending: Vec<Sourced<Pending>>,
    /// Kinds of objects of which it was read what waits: `zone`, `vnet`, …
    pub pending_read: BTreeMap<&'static str, Sourced<()>>,
    /// Writes that were accepted.
    pub writes: Vec<Sourced<Write>>,
    /// The lock was refused since something waits.
    pub lock_refused: Option<Sourced<String>>,
    /// What an apply would change, by node.
    pub dry_runs: BTreeMap<String, Sourced<DryRun>>,
    /// Status of zones by node.
    pub node_zones: BTreeMap<String, Sourced<BTreeMap<String, String>>>,
    /// VNets of zones as realised, by node and zone.
    pub content: BTreeMap<(String, String), Sourced<Vec<Content>>>,
    /// Addresses that nodes learnt, by node and VNet.
    pub mac_vrf: BTreeMap<(String, String), Sourced<Vec<MacEntry>>>,
    /// Subnets by view and VNet.
    pub subnets: BTreeMap<(View, String), Sourced<Vec<Subnet>>>,
    /// Controllers by view.
    pub controllers: BTreeMap<View, Sourced<Vec<Controller>>>,
    /// Fabrics and their members by view.
    pub fabrics: BTreeMap<View, Sourced<Fabrics>>,
    /// Objects that were read one by one, with what waits of them.
    pub objects: Vec<Sourced<Object>>,
    /// Addresses that are given out, by the place that keeps them.
    pub leases: BTreeMap<String, Sourced<Leases>>,
    /// Routes by node and zone.
    pub ip_vrf: BTreeMap<(String, String), Sourced<Vec<VrfRoute>>>,
}

impl Sdn {
    /// Zones as far as possible as applied: what a packet meets.
    #[must_use]
    pub fn zones_in_force(&self) -> Option<&Sourced<Vec<Zone>>> {
        [View::Running, View::Configured, View::Pending].iter().find_map(|view| self.zones.get(view))
    }

    /// VNets as far as possible as applied.
    #[must_use]
    pub fn vnets_in_force(&self) -> Option<&Sourced<Vec<Vnet>>> {
        [View::Running, View::Configured, View::Pending].iter().find_map(|view| self.vnets.get(view))
    }

    /// Controllers as far as possible as applied.
    #[must_use]
    pub fn controllers_in_force(&self) -> Option<&Sourced<Vec<Controller>>> {
        underlay::best(&self.controllers)
    }

    /// Fabrics as far as possible as applied.
    #[must_use]
    pub fn fabrics_in_force(&self) -> Option<&Sourced<Fabrics>> {
        underlay::best(&self.fabrics)
    }

    /// Subnets, each VNet's as far as possible as applied.
    pub fn subnets_in_force(&self) -> impl Iterator<Item = (&Sourced<Vec<Subnet>>, &Subnet)> {
        let best = |view: View, vnet: &String| {
            let better = [View::Running, View::Configured, View::Pending].into_iter().take_while(move |v| *v != view);
            better.into_iter().all(|v| !self.subnets.contains_key(&(v, vnet.clone())))
        };
        let lists = self.subnets.iter().filter(move |((view, vnet), _)| best(*view, vnet));
        lists.flat_map(|(_, list)| list.iter().map(move |subnet| (list, subnet)))
    }

    /// Zone of a VNet: as the VNets say, else as a subnet of it says, else the only EVPN zone there is.
    #[must_use]
    pub fn zone_of(&self, vnet: &str) -> Option<&str> {
        let listed = self.vnets.values().flat_map(|list| list.iter()).find(|v| v.vnet == vnet).map(|v| v.zone.as_str());
        let by_subnet = || self.subnets_in_force().find(|(_, s)| s.vnet == vnet).map(|(_, s)| s.zone.as_str());
        let only = || match self.zones_in_force()?.iter().filter(|z| z.kind == "evpn").collect::<Vec<_>>().as_slice() {
            [zone] => Some(zone.zone.as_str()),
            _ => None,
        };
        listed.filter(|zone| !zone.is_empty()).or_else(by_subnet).or_else(only)
    }
}

/// Rows below `data` of a GET that was answered.
fn rows(item: &Item, path: &str) -> Result<Vec<serde_json::Map<String, Value>>, Taken> {
    let http = item.http().filter(|h| h.gets(Api::Proxmox, path) && h.ok()).ok_or(Taken::NotMine)?;
    let mut value = json(item)?;
    let Some(Value::Array(rows)) = value.get_mut("data").map(Value::take) else {
        return Err(Taken::Unreadable(format!("{}: no list below \"data\"", http.path)));
    };
    let row = |row| match row {
        Value::Object(map) => Ok(map),
        _ => Err(Taken::Unreadable(format!("{}: a row is no object", http.path))),
    };
    rows.into_iter().map(row).collect()
}

/// A field as text, numbers included: Proxmox sends both for the same field.
#[must_use]
pub fn text(map: &serde_json::Map<String, Value>, key: &str) -> Option<String> {
    match map.get(key)? {
        Value::String(s) => Some(s.clone()),
        Value::Number(n) => Some(n.to_string()),
        Value::Bool(b) => Some(u8::from(*b).to_string()),
        _ => None,
    }
}

/// A comma-separated list.
#[must_use]
pub fn list(map: &serde_json::Map<String, Value>, key: &str) -> Vec<String> {
    let split = |s: String| s.split([',', ';', ' ']).filter(|p| !p.is_empty()).map(str::to_owned).collect();
    text(map, key).map(split).unwrap_or_default()
}

fn read<T>(result: Result<T, Taken>, put: impl FnOnce(T)) -> Taken {
    match result {
        Ok(value) => {
            put(value);
            Taken::Read
        }
        Err(taken) => taken,
    }
}

fn zones(item: &Item, facts: &mut Facts) -> Taken {
    let view = item.http().map_or(View::Configured, View::of);
    let zone = |map: serde_json::Map<String, Value>| -> Result<Zone, Taken> {
        Ok(Zone {
            zone: text(&map, "zone").ok_or_else(|| Taken::Unreadable("a zone without its id".to_owned()))?,
            kind: text(&map, "type").unwrap_or_default(),
            vrf_vni: text(&map, "vrf-vxlan").and_then(|v| v.parse().ok()),
            exit_nodes: list(&map, "exitnodes"),
            primary: text(&map, "exitnodes-primary"),
            nodes: list(&map, "nodes"),
            fields: map,
        })
    };
    let all = rows(item, "cluster/sdn/zones").and_then(|rows| rows.into_iter().map(zone).collect::<Result<_, _>>());
    read(all, |all: Vec<Zone>| {
        facts.sdn.zone_readings.push((view, Sourced::new(all.clone(), item)));
        facts.sdn.zones.insert(view, Sourced::new(all, item));
    })
}

fn subnets(item: &Item, facts: &mut Facts) -> Taken {
    let Some(http) = item.http() else { return Taken::NotMine };
    let (view, vnet) = (View::of(http), http.segment(3).to_owned());
    let subnet = |map: serde_json::Map<String, Value>| -> Result<Subnet, Taken> {
        let cidr = text(&map, "cidr").and_then(|c| c.parse().ok());
        Ok(Subnet {
            cidr: cidr.ok_or_else(|| Taken::Unreadable("a subnet without a prefix".to_owned()))?,
            zone: text(&map, "zone").unwrap_or_default(),
            vnet: text(&map, "vnet").unwrap_or_else(|| vnet.clone()),
            snat: text(&map, "snat").is_some_and(|s| s == "1"),
            fields: map,
        })
    };
    // What is not there yet is among what waits.
    let new = |map: &serde_json::Map<String, Value>| text(map, "state").as_deref() == Some("new");
    let all = rows(item, "cluster/sdn/vnets/*/subnets").and_then(|rows| {
        rows.into_iter().filter(|map| !new(map) || map.contains_key("cidr")).map(subnet).collect::<Result<_, _>>()
    });
    read(all, |all| drop(facts.sdn.subnets.insert((view, vnet.clone()), Sourced::new(all, item))))
}

fn ip_vrf(item: &Item, facts: &mut Facts) -> Taken {
    let Some(http) = item.http() else { return Taken::NotMine };
    let key = (http.segment(1).to_owned(), http.segment(4).to_owned());
    let route = |map: serde_json::Map<String, Value>| {
        let hops = map.get("nexthops").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        VrfRoute {
            ip: text(&map, "ip").unwrap_or_default(),
            protocol: text(&map, "protocol").unwrap_or_default(),
            nexthops: hops.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        }
    };
    let all = rows(item, "nodes/*/sdn/zones/*/ip-vrf").map(|rows| rows.into_iter().map(route).collect());
    read(all, |all| drop(facts.sdn.ip_vrf.insert(key, Sourced::new(all, item))))
}
