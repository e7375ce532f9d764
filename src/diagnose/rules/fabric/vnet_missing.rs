//! A VNet is not there on the node that needs it: a guest's, or one whose traffic leaves there.

use super::super::exits::{Exit, Tenant, exits};
use super::super::{Out, Rule};
use super::{apply_partial, node_lags};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "vnet-missing",
    layer: Layer::Fabric,
    severity: Severity::Fault,
    says: "A guest is to run on a node on which its VNet is not there, or a zone in force has no VRF or VNet on its exit node. \
           VNets are bridges of each node: the zone may be limited to other nodes, or the node has not realised it. The \
           VNet itself exists. Whatever else is missing of such a zone on its exit node follows from that.",
    reads: "the start task, the guest's network cards, zones, the zones as the node realised them, links of exit nodes",
    unlike: &[("apply-partial", "the zone is meant for the node, whose reload failed")],
    explains: &[
        "return-route-missing",
        "snat-missing",
        "vrf-default-missing",
        "management-leak",
        "tenant-forwarding-off",
        "l3vni-not-bound",
        "hairpin-leak",
    ],
    judge,
};

/// The bridge in `bridge 'NAME' does not exist`.
fn bridge_of(end: &str) -> Option<&str> {
    end.strip_prefix("bridge '")?.strip_suffix("' does not exist")
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let mut said: Vec<(String, String, String)> = Vec::new();
    for task in &facts.pve.tasks {
        if let Some(vnet) = task.end.as_deref().and_then(bridge_of) {
            said.push((task.id.clone(), task.node.clone(), vnet.to_owned()));
        }
    }
    // Without the task: the node shows its zones, and the guest's is not among them.
    for nic in &facts.pve.nics {
        let Some(zone) = facts.sdn.zone_of(&nic.bridge) else {
            if facts.sdn.node_zones.get(&nic.node).is_some_and(|zones| zones.is_empty()) {
                out.unknown_of(
                    [Subject::new("vnet", &nic.bridge)],
                    format!("the zone of {}", nic.bridge),
                    facts.pve.why("cluster/sdn"),
                );
            }
            continue;
        };
        let absent = facts.sdn.node_zones.get(&nic.node).map(|zones| !zones.contains_key(zone));
        if absent == Some(true)
            && limits(facts, zone).is_some_and(|nodes| !nodes.is_empty() && !nodes.contains(&nic.node))
        {
            said.push((nic.vmid.clone(), nic.node.clone(), nic.bridge.clone()));
        }
    }
    said.sort();
    said.dedup();
    for (vmid, node, vnet) in said {
        let finding = finding(facts, &vmid, &node, &vnet, out);
        out.found(finding);
    }
    on_exits(facts, out);
}

/// Zones in force that have no VRF or VNet on their exit node: one finding of the node where there are several.
fn on_exits(facts: &Facts, out: &mut Out<'_>) {
    for exit in exits(facts) {
        let gone: Vec<&Tenant<'_>> =
            exit.tenants.iter().filter(|tenant| exit.realised(tenant) == Some(false)).collect();
        for tenant in exit.tenants.iter().filter(|tenant| exit.realised(tenant) == Some(true)) {
            out.pass(Subject::new("zone", tenant.zone));
        }
        let (subject, who) = match gone.as_slice() {
            [] => continue,
            [one] => (Subject::new("zone", one.zone), format!("Zone {} is", one.zone)),
            all if all.len() == exit.tenants.len() => (exit.subject(), format!("All {} zones are", all.len())),
            some => (exit.subject(), format!("{} of {} zones are", some.len(), exit.tenants.len())),
        };
        let title = format!("{who} in force and not there on exit node {}: VRF or VNet is missing.", exit.name);
        let finding = unrealised(facts, &exit, &gone, out.finding(subject, title));
        out.found(finding);
    }
}

fn unrealised(facts: &Facts, exit: &Exit<'_>, gone: &[&Tenant<'_>], mut finding: Finding) -> Finding {
    finding = finding.affects(gone.iter().map(|tenant| tenant.zone));
    if let Some(links) = &exit.node.links {
        finding = finding.from(links);
    }
    for tenant in gone {
        for device in exit.missing_devices(tenant) {
            finding = finding.fact("node.link", exit.at(device), "none");
        }
        if let Some(nodes) = limits(facts, tenant.zone).filter(|n| !n.is_empty() && !n.iter().any(|n| n == exit.name)) {
            finding = finding.fact("zone.nodes", tenant.zone, nodes.join(", "));
        }
    }
    if let Some(zones) = facts.sdn.zones_in_force() {
        finding = finding.from(zones);
    }
    let cause = if apply_partial::broken(facts).contains(exit.name) {
        Some(apply_partial::RULE.id)
    } else {
        node_lags::lagging(facts).iter().any(|(node, _)| *node == exit.name).then_some(node_lags::RULE.id)
    };
    finding
        .caused_by(cause.map(|id| (id, exit.subject())))
        .next("open-reload-log", 0, format!("look how the last network reload of {} ended", exit.name))
        .command(format!("pvesh get /nodes/{}/tasks --typefilter srvreload --limit 5", exit.name))
        .next("reload-node", 2, format!("reload the network of {} alone", exit.name))
        .command(format!("pvesh set /nodes/{}/network --regenerate-frr 1", exit.name))
}

fn limits<'a>(facts: &'a Facts, zone: &str) -> Option<&'a Vec<String>> {
    Some(&facts.sdn.zones_in_force()?.iter().find(|z| z.zone == zone)?.nodes)
}

fn finding(facts: &Facts, vmid: &str, node: &str, vnet: &str, out: &mut Out<'_>) -> Finding {
    let nics: Vec<_> = facts.pve.nics.iter().filter(|nic| nic.vmid == vmid).collect();
    let who = nics.iter().find_map(|nic| nic.guest.clone()).unwrap_or_else(|| vmid.to_owned());
    let zone = facts.sdn.zone_of(vnet);
    let nodes = zone.and_then(|zone| limits(facts, zone));
    let reason = match (zone, nodes) {
        (Some(zone), Some(nodes)) if !nodes.is_empty() && !nodes.iter().any(|n| n == node) => {
            format!("its zone {zone} is limited to {}", nodes.join(", "))
        }
        (Some(zone), Some(_)) => format!("{node} has not realised zone {zone}"),
        _ => "why is not known".to_owned(),
    };
    if zone.is_none() || nodes.is_none() {
        out.unknown_of(
            [Subject::new("vnet", vnet)],
            format!("the zone of VNet {vnet} and its nodes"),
            facts.pve.why("cluster/sdn/zones"),
        );
    }
    let title = format!("{who} cannot run on {node}: VNet {vnet} is not there; {reason}.");
    let mut finding = out
        .finding(Subject::new("workload", &who), title)
        .fact("workload.started-on", &who, node)
        .fact("workload.vnet", &who, vnet)
        .affects([&who]);
    for task in facts.pve.tasks.iter().filter(|task| task.id == vmid && task.node == node) {
        finding = finding.fact("task.end", &who, task.end.as_deref().unwrap_or("running")).from(task);
    }
    for nic in nics {
        finding = finding.from(nic);
    }
    if let (Some(zone), Some(nodes), Some(zones)) = (zone, nodes, facts.sdn.zones_in_force()) {
        let mut sorted = nodes.clone();
        sorted.sort_unstable();
        let limited = if sorted.is_empty() { "all".to_owned() } else { sorted.join(", ") };
        finding = finding.fact("zone.nodes", zone, limited).from(zones);
    }
    if let Some(zones) = facts.sdn.node_zones.get(node) {
        let there = zone.is_some_and(|zone| zones.contains_key(zone));
        finding = finding
            .fact("node.zone", format!("{node}/{}", zone.unwrap_or("?")), if there { "there" } else { "none" })
            .from(zones);
    }
    finding.next("start-elsewhere", 1, format!("start {who} on a node of the zone")).next(
        "extend-zone",
        2,
        format!("or let the zone reach {node}, look at the dry run, apply"),
    )
}
