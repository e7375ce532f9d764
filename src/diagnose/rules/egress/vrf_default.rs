//! What the rules of the tenants' default route share.

use super::super::Out;
use super::super::exits::{Exit, Tenant};
use crate::backends::exit_node::model::{Lookup, Route};
use crate::diagnose::finding::{Finding, Subject};
use crate::site::model::ExitNodeSite;

/// Exit nodes with what the site expects of them. Whether an exit node is to have defaults is the site's business.
pub(super) fn expected<'e, 'a>(exits: &'e [Exit<'a>], out: &mut Out<'_>) -> Vec<(&'e Exit<'a>, &'a ExitNodeSite)> {
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
pub(super) fn leaks(exit: &Exit<'_>, tenant: &Tenant<'_>) -> bool {
    exit.node.guard_of(&tenant.vrf).is_none()
        && exit.main_by_transit() == Some(false)
        && exit.main_default().is_some_and(|d| d.is_some())
}

pub(super) fn each<'e, 'a>(
    exit: &'e Exit<'a>,
    out: &mut Out<'_>,
    hit: impl Fn(&'e Tenant<'a>, Option<&Route>) -> bool,
) -> Vec<&'e Tenant<'a>> {
    let mut hits = Vec::new();
    for tenant in &exit.tenants {
        match exit.node.default_of(&tenant.vrf) {
            // Without a VRF there is no table: that is said by the rule of the missing zone.
            None if exit.realised(tenant) == Some(false) => {}
            None => exit.unknown_of(tenant, out, &format!("the routes of {}", tenant.vrf), "route"),
            Some(default) if hit(tenant, default) => hits.push(tenant),
            Some(_) => out.pass(Subject::new("zone", tenant.zone)),
        }
    }
    hits
}

pub(super) fn with_routes(mut finding: Finding, exit: &Exit<'_>, tenants: &[&Tenant<'_>]) -> Finding {
    for tenant in tenants {
        if let Some(routes) = exit.node.tables.get(&tenant.vrf) {
            finding = finding.from(routes);
        }
    }
    finding
}

/// Lookups that leave by another interface than transit.
pub(super) fn direct(mut finding: Finding, exit: &Exit<'_>, tenant: &Tenant<'_>, transit: &str) -> Finding {
    for asked in exit.outward(tenant) {
        if let Lookup::Route { dev, table: None, .. } = &asked.answer
            && dev != transit
        {
            finding = finding.fact("lookup.leaves", format!("{} to {}", tenant.zone, asked.dst), dev).from(asked);
        }
    }
    finding
}
