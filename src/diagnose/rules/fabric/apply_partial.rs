//! An apply ended well, and a node did not realise it.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::sdn::Content;
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "apply-partial",
    layer: Layer::Fabric,
    severity: Severity::Fault,
    says: "The task of an SDN apply only starts a reload on each node; it ends with OK even where a reload fails. A node whose \
           own reload failed, or whose VNet is in error, has not realised the configuration. An apply is done when every \
           node of the zone shows every VNet as available.",
    reads: "the apply's task, each node's srvreload task, the VNets as realised on each node",
    unlike: &[
        ("node-lags", "the node's file is old, its last reload did not fail"),
        ("vnet-missing", "the zone is not meant for that node"),
    ],
    explains: &["vnet-missing"],
    judge,
};

fn in_error(vnet: &Content) -> bool {
    vnet.status == "error"
}

/// Nodes on which a reload failed or a VNet is in error.
pub(super) fn broken(facts: &Facts) -> BTreeSet<&str> {
    let mut broken: BTreeSet<&str> = BTreeSet::new();
    // What failed once and came through since is over.
    for task in facts.pve.reloads().filter(|task| task.failed()) {
        broken.insert(&task.node);
    }
    for ((node, _), vnets) in &facts.sdn.content {
        if vnets.iter().any(in_error) {
            broken.insert(node);
        }
    }
    broken
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for node in broken(facts) {
        let finding = finding(facts, node, out);
        out.found(finding);
    }
    missing_proof(facts, out);
}

/// An apply that was started is not proven done by its own task.
fn missing_proof(facts: &Facts, out: &mut Out<'_>) {
    let applied = facts.pve.tasks.iter().any(|task| task.kind == "reloadnetworkall")
        || facts.sdn.writes.iter().any(|write| write.method == "PUT" && write.path == "cluster/sdn");
    if applied && facts.sdn.content.is_empty() && !facts.nobody() {
        out.unknown("what nodes made of the apply (content of their zones)", facts.pve.why("nodes/"));
    }
}

fn finding(facts: &Facts, node: &str, out: &Out<'_>) -> Finding {
    let title = format!("The last SDN apply did not come through on {node}.");
    let failed = facts.pve.reloads().any(|task| task.node == node && task.failed());
    let in_error = facts.sdn.content.iter().filter(|((on, _), vnets)| on == node && vnets.iter().any(in_error));
    let zones: BTreeSet<&str> = in_error.map(|((_, zone), _)| zone.as_str()).collect();
    // A reload that failed is everybody's on that node; else the VNets in error say whose it is.
    let whose = if failed || zones.is_empty() { BTreeSet::from([node]) } else { zones };
    let mut finding = out.finding(Subject::new("node", node), title).affects(whose);
    for task in &facts.pve.tasks {
        let end = task.end.as_deref().unwrap_or("running");
        match task.kind.as_str() {
            "reloadnetworkall" => finding = finding.fact("task.apply", &task.node, end).from(task),
            "srvreload" => finding = finding.fact("task.reload", &task.node, end).from(task),
            _ => {}
        }
    }
    let mut usable: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for ((on, _), vnets) in &facts.sdn.content {
        finding = finding.from(vnets);
        for vnet in vnets.iter() {
            let nodes = usable.entry(&vnet.vnet).or_default();
            if vnet.status == "available" {
                nodes.push(on);
            } else if on == node {
                let why = vnet.message.as_deref().unwrap_or(&vnet.status);
                finding = finding.fact("vnet.status", format!("{on}/{}", vnet.vnet), why);
            }
        }
    }
    for (vnet, nodes) in usable {
        finding =
            finding.fact("vnet.usable", vnet, if nodes.is_empty() { "nowhere".to_owned() } else { nodes.join(", ") });
    }
    finding
        .next("open-reload-log", 0, format!("open the log of the last srvreload task of {node}"))
        .next("reload-node", 2, format!("once its cause is gone, reload the network of {node} alone"))
        .command(format!("pvesh set /nodes/{node}/network --regenerate-frr 1"))
}
