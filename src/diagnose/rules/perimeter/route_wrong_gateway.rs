//! The tenants' route leads to somebody who is no exit node.

use std::net::IpAddr;

use ipnet::IpNet;

use super::super::{Out, Rule};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::perimeter::routing::Route;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "route-wrong-gateway",
    layer: Layer::Perimeter,
    severity: Severity::Fault,
    says: "The route to the tenants' block is there and leads to an address that is no exit node's: operators' packets and answers \
           to routed tenants end with somebody who does not know them. Of several routes that hold the block the longest \
           counts.",
    reads: "static routes and gateways of the router, the site file",
    unlike: &[("route-missing", "there is no route"), ("gateway-down", "the gateway is the exit node, and it is down")],
    explains: &[],
    judge,
};

/// Address of a route's gateway: its own, else the one of that name.
fn address(facts: &Facts, route: &Route) -> Option<IpAddr> {
    let named = || facts.perimeter.gateways.as_ref()?.iter().find(|gateway| gateway.name == route.gateway)?.address;
    route.via.or_else(named)
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let (Some(site), Some(routes)) = (&facts.site, &facts.perimeter.routes) else { return };
    let overlay = IpNet::from(site.value.numbering.overlay);
    let exits: Vec<IpAddr> = site.value.exit_nodes.iter().map(|exit| IpAddr::V4(exit.transit_address)).collect();
    let leads = |route: &&Route| route.enabled && route.network.prefix_len() > 0 && route.network.contains(&overlay);
    // Of routes that hold the block the longest decides.
    let longest = routes.iter().filter(leads).map(|route| route.network.prefix_len()).max();
    for route in routes.iter().filter(leads).filter(|route| Some(route.network.prefix_len()) == longest) {
        let shown = route.network.to_string();
        let Some(via) = address(facts, route) else {
            let why = facts.calls.why(Api::Opnsense, "routes/gateway/status");
            out.unknown_of(
                [Subject::new("subnet", &shown)],
                format!("the address of gateway {}, by which {shown} is routed", route.gateway),
                why,
            );
            continue;
        };
        if exits.contains(&via) {
            out.pass(Subject::new("subnet", &shown));
            continue;
        }
        let finding = out
            .finding(Subject::new("subnet", &shown), format!("{shown} is routed to {via}, which is no exit node."))
            .fact("route.via", &shown, via)
            .fact("route.gateway", &shown, &route.gateway)
            .affects([&shown])
            .from(routes)
            .from(site)
            .next("correct-gateway", 3, format!("give {} the transit address of an exit node", route.gateway));
        out.found(finding);
    }
}
