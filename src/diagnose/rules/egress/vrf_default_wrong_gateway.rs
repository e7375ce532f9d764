//! A tenant's default route on its exit node points at another gateway.

use super::super::exits::exits;
use super::super::{Out, Rule};
use super::vrf_default::{each, expected, with_routes};
use crate::backends::exit_node::model::Route;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity};

/// The rule.
pub static RULE: Rule = Rule {
    id: "vrf-default-wrong-gateway",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "A tenant's default route on its exit node points at another gateway than the site's. Packets wait for a \
           neighbour that does not answer, or leave through a stranger.",
    reads: "routes of the VRF, neighbours, the site file",
    unlike: &[("gateway-unreachable", "the gateway is the right one and does not answer")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let exits = exits(facts);
    for (exit, site) in expected(&exits, out) {
        let hits = each(exit, out, |_, default| {
            default.is_some_and(|route| route.gateway != Some(site.transit_gateway) && is_static(route))
        });
        exit.spread(out, &hits, |out, subject, who, tenants| {
            let gateway = tenants.iter().filter_map(|t| exit.node.default_of(&t.vrf)??.gateway).next();
            let gateway = gateway.map_or_else(|| "no gateway".to_owned(), |gateway| gateway.to_string());
            let title = format!(
                "The default of {who} on {} points at {gateway}, not at the transit gateway {}.",
                exit.name, site.transit_gateway
            );
            let mut finding = with_routes(out.finding(subject, title), exit, tenants);
            for tenant in tenants {
                finding = finding.fact("vrf.default", exit.at(tenant.zone), &gateway).fact(
                    "site.transit-gateway",
                    exit.name,
                    site.transit_gateway,
                );
            }
            finding.next("restore-vrf-default", 2, format!("point the default at {} again", site.transit_gateway))
        });
    }
}

/// A default learnt by BGP is another fault's business.
fn is_static(route: &Route) -> bool {
    route.protocol.as_deref() != Some("bgp")
}
