//! More faults of the perimeter, its resolver, and of PowerDNS (facts/opnsense.md §4, §6, §8–§10).

use std::net::Ipv4Addr;

use super::Scope::{Site, Tenant};
use super::Spec;
use crate::lab::perimeter::build::{FABRIC_GATEWAY, pass};
use crate::lab::perimeter::{Gateway, Route, Rule};
use crate::lab::sdn::{Kind, subnet_parts};
use crate::lab::state::World;

/// Faults of the perimeter and of names.
pub(super) const SPECS: &[Spec] = &[
    Spec {
        id: "gateway-monitor-silent",
        scope: Site,
        title: "nobody answers the monitor of the gateway to the fabric",
        changes: "TENANT_FABRIC_GW watched and down, its next hop in the ARP table",
        apply: |w, _| {
            if let Some(gateway) = w.perimeter.gateways.iter_mut().find(|gateway| gateway.name == FABRIC_GATEWAY) {
                (gateway.monitored, gateway.down) = (true, true);
            }
        },
    },
    Spec {
        id: "nat-missing-for-routed",
        scope: Tenant,
        title: "nobody translates the tenant's subnet",
        changes: "snat of the subnet off, applied; the perimeter translates attached networks only",
        apply: |w, t| {
            let own = |id: &&String| subnet_parts(id).is_some_and(|(zone, ..)| zone == t);
            let subnets: Vec<String> = w.sdn.running.of(Kind::Subnet).map(|(id, _)| id).filter(own).cloned().collect();
            for id in subnets {
                w.sdn.settle(Kind::Subnet, &id, |options| drop(options.shift_remove("snat")));
            }
        },
    },
    Spec {
        id: "asymmetric-path",
        scope: Site,
        title: "a host and the next hop of its route share a segment",
        changes: "route 10.77.0.0/16 by a host of trusted, answers dropped as of no connection",
        apply: asymmetric_path,
    },
    Spec {
        id: "rule-never-hit",
        scope: Site,
        title: "no packet has matched a rule",
        changes: "pass from trusted to 10.77.1.0/24, compared and never matched",
        apply: |w, _| {
            let rule = pass(w, 993, "trusted -> archive", "trusted", "10.77.1.0/24");
            w.perimeter.idle.insert(rule.uuid.clone());
            w.perimeter.rules.push(rule);
        },
    },
    Spec {
        id: "rule-shadowed",
        scope: Site,
        title: "a floating rule decides before a rule of the transit",
        changes: "a floating block of what tenant_transit -> iot_backend passes",
        apply: |w, _| {
            let shadowed =
                w.perimeter.rules.iter().find(|rule| rule.description.ends_with("tenant_transit -> iot_backend"));
            let Some(before) = shadowed.cloned() else { return };
            let made = pass(w, 1, "block tenants from devices", "tenant_transit", &before.destination);
            let block = Rule { action: "block".to_owned(), interface: String::new(), source: before.source, ..made };
            w.perimeter.rules.push(block);
        },
    },
    Spec {
        id: "resolver-refuses-network",
        scope: Site,
        title: "the resolver refuses the transit network",
        changes: "default refuse, an access list without 10.20.50.0/24",
        apply: |w, _| {
            let transit = w.exit.transit_address;
            let nets = w.perimeter.interfaces.iter().filter_map(|of| {
                let (address, bits) = of.address?;
                ipnet::Ipv4Net::new(address, bits).ok().map(|net| net.trunc())
            });
            w.perimeter.resolver.allowed = Some(nets.filter(|net| !net.contains(&transit)).collect());
        },
    },
    Spec {
        id: "server-is-recursor",
        scope: Site,
        title: "what answers as PowerDNS is its recursor",
        changes: "daemon_type recursor, no zones",
        apply: |w, _| w.names.recursor = true,
    },
    Spec {
        id: "zone-not-served",
        scope: Tenant,
        title: "the tenant's zone is in the database and not served yet",
        changes: "the API has the zone, the port refuses it",
        apply: |w, t| {
            if let Some(zone) = w.names.zones.get_mut(&crate::lab::names::forward_zone(t)) {
                zone.unserved = true;
            }
        },
    },
];

fn asymmetric_path(world: &mut World, _: &str) {
    let hop = Ipv4Addr::new(10, 20, 10, 2);
    let name = "LAB_ROUTER";
    let uuid = |what: &str| crate::lab::build::uuid(world, what);
    let gateway = Gateway {
        uuid: uuid("gateway lab"),
        name: name.to_owned(),
        interface: "opt1".to_owned(),
        address: hop,
        default: false,
        monitored: false,
        down: false,
    };
    let route = Route {
        uuid: uuid("route lab"),
        network: "10.77.0.0/16".to_owned(),
        gateway: name.to_owned(),
        description: "lab network".to_owned(),
        enabled: true,
    };
    world.perimeter.gateways.push(gateway);
    world.perimeter.routes.push(route);
    world.perimeter.shared_segment = Some((Ipv4Addr::new(10, 20, 10, 50), Ipv4Addr::new(10, 77, 3, 4)));
}
