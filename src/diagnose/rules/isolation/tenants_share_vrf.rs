//! VNets of several tenants are in one zone, which routes between them.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{Out, Rule};
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};
use crate::site::names::TenantName;

/// The rule.
pub static RULE: Rule = Rule {
    id: "tenants-share-vrf",
    layer: Layer::Isolation,
    severity: Severity::Fault,
    says: "The zone is the boundary of routing; VNets in it are separate segments that the gateway routes between. VNets are \
           named after their tenant, so names of different stems in one zone are several tenants that reach each other.",
    reads: "VNets, routes of the zone's VRF",
    unlike: &[("inter-tenant-leak", "each tenant has a zone, and a route leads across")],
    explains: &["tag-off-plan", "tenant-off-plan"],
    judge,
};

/// A VNet's name without the number at its end: the platform makes it of the tenant's name and a number.
fn stem(vnet: &str) -> &str {
    vnet.trim_end_matches(|c: char| c.is_ascii_digit())
}

/// Whom it reaches: the zone's tenant, and those whose VNets have another stem, by that.
fn tenants<'a>(zone: &'a str, names: &[&'a str]) -> BTreeSet<&'a str> {
    let own = zone.parse::<TenantName>().ok();
    let of = |name: &&'a str| {
        let stem = stem(name);
        if own.as_ref().is_some_and(|own| own.vnet_prefix() == stem) { zone } else { stem }
    };
    names.iter().map(of).chain([zone]).collect()
}

/// Zones in which there are VNets of several tenants.
pub(super) fn shared(facts: &Facts) -> BTreeSet<&str> {
    held(facts).0.into_keys().collect()
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let (shared, routed) = held(facts);
    for (zone, names) in shared {
        let finding = finding(zone, &names, routed.get(zone).map_or(&[][..], Vec::as_slice), out);
        out.found(with_sources(finding, facts, zone));
    }
}

/// VNets by zone, and what a zone's VRF is connected to.
type Held<'f> = (BTreeMap<&'f str, Vec<&'f str>>, BTreeMap<&'f str, Vec<(&'f str, &'f str)>>);

/// VNets of zones that hold several tenants', and what VRFs are connected to.
fn held(facts: &Facts) -> Held<'_> {
    let mut vnets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let listed = facts.sdn.vnets_in_force();
    for vnet in listed.iter().flat_map(|list| list.iter()).filter(|vnet| !vnet.zone.is_empty()) {
        vnets.entry(&vnet.zone).or_default().push(&vnet.vnet);
    }
    let mut routed: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for ((_, zone), routes) in &facts.sdn.ip_vrf {
        for route in routes.iter().filter(|route| route.protocol == "connected") {
            let hops = route.nexthops.iter().map(|dev| (dev.as_str(), route.ip.as_str()));
            routed.entry(zone).or_default().extend(hops);
        }
    }
    for (zone, devices) in &routed {
        vnets.entry(zone).or_default().extend(devices.iter().map(|(dev, _)| *dev));
    }
    vnets.retain(|zone, names| {
        names.sort_unstable();
        names.dedup();
        let mut stems: Vec<&str> = names.iter().map(|name| stem(name)).collect();
        stems.dedup();
        // Other zones (VLAN, simple) may hold whatever they like: only VRFs route between their VNets.
        let evpn = facts
            .sdn
            .zones_in_force()
            .and_then(|zones| zones.iter().find(|z| z.zone == *zone).map(|z| z.kind == "evpn"));
        stems.len() > 1 && evpn != Some(false)
    });
    (vnets, routed)
}

fn finding(zone: &str, names: &[&str], routed: &[(&str, &str)], out: &Out<'_>) -> Finding {
    let title = format!("Zone {zone} holds VNets of several tenants ({}) and routes between them.", names.join(", "));
    let mut finding = out
        .finding(Subject::new("zone", zone), title)
        .affects(tenants(zone, names))
        .next("zone-per-tenant", 3, "give each tenant a zone of its own")
        .next("vnet-firewall", 2, "or part them by explicit rules of the VNet firewall");
    for name in names {
        finding = finding.fact("zone.vnet", zone, name);
    }
    for (dev, net) in routed {
        finding = finding.fact("vrf.connected", *net, dev);
    }
    finding
}

fn with_sources(mut finding: Finding, facts: &Facts, zone: &str) -> Finding {
    if let Some(list) = facts.sdn.vnets_in_force() {
        finding = finding.from(list);
    }
    for ((_, of), routes) in &facts.sdn.ip_vrf {
        if of == zone {
            finding = finding.from(&Sourced { value: (), file: routes.file.clone() });
        }
    }
    finding
}
