//! A tenant's VRF on its exit node has no default route.

use super::super::exits::{Tenant, exits};
use super::super::{Out, Rule};
use super::vrf_default::{direct, each, expected, leaks, with_routes};
use crate::backends::exit_node::model::Route;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity};

/// The rule.
pub static RULE: Rule = Rule {
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
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
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
