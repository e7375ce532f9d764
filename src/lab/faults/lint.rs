//! What still works and is not as the plan has it, and what somebody who is gone left behind.

use serde_json::json;

use super::Scope::{Site, Tenant};
use super::Spec;
use crate::lab::build::{SERVICE_NODE, uuid};
use crate::lab::perimeter::build::{FABRIC_GATEWAY, PRIVATE};
use crate::lab::perimeter::{Alias, Route};
use crate::lab::sdn::{Kind, subnet_parts};
use crate::lab::state::{LocalStanza, World};

/// The subnet of index 63, which no tenant has.
const NOBODYS: &str = "10.20.191.0/24";

/// Faults of order.
pub(super) const SPECS: &[Spec] = &[
    Spec {
        id: "exit-primary-outside",
        scope: Tenant,
        title: "the primary exit node is none of the zone's exit nodes",
        changes: "exitnodes-primary names the other node, applied",
        apply: |w, t| {
            w.sdn.settle(Kind::Zone, t, |zone| {
                zone.insert("exitnodes-primary".to_owned(), json!(SERVICE_NODE));
            });
        },
    },
    Spec {
        id: "tag-off-plan",
        scope: Tenant,
        title: "the VNet's tag is of no tenant's band",
        changes: "tag 20990, applied",
        apply: |w, t| {
            let vnets: Vec<String> = w.sdn.configured.vnets_of(t).cloned().collect();
            for vnet in vnets.iter().take(1) {
                w.sdn.settle(Kind::Vnet, vnet, |vnet| {
                    vnet.insert("tag".to_owned(), json!(20_990));
                });
            }
        },
    },
    Spec {
        id: "gateway-off-plan",
        scope: Tenant,
        title: "the subnet's gateway is not the one workloads are given",
        changes: "gateway .254, applied",
        apply: gateway_off_plan,
    },
    Spec {
        id: "frr-default-unkept",
        scope: Tenant,
        title: "the VRF's default stands in frr.conf alone",
        changes: "stanza in frr.conf, not in frr.conf.local: the next apply takes it away",
        apply: |w, t| w.exit.vrf_mut(t).local = LocalStanza::Unkept,
    },
    Spec {
        id: "route-per-tenant",
        scope: Tenant,
        title: "the perimeter has a route for one tenant alone",
        changes: "a route to the tenant's subnet beside the aggregate",
        apply: |w, t| {
            let of = |id: &String| {
                subnet_parts(id).filter(|(zone, ..)| *zone == t).map(|(_, net, mask)| format!("{net}/{mask}"))
            };
            let net = w.sdn.running.of(Kind::Subnet).find_map(|(id, _)| of(id));
            if let Some(net) = net {
                route(w, &net);
            }
        },
    },
    Spec {
        id: "route-left-over",
        scope: Site,
        title: "the route of a tenant that is gone is still there",
        changes: "a route to 10.20.191.0/24, the subnet of index 63",
        apply: |w, _| route(w, NOBODYS),
    },
    Spec {
        id: "route-wrong-gateway",
        scope: Site,
        title: "the way to tenants leads to nobody",
        changes: "TENANT_FABRIC_GW is 10.20.50.99",
        apply: |w, _| {
            if let Some(gateway) = w.perimeter.gateways.iter_mut().find(|gateway| gateway.name == FABRIC_GATEWAY) {
                gateway.address = std::net::Ipv4Addr::new(10, 20, 50, 99);
            }
        },
    },
    Spec {
        id: "alias-left-over",
        scope: Site,
        title: "the alias of a tenant that is gone is still there",
        changes: "alias tenant_drill with 10.20.191.0/24",
        apply: |w, _| {
            let alias = Alias {
                uuid: uuid(w, "alias drill"),
                name: "tenant_drill".to_owned(),
                kind: "network".to_owned(),
                content: vec![NOBODYS.to_owned()],
                description: "ansible: tenant drill".to_owned(),
            };
            w.perimeter.aliases.push(alias);
        },
    },
    Spec {
        id: "perimeter-too-wide",
        scope: Site,
        title: "tenants' way to the Internet also leads to management",
        changes: "rule tenant_transit -> internet passes to any, not to all but private networks",
        apply: |w, _| {
            let wide =
                |rule: &&mut crate::lab::perimeter::Rule| rule.description.ends_with("tenant_transit -> internet");
            if let Some(rule) = w.perimeter.rules.iter_mut().filter(|rule| rule.destination == PRIVATE).find(wide) {
                rule.destination = "any".to_owned();
                rule.destination_not = false;
            }
        },
    },
];

fn gateway_off_plan(world: &mut World, tenant: &str) {
    let mine = |id: &&String| subnet_parts(id).is_some_and(|(zone, ..)| zone == tenant);
    let first = world.sdn.configured.of(Kind::Subnet).map(|(id, _)| id).find(mine).cloned();
    let Some(id) = first else { return };
    let Some((_, network, _)) = subnet_parts(&id) else { return };
    let gateway = network.rsplit_once('.').map_or_else(String::new, |(head, _)| format!("{head}.254"));
    world.sdn.settle(Kind::Subnet, &id, |subnet| {
        subnet.insert("gateway".to_owned(), json!(gateway));
    });
}

fn route(world: &mut World, network: &str) {
    let route = Route {
        uuid: uuid(world, &format!("route {network}")),
        network: network.to_owned(),
        gateway: FABRIC_GATEWAY.to_owned(),
        description: format!("ansible: {network}"),
        enabled: true,
    };
    world.perimeter.routes.push(route);
}
