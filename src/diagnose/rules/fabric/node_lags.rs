//! A node has not generated its configuration since the last apply.

use std::collections::BTreeSet;

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "node-lags",
    layer: Layer::Fabric,
    severity: Severity::Warning,
    says: "`pending` has two meanings. Here no object waits to be applied: the file a node generated is older than the applied \
           version, since the node was down or its reload did not happen. Applying again is not what helps; that node has \
           to reload.",
    reads: "status of zones and VNets on the node, what waits in the cluster, the node's last reload",
    unlike: &[("sdn-pending", "objects wait to be applied"), ("apply-partial", "the node's reload failed")],
    explains: &[],
    judge,
};

/// In the platform's words (`facts/proxmox.md` §7).
const OLD: &str = "configuration is too old";

/// Nodes and zones whose file is older than what is applied.
pub(super) fn lagging(facts: &Facts) -> BTreeSet<(&str, &str)> {
    let mut lagging: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (node, zones) in &facts.sdn.node_zones {
        let pending = zones.iter().filter(|(_, status)| *status == "pending");
        lagging.extend(pending.map(|(zone, _)| (node.as_str(), zone.as_str())));
    }
    for ((node, zone), vnets) in &facts.sdn.content {
        let old = |m: &String| m.contains(OLD);
        if vnets.iter().any(|vnet| vnet.status == "pending" || vnet.message.as_ref().is_some_and(old)) {
            lagging.insert((node, zone));
        }
    }
    lagging
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for (node, zone) in lagging(facts) {
        let title = format!("{node} has not generated zone {zone} since the last apply; it has to reload.");
        let mut finding = out
            .finding(Subject::new("node", node), title)
            .fact("node.generated", format!("{node}/{zone}"), "older than applied")
            .affects([node])
            .next("reload-node", 2, format!("reload the network of {node} alone"))
            .command(format!("pvesh set /nodes/{node}/network --regenerate-frr 1"));
        let waits = facts.sdn.pending.iter().filter(|one| one.is_effective()).count();
        match facts.sdn.pending_read.get("zone") {
            Some(read) => {
                finding = finding
                    .fact(
                        "sdn.pending-objects",
                        "cluster",
                        if waits == 0 { "none".to_owned() } else { waits.to_string() },
                    )
                    .from(read);
            }
            None => out.unknown("what waits in the cluster (zones?pending=1)", facts.pve.why("cluster/sdn/zones")),
        }
        if let Some(zones) = facts.sdn.node_zones.get(node) {
            finding = finding.from(zones);
        }
        if let Some(content) = facts.sdn.content.get(&(node.to_owned(), zone.to_owned())) {
            finding = finding.from(content);
        }
        for task in facts.pve.tasks.iter().filter(|task| task.kind == "srvreload" && task.node == node) {
            finding = finding.fact("task.reload", node, task.end.as_deref().unwrap_or("running")).from(task);
        }
        out.found(finding);
    }
}
