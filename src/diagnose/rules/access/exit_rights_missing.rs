//! The login on an exit node is let in, and may not read all of it.

use std::collections::BTreeSet;

use super::super::egress::zones_of_exit;
use super::super::{Out, Rule};
use crate::backends::exit_node::model::NEEDS_ROOT;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};
use crate::text::some_of;

/// The rule.
pub static RULE: Rule = Rule {
    id: "exit-rights-missing",
    layer: Layer::Access,
    severity: Severity::Info,
    says: "The login on the exit node works, and some commands there need root: what they would tell is unknown. The script \
           installed on the node, with one line in sudoers for the operators' group, reads all of it.",
    reads: "commands on the exit node that were refused",
    unlike: &[("exit-node-unreachable", "the node was not read at all")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for (name, node) in facts.nodes.iter() {
        let refused: Vec<_> = node.unread.iter().filter(|unread| unread.why.contains(NEEDS_ROOT)).collect();
        if refused.is_empty() {
            continue;
        }
        let parts: BTreeSet<&str> = refused.iter().map(|unread| unread.what.as_str()).collect();
        let which = some_of(&parts.into_iter().collect::<Vec<_>>());
        let title = format!("The login on {name} is not root there, and could not run {which}.");
        let mut finding = out
            .finding(Subject::new("node", name), title)
            .affects(zones_of_exit(facts, name))
            .next(
                "install-helper",
                2,
                format!(
                    "install the script on {name} and let the operators' group run it by sudo: docs/exit-node-access.md"
                ),
            )
            .next("check-sudo", 0, format!("see what sudo lets this login do on {name}"))
            .command("sudo -n -l")
            .not_tested("what the refused commands would have told");
        for unread in refused {
            finding = finding.fact("node.refused", &unread.what, &unread.why).from(unread);
        }
        out.found(finding);
    }
}
