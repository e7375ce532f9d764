//! What nodes made of the configuration.

use std::net::IpAddr;

use serde_json::{Map, Value};

use super::super::{Facts, Reader, Sourced, Taken};
use super::{read, rows, text};
use crate::diagnose::evidence::Item;

/// Readers of this file.
pub(super) const READERS: &[Reader] = &[zones, content, mac_vrf];

/// A VNet on a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// VNet.
    pub vnet: String,
    /// `available`, `pending`, `error`.
    pub status: String,
    /// Why, in Proxmox's words.
    pub message: Option<String>,
}

/// An address that a node learnt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MacEntry {
    /// Address; `None` where only the MAC is known.
    pub ip: Option<IpAddr>,
    /// MAC.
    pub mac: String,
}

fn zones(item: &Item, facts: &mut Facts) -> Taken {
    let Some(http) = item.http() else { return Taken::NotMine };
    let node = http.segment(1).to_owned();
    let zone = |map: Map<String, Value>| Some((text(&map, "zone")?, text(&map, "status").unwrap_or_default()));
    let all = rows(item, "nodes/*/sdn/zones").map(|rows| rows.into_iter().filter_map(zone).collect());
    read(all, |all| drop(facts.sdn.node_zones.insert(node, Sourced::new(all, item))))
}

fn content(item: &Item, facts: &mut Facts) -> Taken {
    let Some(http) = item.http() else { return Taken::NotMine };
    let key = (http.segment(1).to_owned(), http.segment(4).to_owned());
    let vnet = |map: Map<String, Value>| {
        Some(Content {
            vnet: text(&map, "vnet")?,
            status: text(&map, "status").unwrap_or_default(),
            message: text(&map, "statusmsg"),
        })
    };
    let all = rows(item, "nodes/*/sdn/zones/*/content").map(|rows| rows.into_iter().filter_map(vnet).collect());
    read(all, |all| drop(facts.sdn.content.insert(key, Sourced::new(all, item))))
}

fn mac_vrf(item: &Item, facts: &mut Facts) -> Taken {
    let Some(http) = item.http() else { return Taken::NotMine };
    let key = (http.segment(1).to_owned(), http.segment(4).to_owned());
    let entry = |map: Map<String, Value>| MacEntry {
        ip: text(&map, "ip").and_then(|ip| ip.parse().ok()),
        mac: text(&map, "mac").unwrap_or_default(),
    };
    let all = rows(item, "nodes/*/sdn/vnets/*/mac-vrf").map(|rows| rows.into_iter().map(entry).collect());
    read(all, |all| drop(facts.sdn.mac_vrf.insert(key, Sourced::new(all, item))))
}
