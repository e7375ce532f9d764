//! A request for a node that is no member.

use super::super::{Out, Rule};
use crate::backends::proxmox::Error;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::calls::Failure;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "node-unknown",
    layer: Layer::Access,
    severity: Severity::Fault,
    says: "A request names a node that the cluster does not have, often a DNS name or an FQDN instead of the node's own \
           name. The server takes it for another node and passes the request on; that ends in a TLS error or in a lookup \
           that fails, and neither certificates nor the console's trust have a part in it.",
    reads: "answers 595 to 599 and failed lookups, the node in their path, the list of nodes",
    unlike: &[
        ("node-unreachable", "the node is a member"),
        ("pin-mismatch", "the console's own connection fails, for every path"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let members = facts.cluster.members();
    for call in facts.calls.of(Api::Proxmox).filter(|call| call.http.path.starts_with("nodes/")) {
        let Some(error) = call.proxmox() else { continue };
        let node = call.http.segment(1);
        match (error, &members) {
            (Error::NodeUnknown { .. }, _) => {}
            (Error::NodeUnreachable { .. }, Some(all)) if all.iter().all(|m| m.node != node) => {}
            (Error::NodeUnreachable { .. }, None) => {
                let why = facts.calls.why(Api::Proxmox, "nodes");
                out.unknown("the list of the cluster's nodes", why);
                out.unknown(format!("{} of node {node}", call.http.path), call.failure.as_ref().map(Failure::words));
                continue;
            }
            _ => continue,
        }
        let mut finding = out
            .finding(Subject::new("node", node), format!("{node} is no node of this cluster."))
            .fact("node.member", node, "no")
            .resting_on(&call.file);
        let host = node.split('.').next().unwrap_or(node);
        let meant = members.as_ref().and_then(|all| all.iter().find(|m| m.node.eq_ignore_ascii_case(host)));
        finding = match meant {
            Some(member) => finding.fact("node.member", &member.node, "yes").next(
                "use-node-name",
                0,
                format!("ask for {}: the node's own name, not its DNS name", member.node),
            ),
            None => finding.next("choose-node", 0, "choose one of the cluster's nodes"),
        };
        if let Some(members) = &members {
            finding = finding.from(members);
        }
        out.found(finding);
    }
}
