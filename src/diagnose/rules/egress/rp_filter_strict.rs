//! Reverse-path filtering is strict, and nothing shows that it drops.

use super::super::{Out, Rule};
use super::rp_filter::{COUNTER, strict_on, with_interfaces};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "rp-filter-strict",
    layer: Layer::Egress,
    severity: Severity::Info,
    says: "Reverse-path filtering is strict on an exit node. With one exit node and the usual way back it drops nothing; it \
           could with several, or with local routing.",
    reads: "rp_filter of all interfaces of exit nodes",
    unlike: &[],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for name in super::exit_names(facts) {
        let Some(node) = facts.nodes.get(name).filter(|node| node.rp_filter.is_some()) else { continue };
        let on = strict_on(node);
        // Where it drops, that says it all.
        if node.rise(COUNTER).is_some_and(|rise| rise > 0) {
            continue;
        }
        if on.is_empty() {
            out.pass(Subject::new("node", name));
            continue;
        }
        let title = format!(
            "Reverse-path filtering is strict on {} interface(s) of {name}; nothing shows that it drops.",
            on.len()
        );
        let finding = with_interfaces(out.finding(Subject::new("node", name), title), name, node)
            .next("watch-counter", 0, format!("watch {COUNTER} while a connection fails"))
            .command(format!("nstat -az {COUNTER}"));
        out.found(finding);
    }
}
