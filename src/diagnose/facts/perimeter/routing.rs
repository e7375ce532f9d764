//! Interfaces, static routes, gateways and their monitoring, neighbours.

use std::net::IpAddr;

use ipnet::IpNet;

use crate::diagnose::evidence::Item;
use crate::diagnose::facts::rows::{Row, listed, read, selected, truth};
use crate::diagnose::facts::sdn::text;
use crate::diagnose::facts::{Facts, Reader, Sourced, Taken};

/// Readers.
pub(super) const READERS: &[Reader] = &[interfaces, routes, gateways, arp];

/// An interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// `lan`, `opt3`.
    pub id: String,
    /// As described.
    pub description: String,
    /// Device.
    pub device: String,
    /// Its address with prefix.
    pub net: Option<IpNet>,
    /// It leads to a gateway: not an inner network.
    pub outside: bool,
}

/// A static route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Destination.
    pub network: IpNet,
    /// Gateway's name.
    pub gateway: String,
    /// Its address, where the row has it.
    pub via: Option<IpAddr>,
    /// Switched on.
    pub enabled: bool,
}

/// A gateway and what monitoring says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gateway {
    /// Name.
    pub name: String,
    /// Address.
    pub address: Option<IpAddr>,
    /// Address that is pinged.
    pub monitor: Option<IpAddr>,
    /// `none` = reachable; `down`, `force_down`, `loss`, …
    pub status: String,
    /// Loss as shown.
    pub loss: String,
}

/// A neighbour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbour {
    /// Address.
    pub ip: IpAddr,
    /// Hardware address; `None` = nobody answered.
    pub mac: Option<String>,
}

fn interfaces(item: &Item, facts: &mut Facts) -> Taken {
    let interface = |row: &Row| Interface {
        id: text(row, "identifier").unwrap_or_default(),
        description: text(row, "description").unwrap_or_default(),
        device: text(row, "device").unwrap_or_default(),
        net: text(row, "addr4").and_then(|net| net.parse().ok()),
        outside: !selected(row.get("gateways")).is_empty(),
    };
    let rows = listed(item, &["interfaces/overview/interfacesinfo", "interfaces/overview/export"]);
    read(rows, |rows| facts.perimeter.interfaces = Some(Sourced::new(rows.iter().map(interface).collect(), item)))
}

fn routes(item: &Item, facts: &mut Facts) -> Taken {
    let route = |row: &Row| -> Result<Route, Taken> {
        let network = text(row, "network").and_then(|n| n.parse().ok());
        let gateway = text(row, "gateway").unwrap_or_default();
        // `NAME - address`, or the name alone.
        let (name, via) = gateway.split_once(" - ").unwrap_or((&gateway, ""));
        let enabled = truth(row, "enabled").or_else(|| truth(row, "disabled").map(|off| !off));
        Ok(Route {
            network: network.ok_or_else(|| Taken::Unreadable("a route without a network".to_owned()))?,
            gateway: name.to_owned(),
            via: via.trim().parse().ok(),
            enabled: enabled.unwrap_or(true),
        })
    };
    let all = listed(item, &["routes/routes/searchroute"])
        .and_then(|rows| rows.iter().map(route).collect::<Result<Vec<_>, _>>());
    read(all, |all| facts.perimeter.routes = Some(Sourced::new(all, item)))
}

fn gateways(item: &Item, facts: &mut Facts) -> Taken {
    let ip = |row: &Row, key: &str| text(row, key).and_then(|a| a.parse().ok());
    let gateway = |row: &Row| Gateway {
        name: text(row, "name").unwrap_or_default(),
        address: ip(row, "gateway").or_else(|| ip(row, "address")),
        monitor: ip(row, "monitor"),
        status: text(row, "status").unwrap_or_default().to_ascii_lowercase(),
        loss: text(row, "loss").unwrap_or_default(),
    };
    let rows = listed(item, &["routes/gateway/status"]);
    read(rows, |rows| facts.perimeter.gateways = Some(Sourced::new(rows.iter().map(gateway).collect(), item)))
}

fn arp(item: &Item, facts: &mut Facts) -> Taken {
    let neighbour = |row: &Row| {
        let mac = text(row, "mac").filter(|mac| mac.contains(':') && truth(row, "expired") != Some(true));
        Some(Neighbour { ip: text(row, "ip")?.parse().ok()?, mac })
    };
    let rows = listed(item, &["diagnostics/interface/searcharp", "diagnostics/interface/getarp"]);
    read(rows, |rows| facts.perimeter.arp = Some(Sourced::new(rows.iter().filter_map(neighbour).collect(), item)))
}
