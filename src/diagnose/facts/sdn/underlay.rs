//! What the overlay stands on: controllers, fabrics and their members.

use std::net::IpAddr;

use ipnet::IpNet;
use serde_json::{Map, Value};

use super::super::{Facts, Reader, Sourced, Taken, json};
use super::{Pending, View, list, read, rows, text};
use crate::diagnose::evidence::{Api, Item};

/// Readers of this file.
pub(super) const READERS: &[Reader] = &[controllers, fabrics];

/// A controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Controller {
    /// Id.
    pub controller: String,
    /// `evpn`, `bgp`, `isis`.
    pub kind: String,
    /// Autonomous system.
    pub asn: Option<u32>,
    /// Peers as written.
    pub peers: Vec<String>,
    /// Fabric whose members are its peers.
    pub fabric: Option<String>,
}

/// A fabric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fabric {
    /// Id.
    pub id: String,
    /// Prefix of its loopbacks.
    pub prefix: Option<IpNet>,
}

/// A node of a fabric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FabricNode {
    /// Fabric.
    pub fabric: String,
    /// Node.
    pub node: String,
    /// Its loopback: the address of its tunnels.
    pub ip: Option<IpAddr>,
    /// Interfaces of the underlay.
    pub interfaces: Vec<String>,
}

/// Fabrics and their members.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fabrics {
    /// Fabrics.
    pub fabrics: Vec<Fabric>,
    /// Members.
    pub nodes: Vec<FabricNode>,
}

/// The row as it would be: new objects have their fields below `pending`, fabrics even their ids.
fn whole(row: &Map<String, Value>) -> Map<String, Value> {
    let mut all = row.get("pending").and_then(Value::as_object).cloned().unwrap_or_default();
    all.extend(row.iter().map(|(key, value)| (key.clone(), value.clone())));
    all
}

fn controllers(item: &Item, facts: &mut Facts) -> Taken {
    let view = item.http().map_or(View::Configured, View::of);
    let controller = |row: Map<String, Value>| -> Result<Controller, Taken> {
        let row = whole(&row);
        Ok(Controller {
            controller: text(&row, "controller")
                .ok_or_else(|| Taken::Unreadable("a controller without its id".to_owned()))?,
            kind: text(&row, "type").unwrap_or_default(),
            asn: text(&row, "asn").and_then(|asn| asn.parse().ok()),
            peers: list(&row, "peers"),
            fabric: text(&row, "fabric"),
        })
    };
    let all = rows(item, "cluster/sdn/controllers")
        .and_then(|rows| rows.into_iter().map(controller).collect::<Result<_, _>>());
    read(all, |all| drop(facts.sdn.controllers.insert(view, Sourced::new(all, item))))
}

/// `name=IF,…` or the name alone.
fn interface(value: &Value) -> Option<String> {
    let text = value.as_str()?;
    let named = text.split(',').find_map(|part| part.strip_prefix("name="));
    Some(named.unwrap_or(text).to_owned())
}

fn fabrics(item: &Item, facts: &mut Facts) -> Taken {
    let Some(http) = item.http().filter(|h| h.gets(Api::Proxmox, "cluster/sdn/fabrics/all") && h.ok()) else {
        return Taken::NotMine;
    };
    let view = View::of(http);
    let value = match json(item) {
        Ok(value) => value,
        Err(taken) => return taken,
    };
    let part = |name: &str| -> Option<Vec<Map<String, Value>>> {
        let rows = value.get("data")?.get(name)?.as_array()?;
        rows.iter().map(|row| row.as_object().cloned()).collect()
    };
    let (Some(fabrics), Some(nodes)) = (part("fabrics"), part("nodes")) else {
        return Taken::Unreadable("fabrics without their two lists".to_owned());
    };
    if view == View::Pending {
        waits("fabric", &fabrics, item, facts);
        waits("fabric-node", &nodes, item, facts);
    }
    let fabric = |row: &Map<String, Value>| {
        let row = whole(row);
        Some(Fabric { id: text(&row, "id")?, prefix: text(&row, "ip_prefix").and_then(|net| net.parse().ok()) })
    };
    let node = |row: &Map<String, Value>| {
        let row = whole(row);
        let interfaces = row.get("interfaces").and_then(Value::as_array);
        Some(FabricNode {
            fabric: text(&row, "fabric_id")?,
            node: text(&row, "node_id")?,
            ip: text(&row, "ip").and_then(|ip| ip.parse().ok()),
            interfaces: interfaces.into_iter().flatten().filter_map(interface).collect(),
        })
    };
    let all = Fabrics {
        fabrics: fabrics.iter().filter_map(fabric).collect(),
        nodes: nodes.iter().filter_map(node).collect(),
    };
    facts.sdn.fabrics.insert(view, Sourced::new(all, item));
    Taken::Read
}

/// Objects of a fabric that wait; the platform's lock does not count them (`facts/proxmox.md` §6).
fn waits(kind: &'static str, rows: &[Map<String, Value>], item: &Item, facts: &mut Facts) {
    facts.sdn.pending_read.insert(kind, Sourced::new((), item));
    for row in rows {
        let Some(state) = text(row, "state") else { continue };
        let named = whole(row);
        let id = match kind {
            "fabric" => text(&named, "id"),
            _ => {
                text(&named, "fabric_id").zip(text(&named, "node_id")).map(|(fabric, node)| format!("{fabric}/{node}"))
            }
        };
        let one =
            Pending { kind, id: id.unwrap_or_default(), zone: None, state, changes: super::changes::changes(row) };
        facts.sdn.pending.push(Sourced::new(one, item));
    }
}

/// The best view of several: as applied, as configured, with what waits.
pub(super) fn best<T>(views: &std::collections::BTreeMap<View, Sourced<T>>) -> Option<&Sourced<T>> {
    [View::Running, View::Configured, View::Pending].iter().find_map(|view| views.get(view))
}
