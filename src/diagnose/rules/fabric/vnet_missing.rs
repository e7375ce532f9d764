//! A guest's VNet is not there on the node it is to run on.

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "vnet-missing",
    layer: Layer::Fabric,
    severity: Severity::Fault,
    says: "A guest is to run on a node on which its VNet is not there. VNets are bridges of each node: the zone may be limited \
           to other nodes, or the node has not realised it. The VNet itself exists.",
    reads: "the start task, the guest's network cards, zones, the zones as the node realised them",
    unlike: &[("apply-partial", "the zone is meant for the node, whose reload failed")],
    explains: &[],
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
                out.unknown(format!("the zone of {}", nic.bridge), facts.pve.why("cluster/sdn"));
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
        out.unknown(format!("the zone of VNet {vnet} and its nodes"), facts.pve.why("cluster/sdn/zones"));
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
