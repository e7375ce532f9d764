//! The router does not know the way to the tenants.

use super::super::{Out, Rule};
use super::{ROUTES, interface_of, interfaces};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "route-missing",
    layer: Layer::Perimeter,
    severity: Severity::Fault,
    says: "No enabled static route covers a tenant's subnet, and no interface is in it: answers and operators' packets to it \
           take the default route and are lost. One aggregate route by way of the fabric serves all tenants.",
    reads: "the tenants' subnets, static routes and interfaces of the router",
    unlike: &[
        ("gateway-down", "the route is there and its gateway is down"),
        ("return-route-missing", "the exit node lacks the way back"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some(routes) = &facts.perimeter.routes else { return };
    let subnets: Vec<_> = facts.sdn.subnets.values().flat_map(|all| all.value.iter()).collect();
    if subnets.is_empty() {
        return;
    }
    let Some(interfaces) = interfaces(facts, out) else { return };
    // A list of routes that is empty because nothing was let in says nothing.
    if let Some(why) = facts.calls.why(Api::Opnsense, ROUTES) {
        out.unknown("the static routes of the router", Some(why));
        return;
    }
    for subnet in subnets {
        let shown = subnet.cidr.to_string();
        let way = routes.iter().find(|r| r.enabled && r.network.contains(&subnet.cidr));
        if way.is_some() || interface_of(interfaces, subnet.cidr.network()).is_some() {
            out.pass(Subject::new("subnet", &shown));
            continue;
        }
        let off = routes.iter().any(|r| !r.enabled && r.network.contains(&subnet.cidr));
        let finding = out
            .finding(Subject::new("subnet", &shown), format!("The router has no route to {shown}."))
            .fact("route", &shown, if off { "switched off" } else { "none" })
            .affects([&subnet.zone, &shown])
            .from(routes)
            .next(
                "add-route",
                3,
                "add the aggregate route of the tenants by way of the fabric's gateway, or switch it on",
            );
        out.found(finding);
    }
}
