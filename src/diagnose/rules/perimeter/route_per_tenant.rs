//! A route or an interface for a part of the tenants' block.

use ipnet::IpNet;

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "route-per-tenant",
    layer: Layer::Perimeter,
    severity: Severity::Warning,
    says: "The router has a route to a part of the tenants' block, or an interface in it. One aggregate route serves all tenants, \
           and the router knows none of them by itself: such a route stays when its tenant goes, and wins over the aggregate \
           for the next one.",
    reads: "static routes and interfaces of the router, the site file",
    unlike: &[("route-left-over", "the part is no tenant's any more"), ("route-missing", "there is no route at all")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some(site) = &facts.site else { return };
    let overlay = IpNet::from(site.value.numbering.overlay);
    let part = |net: &IpNet| overlay.contains(net) && *net != overlay;
    // Of a network that no tenant has another rule speaks, where the list of tenants is whole.
    let gone = |net: &IpNet| super::tenants::whole(facts).is_ok_and(|all| !all.have(net));
    if let Some(routes) = &facts.perimeter.routes {
        let mut clean = true;
        for route in routes.iter().filter(|route| part(&route.network.trunc())) {
            clean = false;
            if gone(&route.network.trunc()) {
                continue;
            }
            let shown = route.network.to_string();
            let finding = out
                .finding(Subject::new("subnet", &shown), format!("The router has a route for {shown} alone."))
                .fact("route.gateway", &shown, &route.gateway)
                .fact("route.enabled", &shown, if route.enabled { "yes" } else { "no" })
                .affects([&shown])
                .from(routes)
                .from(site)
                .next("remove-route", 3, format!("remove it: the aggregate {overlay} serves all tenants"));
            out.found(finding);
        }
        if clean {
            out.pass(Subject::new("source", "static routes"));
        }
    }
    let interfaces = facts.perimeter.interfaces.iter().flat_map(|all| all.iter().map(move |i| (all, i)));
    for (all, interface) in interfaces.filter(|(_, i)| i.net.is_some_and(|net| part(&net.trunc()))) {
        let net = interface.net.map(|net| net.to_string()).unwrap_or_default();
        let title = format!("Interface {} of the router stands in the tenants' block.", interface.description);
        let finding = out
            .finding(Subject::new("source", &interface.description), title)
            .fact("interface.address", &interface.description, &net)
            .affects([&net])
            .from(all)
            .from(site)
            .next("remove-interface", 3, format!("take {} out of the tenants' block", interface.description));
        out.found(finding);
    }
}
