//! The tenants' default route on an exit node: missing, or by another gateway.

use super::super::exits::{Exit, Tenant, exits};
use super::super::{Out, Rule};
use crate::backends::exit_node::model::{Lookup, Route};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Finding, Layer, Severity};
use crate::site::model::ExitNodeSite;

/// The default is missing.
pub static MISSING: Rule = Rule {
    id: "vrf-default-missing",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "A tenant's VRF on its exit node has no default route. With the unreachable guard in place its traffic ends there. \
           Without it lookups fall through to the main table: with main's default on the transit interface the internet \
           works as before, but the management segment is reached directly and untranslated.",
    reads: "routes of the VRF and of main, lookups of a guest's packet, the site file",
    unlike: &[
        ("management-leak", "main's default leads to management, so all traffic leaves there"),
        ("tenant-forwarding-off", "the lookup fails as well, and forwarding of the VNet is off"),
    ],
    explains: &[],
    judge: missing,
};

/// The default is another.
pub static WRONG: Rule = Rule {
    id: "vrf-default-wrong-gateway",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "A tenant's default route on its exit node points at another gateway than the site's. Packets wait for a \
           neighbour that does not answer, or leave through a stranger.",
    reads: "routes of the VRF, neighbours, the site file",
    unlike: &[("gateway-unreachable", "the gateway is the right one and does not answer")],
    explains: &[],
    judge: wrong,
};

/// Traffic leaves by management.
pub static LEAK: Rule = Rule {
    id: "management-leak",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "A tenant's VRF on its exit node has neither a default route nor the unreachable guard, and main's default leads \
           elsewhere than to the transit interface: all of the tenant's internet traffic leaves there, untranslated.",
    reads: "routes of the VRF and of main, lookups of a guest's packet, the site file",
    unlike: &[("vrf-default-missing", "main's default is on the transit interface, or the guard is in place")],
    explains: &[],
    judge: leak,
};

/// Exit nodes with what the site expects of them. Whether an exit node is to have defaults is the site's business.
fn expected<'e, 'a>(exits: &'e [Exit<'a>], out: &mut Out<'_>) -> Vec<(&'e Exit<'a>, &'a ExitNodeSite)> {
    let mut found = Vec::new();
    for exit in exits {
        match exit.site {
            Some(site) => found.push((exit, site)),
            None => out.unknown(format!("the transit gateway of {} (site.toml)", exit.name), None),
        }
    }
    found
}

/// Whether lookups without the VRF's default fall through to main, whose default is not on transit.
fn leaks(exit: &Exit<'_>, tenant: &Tenant<'_>) -> bool {
    exit.node.guard_of(&tenant.vrf).is_none()
        && exit.main_by_transit() == Some(false)
        && exit.main_default().is_some_and(|d| d.is_some())
}

fn each<'e, 'a>(
    exit: &'e Exit<'a>,
    out: &mut Out<'_>,
    hit: impl Fn(&'e Tenant<'a>, Option<&Route>) -> bool,
) -> Vec<&'e Tenant<'a>> {
    let mut hits = Vec::new();
    for tenant in &exit.tenants {
        match exit.node.default_of(&tenant.vrf) {
            None => exit.unknown(out, &format!("the routes of {}", tenant.vrf), "route"),
            Some(default) if hit(tenant, default) => hits.push(tenant),
            Some(_) => out.pass(crate::diagnose::finding::Subject::new("zone", tenant.zone)),
        }
    }
    hits
}

fn with_routes(mut finding: Finding, exit: &Exit<'_>, tenants: &[&Tenant<'_>]) -> Finding {
    for tenant in tenants {
        if let Some(routes) = exit.node.tables.get(&tenant.vrf) {
            finding = finding.from(routes);
        }
    }
    finding
}

fn missing(facts: &Facts, out: &mut Out<'_>) {
    let exits = exits(facts);
    for (exit, site) in expected(&exits, out) {
        let known = |tenant: &Tenant<'_>| exit.node.guard_of(&tenant.vrf).is_some() || exit.main_by_transit().is_some();
        let without = |default: Option<Option<&Route>>| matches!(default, Some(None));
        if exit.tenants.iter().any(|tenant| without(exit.node.default_of(&tenant.vrf)) && !known(tenant)) {
            exit.unknown(out, "the main table, by which traffic without a default leaves,", "route");
        }
        let hits = each(exit, out, |tenant, default| default.is_none() && known(tenant) && !leaks(exit, tenant));
        exit.spread(out, &hits, |out, subject, who, tenants| {
            let guarded = tenants.iter().any(|tenant| exit.node.guard_of(&tenant.vrf).is_some());
            let does = if guarded {
                "its internet traffic is refused there"
            } else {
                "it leaves by the main table, and reaches management directly and untranslated"
            };
            let title = format!("The VRF of {who} has no default route on {}: {does}.", exit.name);
            let mut finding = with_routes(out.finding(subject, title), exit, tenants);
            for tenant in tenants {
                let guard = if exit.node.guard_of(&tenant.vrf).is_some() { "in place" } else { "none" };
                finding = finding.fact("vrf.default", exit.at(tenant.zone), "none").fact(
                    "vrf.guard",
                    exit.at(tenant.zone),
                    guard,
                );
                finding = direct(finding, exit, tenant, &site.transit_interface);
            }
            finding.next(
                "restore-vrf-default",
                2,
                format!("give the VRF its default by {} again (frr.conf.local, then FRR)", site.transit_gateway),
            )
        });
    }
}

/// Lookups that leave by another interface than transit.
fn direct(mut finding: Finding, exit: &Exit<'_>, tenant: &Tenant<'_>, transit: &str) -> Finding {
    for asked in exit.outward(tenant) {
        if let Lookup::Route { dev, table: None, .. } = &asked.answer
            && dev != transit
        {
            finding = finding.fact("lookup.leaves", format!("{} to {}", tenant.zone, asked.dst), dev).from(asked);
        }
    }
    finding
}

fn wrong(facts: &Facts, out: &mut Out<'_>) {
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

fn leak(facts: &Facts, out: &mut Out<'_>) {
    let exits = exits(facts);
    for (exit, site) in expected(&exits, out) {
        let hits = each(exit, out, |tenant, default| default.is_none() && leaks(exit, tenant));
        exit.spread(out, &hits, |out, subject, who, tenants| {
            let by = exit.main_default().flatten().and_then(|route| route.dev.clone()).unwrap_or_default();
            let title = format!(
                "The traffic of {who} leaves {} by {by}, untranslated: its VRF has no default route.",
                exit.name
            );
            let mut finding = with_routes(out.finding(subject, title), exit, tenants)
                .fact("main.default", exit.name, &by)
                .fact("site.transit-interface", exit.name, &site.transit_interface);
            for tenant in tenants {
                finding = finding.fact("vrf.default", exit.at(tenant.zone), "none");
                finding = direct(finding, exit, tenant, &site.transit_interface);
            }
            finding.next(
                "restore-vrf-default",
                2,
                format!("give the VRF its default by {} again (frr.conf.local, then FRR)", site.transit_gateway),
            )
        });
    }
}
