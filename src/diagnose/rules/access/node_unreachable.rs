//! A node that the cluster cannot reach.

use std::collections::{BTreeMap, BTreeSet};

use super::super::egress::zones_of_exit;
use super::super::{Out, Rule};
use crate::backends::proxmox::Error;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::calls::Call;
use crate::diagnose::finding::{Layer, Severity, Subject};
use crate::diagnose::scope::tenant_of;

/// The rule.
pub static RULE: Rule = Rule {
    id: "node-unreachable",
    layer: Layer::Access,
    severity: Severity::Fault,
    says: "The cluster cannot reach a node: a request it should have passed on ended with 595 to 599, or the list of nodes \
           shows it offline. What that node alone knows is unknown, its guests' states first of all; the rest of the \
           cluster goes on.",
    reads: "answers 595 to 599 and the node in their path, the list of nodes, guests as the cluster lists them",
    unlike: &[
        ("node-unknown", "the name in the path is of no member"),
        ("no-quorum", "too few nodes are left to change anything"),
        ("workload-stopped", "the guest's node answers and says that it is stopped"),
    ],
    explains: &[
        "exit-node-unreachable",
        "apply-partial",
        "node-lags",
        "vnet-not-on-node",
        "gateway-down",
        "agent-silent",
        "workload-down",
    ],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let members = facts.cluster.members();
    let mut failed: BTreeMap<String, Vec<&Call>> = BTreeMap::new();
    for call in facts.calls.of(Api::Proxmox) {
        if let (Some(Error::NodeUnreachable { status, .. }), true) =
            (call.proxmox(), call.http.path.starts_with("nodes/"))
        {
            let node = call.http.segment(1).to_owned();
            let member = members.as_ref().and_then(|all| all.iter().find(|m| m.node == node));
            match (&members, member) {
                // Of a name that is no member nothing else can be expected.
                (Some(_), None) => {}
                // 596 is also what a name of nobody ends with.
                (None, _) if *status != 595 => {
                    out.unknown("the list of the cluster's nodes", facts.calls.why(Api::Proxmox, "nodes"));
                }
                (None, _) => {
                    out.unknown("the list of the cluster's nodes", facts.calls.why(Api::Proxmox, "nodes"));
                    failed.entry(node).or_default().push(call);
                }
                _ => failed.entry(node).or_default().push(call),
            }
        }
    }
    let cut_off = facts.cluster.quorum.as_ref().is_some_and(|q| !q.quorate);
    for member in members.iter().flat_map(|all| all.value.iter()) {
        match member.online {
            // Without a majority it may be this side that is cut off.
            Some(false) if cut_off && !failed.contains_key(&member.node) => {
                out.unknown(format!("whether node {} runs", member.node), Some("the cluster has no quorum".to_owned()));
            }
            Some(false) => drop(failed.entry(member.node.clone()).or_default()),
            Some(true) if !failed.contains_key(&member.node) => out.pass(Subject::new("node", &member.node)),
            _ => {}
        }
    }
    for (node, calls) in failed {
        one(facts, &node, &calls, out);
    }
}

/// Most guests that are named one by one.
const FEW: usize = 4;

/// Names of `node`'s guests, and whom its silence reaches: the tenants of those guests and of its exit, and guests that are
/// no tenant's, those one by one where they are few.
fn reached(facts: &Facts, node: &str) -> (Vec<String>, BTreeSet<String>) {
    let listed = facts.cluster.guests.iter().flat_map(|all| all.value.iter()).filter(|guest| guest.node == node);
    let (mut names, mut whom, mut others) = (Vec::new(), BTreeSet::new(), Vec::new());
    for guest in listed {
        let vmid = guest.vmid.to_string();
        let name = guest.name.clone().unwrap_or_else(|| vmid.clone());
        match tenant_of(facts, &Subject::new("workload", &vmid)) {
            Some(tenant) => drop(whom.insert(tenant.to_owned())),
            None => others.push(name.clone()),
        }
        names.push(name);
    }
    whom.extend(zones_of_exit(facts, node).into_iter().map(str::to_owned));
    if names.len() <= FEW {
        whom.extend(names.iter().cloned());
    } else if others.len() <= FEW {
        whom.extend(others);
    } else {
        whom.insert(format!("{} guests of no tenant", others.len()));
    }
    (names, whom)
}

fn one(facts: &Facts, node: &str, calls: &[&Call], out: &mut Out<'_>) {
    let members = facts.cluster.members();
    let state = members.as_ref().and_then(|all| all.iter().find(|m| m.node == node)).and_then(|m| m.online);
    let listed = facts.cluster.guests.as_ref();
    let (guests, whom) = reached(facts, node);
    let title = match state {
        Some(true) => format!("Node {node} is online in the cluster and did not answer."),
        _ => format!("Node {node} is unreachable; what runs on it is unknown, not stopped."),
    };
    let mut finding = out.finding(Subject::new("node", node), title).fact("node.reachable", node, "no").affects(whom);
    if state == Some(true) {
        finding.severity = Severity::Warning;
    }
    if guests.len() > FEW {
        finding = finding.fact("workload.state", format!("{} guests on {node}", guests.len()), "unknown");
    } else {
        for guest in &guests {
            finding = finding.fact("workload.state", guest, "unknown");
        }
    }
    if let Some(listed) = listed {
        finding = finding.from(listed);
    } else {
        out.unknown(format!("which guests are on {node}"), facts.calls.why(Api::Proxmox, "cluster/resources"));
    }
    if let Some(members) = &members {
        finding = finding.from(members);
    }
    for call in calls {
        finding = finding.resting_on(&call.file);
    }
    out.unknown(format!("everything that node {node} alone knows"), Some("it is unreachable".to_owned()));
    let rest: Vec<&str> = members
        .iter()
        .flat_map(|all| all.value.iter())
        .filter(|m| m.online == Some(true) && m.node != node)
        .map(|m| m.node.as_str())
        .collect();
    let on = if rest.is_empty() { "the nodes that answer".to_owned() } else { rest.join(" and ") };
    let finding = finding
        .next("continue-without-node", 0, format!("go on with {on}; {node} keeps its rows as last seen"))
        .next("check-node", 0, format!("look at {node}: power, cluster network, pveproxy"));
    out.found(finding);
}
