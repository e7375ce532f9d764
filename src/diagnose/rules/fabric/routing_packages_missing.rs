//! A node lacks the packages that routing needs; its interfaces are up all the same.

use std::collections::BTreeSet;

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "routing-packages-missing",
    layer: Layer::Fabric,
    severity: Severity::Fault,
    says: "A node of an EVPN zone lacks FRR or its Python tools. Bridges come up and the platform shows the VNet as available, \
           but nothing routes there: guests on that node are cut off. Reloads end with a warning at most.",
    reads: "the log of the node's reload, the packages it has, VNets and routes of the zone on it",
    unlike: &[("frr-down", "FRR is installed and does not run")],
    explains: &["frr-down"],
    judge,
};

/// What routing needs.
const NEEDED: [&str; 2] = ["frr", "frr-pythontools"];

/// Packages that the log of a reload asks for: `Please install the NAME package` (the platform's own words).
fn asked_for(facts: &Facts, node: &str) -> BTreeSet<&'static str> {
    let logs = facts.pve.logs.iter().filter(|log| log.node == node && log.kind == "srvreload");
    let lines = logs.flat_map(|log| &log.lines);
    lines
        .flat_map(|line| NEEDED.into_iter().filter(move |name| line.contains(&format!("install the {name} package"))))
        .collect()
}

/// Packages that a list shows to be absent. It leaves out what is not installed.
fn not_listed(facts: &Facts, node: &str) -> BTreeSet<&'static str> {
    let Some(list) = facts.pve.packages.get(node) else { return BTreeSet::new() };
    // A list without SDN's own package is no list of what SDN needs.
    if !list.contains("libpve-network-perl") {
        return BTreeSet::new();
    }
    NEEDED.into_iter().filter(|name| !list.contains(*name)).collect()
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let nodes: BTreeSet<&str> = facts
        .pve
        .logs
        .iter()
        .map(|log| log.node.as_str())
        .chain(facts.pve.packages.keys().map(String::as_str))
        .chain(facts.sdn.ip_vrf.keys().map(|(node, _)| node.as_str()))
        .collect();
    for node in nodes {
        let missing: BTreeSet<_> = asked_for(facts, node).union(&not_listed(facts, node)).copied().collect();
        if missing.is_empty() {
            let silent = facts.sdn.ip_vrf.iter().any(|((on, _), routes)| on == node && routes.is_empty());
            if facts.pve.packages.contains_key(node) {
                out.pass(Subject::new("node", node));
            } else if silent {
                out.unknown(format!("the packages of {node}"), facts.pve.why(&format!("nodes/{node}/apt/versions")));
            }
            continue;
        }
        let finding = finding(facts, node, &missing, out);
        out.found(finding);
    }
}

fn finding(facts: &Facts, node: &str, missing: &BTreeSet<&str>, out: &Out<'_>) -> Finding {
    let names: Vec<&str> = missing.iter().copied().collect();
    let title = format!("{node} lacks {}: its interfaces are up, but nothing routes there.", names.join(" and "));
    let mut finding = out.finding(Subject::new("node", node), title).affects([node]);
    for name in &names {
        finding = finding.fact("package", format!("{node}/{name}"), "not installed");
    }
    if let Some(list) = facts.pve.packages.get(node) {
        finding = finding.from(list);
    }
    for log in facts.pve.logs.iter().filter(|log| log.node == node && log.kind == "srvreload") {
        finding = finding.from(log);
    }
    for ((_, zone), vnets) in facts.sdn.content.iter().filter(|((on, _), _)| on == node) {
        let up = vnets.iter().all(|vnet| vnet.status == "available");
        finding =
            finding.fact("interfaces", format!("{node}/{zone}"), if up { "up" } else { "not all up" }).from(vnets);
    }
    for ((_, zone), routes) in facts.sdn.ip_vrf.iter().filter(|((on, _), routes)| on == node && routes.is_empty()) {
        finding = finding.fact("routing", format!("{node}/{zone}"), "does not answer").from(routes);
    }
    finding
        .next("install-packages", 2, format!("install {} on {node}", names.join(" ")))
        .command(format!("apt install {}", names.join(" ")))
        .next("reload-node", 2, format!("then reload the network of {node}"))
}
