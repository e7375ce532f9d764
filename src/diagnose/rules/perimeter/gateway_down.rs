//! A gateway that is down.

use super::super::{Out, Rule};
use super::monitor_silent::is_down;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "gateway-down",
    layer: Layer::Perimeter,
    severity: Severity::Fault,
    says: "The next hop of a gateway is not there, or somebody forced the gateway down; routes by way of it are not in force.",
    reads: "gateways with their monitoring, the router's neighbours, static routes",
    unlike: &[
        ("gateway-monitor-silent", "the next hop is there, and only its monitor is not answered"),
        ("route-missing", "there is no route at all"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some(gateways) = &facts.perimeter.gateways else { return };
    for gateway in gateways.iter() {
        let forced = gateway.status == "force_down";
        let neighbour = facts
            .perimeter
            .arp
            .as_ref()
            .zip(gateway.address)
            .map(|(arp, ip)| arp.iter().any(|n| n.ip == ip && n.mac.is_some()));
        if !(forced || is_down(gateway) && neighbour == Some(false)) {
            continue;
        }
        let name = &gateway.name;
        let why = if forced { "forced down" } else { "its next hop is not there" };
        let by_it = facts.perimeter.routes.iter().flat_map(|all| all.value.iter()).filter(|r| r.gateway == *name);
        // The exit node behind it: where that one is gone or without its uplink, this is a consequence.
        let exits = facts.site.iter().flat_map(|site| &site.value.exit_nodes);
        let behind = exits.filter(|exit| !forced && gateway.address == Some(exit.transit_address.into()));
        let mut finding = out
            .finding(Subject::new("source", name), format!("Gateway {name} is down: {why}."))
            .fact("gateway.status", name, &gateway.status)
            .affects(by_it.map(|route| route.network.to_string()))
            .affects(behind.map(|exit| &exit.name))
            .from(gateways)
            .next("check-gateway", 0, format!("look at the next hop of {name}"));
        if forced {
            finding = finding.next("unforce-gateway", 3, format!("or mark {name} as up again"));
        }
        out.found(finding);
    }
}
