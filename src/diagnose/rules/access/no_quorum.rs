//! A cluster without a majority.

use super::super::{Out, Rule};
use crate::backends::proxmox::Error;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::calls::Call;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "no-quorum",
    layer: Layer::Access,
    severity: Severity::Fault,
    says: "The cluster has no majority: its file system is read-only, so every change fails, in several shapes, one of \
           which reads like a missing permission. Reads go on and may be stale.",
    reads: "cluster/status, refusals that name the quorum, and writes below /etc/pve that were denied",
    unlike: &[
        ("privilege-missing", "the refusal names a privilege (403)"),
        ("lock-held", "somebody else holds the lock, and the cluster is quorate"),
        ("node-unreachable", "a node is away and the rest is still a majority"),
    ],
    explains: &["node-unreachable", "lock-held"],
    judge,
};

/// A write that the read-only file system of the cluster refused.
fn denied_file(call: &Call) -> bool {
    let text = match call.proxmox() {
        Some(Error::Other { text, .. }) => text,
        _ => return false,
    };
    text.contains("/etc/pve/") && (text.ends_with("Permission denied") || text.ends_with("Read-only file system"))
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let named: Vec<&Call> =
        facts.calls.of(Api::Proxmox).filter(|c| matches!(c.proxmox(), Some(Error::NoQuorum { .. }))).collect();
    let denied: Vec<&Call> = facts.calls.of(Api::Proxmox).filter(|c| denied_file(c)).collect();
    let quorum = facts.cluster.quorum.as_ref();
    let lost = quorum.map(|q| !q.quorate);
    if lost == Some(false) {
        out.pass(Subject::new("cluster", quorum.map_or("", |q| &q.cluster)));
        return;
    }
    if lost.is_none() {
        if !named.is_empty() || !denied.is_empty() {
            out.unknown("the votes of the cluster", facts.calls.why(Api::Proxmox, "cluster/status"));
        }
        if named.is_empty() {
            return;
        }
    }
    let cluster = quorum.map(|q| q.cluster.as_str()).filter(|name| !name.is_empty()).unwrap_or("the cluster");
    let mut finding = out
        .finding(Subject::new("cluster", cluster), format!("{cluster} has no quorum: nothing can be changed."))
        .fact("cluster.quorate", cluster, "no");
    let mut away = Vec::new();
    if let Some(quorum) = quorum {
        let online = quorum.members.iter().filter(|m| m.online == Some(true)).count();
        away = quorum.members.iter().filter(|m| m.online != Some(true)).map(|m| m.node.clone()).collect();
        finding = finding
            .fact("cluster.online", cluster, format!("{online} of {}", quorum.members.len()))
            .affects(&away)
            .from(quorum);
    }
    let refused: Vec<&Call> = named.into_iter().chain(denied).collect();
    finding = finding.fact("writes.refused", cluster, refused.len());
    for call in refused {
        finding = finding.affects([call.words()]).resting_on(&call.file);
    }
    let back = if away.is_empty() { "enough nodes".to_owned() } else { away.join(" or ") };
    let finding = finding
        .next("restore-quorum", 0, format!("bring {back} back; check the cluster network between the nodes"))
        .not_tested("whether the other side of a split holds a majority and goes on changing things");
    out.found(finding);
}
