//! The same translation rule is there twice.

use std::collections::BTreeMap;

use super::super::{Out, Rule};
use super::snat::with_rules;
use crate::backends::exit_node::model::SnatRule;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "snat-duplicate",
    layer: Layer::Egress,
    severity: Severity::Info,
    says: "The same translation rule is there twice. The second one never matches; harmless until one of them is changed.",
    reads: "the NAT rules of the exit node",
    unlike: &[],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for (name, node) in facts.nodes.iter() {
        let mut seen: BTreeMap<(String, String), (usize, &SnatRule)> = BTreeMap::new();
        for rule in node.snat_rules().into_iter().flatten() {
            let key = (format!("{:?}", rule.engine), rule.text.clone());
            seen.entry(key).or_insert((0, rule)).0 += 1;
        }
        for (count, rule) in seen.into_values().filter(|(count, _)| *count > 1) {
            let of = rule.source.map_or_else(|| "any source".to_owned(), |source| source.to_string());
            let finding = out
                .finding(
                    Subject::new("node", name),
                    format!("{name} holds the translation rule of {of} {count} times."),
                )
                .fact("snat.rules", format!("{name}/{of}"), count)
                .next("leave", 0, "nothing to do; an SDN apply writes it once");
            out.found(with_rules(finding, node));
        }
    }
}
