//! The exit node could not be asked.

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "exit-node-unreachable",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "The exit node did not answer the console's own way of asking it. Nothing is said about its routes, rules and \
           forwarding.",
    reads: "how the reading of the exit node ended",
    unlike: &[("uplink-down", "the node answers, and its transit interface is down")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for (name, node) in facts.nodes.iter() {
        let Some(why) = &node.unreachable else { continue };
        let finding = out
            .finding(Subject::new("node", name), format!("The exit node {name} cannot be asked: {}.", why.value))
            .fact("node.answer", name, &why.value)
            .affects(super::zones_of_exit(facts, name))
            .from(why)
            .next("check-ssh", 0, format!("try the site's way to {name} by hand"))
            .not_tested("everything on that node");
        out.found(finding);
    }
}
