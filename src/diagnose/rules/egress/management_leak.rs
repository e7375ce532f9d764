//! A tenant's traffic leaves its exit node by management, untranslated.

use super::super::exits::exits;
use super::super::{Out, Rule};
use super::vrf_default::{direct, each, expected, leaks, with_routes};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity};

/// The rule.
pub static RULE: Rule = Rule {
    id: "management-leak",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "A tenant's VRF on its exit node has neither a default route nor the unreachable guard, and main's default leads \
           elsewhere than to the transit interface: all of the tenant's internet traffic leaves there, untranslated.",
    reads: "routes of the VRF and of main, lookups of a guest's packet, the site file",
    unlike: &[("vrf-default-missing", "main's default is on the transit interface, or the guard is in place")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
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
