//! The exit node could not be asked.

use super::super::access::{dead, source};
use super::super::{Out, Rule};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::calls::Call;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "exit-node-unreachable",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "The exit node did not answer the console's own way of asking it. Nothing is said about its routes, rules and \
           forwarding.",
    reads: "how the reading of the exit node ended",
    unlike: &[
        ("uplink-down", "the node answers, and its transit interface is down"),
        ("node-unreachable", "the cluster does not reach it either: one cause, and this a consequence"),
    ],
    explains: &["gateway-down"],
    judge,
};

/// How it reads where a host says nothing at all.
const SILENT: [&str; 5] = ["timed out", "time-out", "no route to host", "unreachable", "no answer"];

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for (name, node) in facts.nodes.iter() {
        let Some(why) = &node.unreachable else { continue };
        // The host that answers nothing is one cause. One that refuses is there.
        let host = |calls: &Vec<&Call>| calls.iter().any(|call| call.from == name);
        let silent = SILENT.iter().any(|word| why.to_ascii_lowercase().contains(word));
        let gone = silent && dead(facts).get(&Api::Proxmox).is_some_and(host);
        let finding = out
            .finding(Subject::new("node", name), format!("The exit node {name} cannot be asked: {}.", why.value))
            .fact("node.answer", name, &why.value)
            .caused_by(gone.then(|| ("source-unreachable", source(Api::Proxmox))))
            .affects(super::zones_of_exit(facts, name))
            .from(why)
            .next("check-ssh", 0, format!("try the site's way to {name} by hand"))
            .not_tested("everything on that node");
        out.found(finding);
    }
}
