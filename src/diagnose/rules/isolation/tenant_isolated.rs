//! Tenants are kept apart on purpose, by null routes in their VRFs.

use std::collections::{BTreeMap, BTreeSet};

use ipnet::IpNet;

use super::super::egress::zones_of_exit;
use super::super::{Out, Rule};
use super::tenants_share_vrf::shared;
use crate::backends::exit_node::model::RouteKind;
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Layer, Severity, Subject};
use crate::text::some_of;

/// The rule.
pub static RULE: Rule = Rule {
    id: "tenant-isolated",
    layer: Layer::Isolation,
    severity: Severity::Info,
    says: "An exit node drops what one tenant sends to another's subnet by a null route in the sender's VRF. The platform writes \
           it on purpose: both VRFs are routed through the main table. In a node's list of routes it is a static route \
           without a next hop. It is no fault, and it is not to be taken away.",
    reads: "routes of VRFs on nodes, subnets of all zones",
    unlike: &[("inter-tenant-leak", "the subnet of the other tenant is reached")],
    explains: &[],
    judge,
};

/// Most prefixes that are listed one by one.
const FEW: usize = 4;

/// A null route: node, zone in whose VRF it is, prefix, file.
type Null = (String, String, IpNet, Sourced<()>);

fn nulls(facts: &Facts) -> Vec<Null> {
    let mut found: Vec<Null> = Vec::new();
    for (node, zone, net, file) in kernel(facts).into_iter().chain(listed(facts)) {
        if !found.iter().any(|(n, z, p, _)| (n, z, p) == (&node, &zone, &net)) {
            found.push((node, zone, net, file));
        }
    }
    found
}

fn kernel(facts: &Facts) -> Vec<Null> {
    let mut found = Vec::new();
    for (name, node) in facts.nodes.iter() {
        for (table, routes) in &node.tables {
            let Some(zone) = table.strip_prefix("vrf_") else { continue };
            for route in routes.iter().filter(|r| r.kind == RouteKind::Blackhole && r.dst.prefix_len() > 0) {
                let file = Sourced { value: (), file: routes.file.clone() };
                found.push((name.to_owned(), zone.to_owned(), IpNet::V4(route.dst), file));
            }
        }
    }
    found
}

fn listed(facts: &Facts) -> Vec<Null> {
    let mut found = Vec::new();
    for ((node, zone), routes) in &facts.sdn.ip_vrf {
        for route in routes.iter().filter(|route| route.protocol == "static" && route.nexthops.is_empty()) {
            if let Ok(net) = route.ip.parse() {
                found.push((node.clone(), zone.clone(), net, Sourced { value: (), file: routes.file.clone() }));
            }
        }
    }
    found
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let nulls = nulls(facts);
    let mut said = BTreeSet::new();
    for (node, ..) in &nulls {
        if said.insert(node.clone()) {
            of_node(facts, node, &nulls, out);
        }
    }
}

/// What the null routes come to: all tenants of the node, or those pairs that are apart while others are not.
fn title(facts: &Facts, node: &str, by_zone: &BTreeMap<&str, Vec<IpNet>>) -> String {
    let here: Vec<&str> = zones_of_exit(facts, node);
    let apart = |from: &str, to: &str| {
        let nulls = by_zone.get(from).map_or(&[][..], Vec::as_slice);
        facts
            .sdn
            .subnets_in_force()
            .filter(|(_, s)| s.zone == to)
            .all(|(_, s)| nulls.iter().any(|n| n.contains(&s.cidr)))
    };
    let pairs: Vec<(&str, &str)> =
        here.iter().flat_map(|from| here.iter().filter(move |to| *to != from).map(move |to| (*from, *to))).collect();
    let open = pairs.iter().filter(|(from, to)| !apart(from, to)).count();
    let shared = here.iter().filter(|zone| shared(facts).contains(*zone)).count();
    let ways = format!("{} of {} ways between tenants' VRFs", pairs.len().saturating_sub(open), pairs.len());
    match (open, shared) {
        (0, 0) => format!("{node} keeps tenants apart on purpose: each other's subnets are null routes in their VRFs."),
        (0, _) => {
            format!("{node} keeps tenants' VRFs apart on purpose, by null routes; tenants within one VRF it does not.")
        }
        _ => format!("{node} bars {ways} on purpose, by null routes; the others have none."),
    }
}

fn of_node(facts: &Facts, node: &str, nulls: &[Null], out: &mut Out<'_>) {
    let mut finding = out.finding(Subject::new("node", node), "");
    let mut by_zone: BTreeMap<&str, Vec<IpNet>> = BTreeMap::new();
    let mut owners: BTreeMap<IpNet, &str> = BTreeMap::new();
    let mut nobodys: BTreeSet<IpNet> = BTreeSet::new();
    for (_, zone, net, file) in nulls.iter().filter(|(of, ..)| of == node) {
        let owner = facts.sdn.subnets_in_force().find(|(_, subnet)| subnet.cidr == *net && subnet.zone != *zone);
        let Some((subnets, owner)) = owner else {
            nobodys.insert(*net);
            continue;
        };
        by_zone.entry(zone).or_default().push(*net);
        owners.insert(*net, &owner.zone);
        finding = finding.from(file).from(subnets);
    }
    if !nobodys.is_empty() {
        let nets: Vec<String> = nobodys.iter().map(ToString::to_string).collect();
        let nets = some_of(&nets.iter().map(String::as_str).collect::<Vec<_>>());
        let whom: Vec<Subject> = nobodys.iter().map(|net| Subject::new("subnet", net.to_string())).collect();
        out.unknown_of(
            whom,
            format!("whose {nets} are, null routes in VRFs of {node}"),
            facts.pve.why("cluster/sdn/vnets"),
        );
    }
    if owners.is_empty() {
        return;
    }
    for (zone, nets) in &by_zone {
        let value = match nets.as_slice() {
            few if few.len() <= FEW => few.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
            many => format!("{} subnets of other zones", many.len()),
        };
        finding = finding.fact("vrf.null-route", format!("{node}/{zone}"), value);
    }
    if owners.len() <= FEW {
        for (net, zone) in &owners {
            finding = finding.fact("subnet.zone", net.to_string(), zone);
        }
    }
    let zones: BTreeSet<&str> = by_zone.keys().copied().chain(owners.values().copied()).collect();
    finding.title = crate::text::clean(&title(facts, node, &by_zone)).into_owned();
    let text = "connect tenants through the perimeter, by a rule and routes there; the null routes stay";
    out.found(finding.affects(zones).next("explain-sanctioned-path", 0, text));
}
