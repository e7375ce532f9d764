//! A rule that nothing has matched.

use super::super::{Out, Rule};
use super::name;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::perimeter::filter;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "rule-never-hit",
    layer: Layer::Perimeter,
    severity: Severity::Info,
    says: "pf has compared packets with a rule and none has matched since the rules were last loaded. That may be as it \
           should be: counters begin anew with each load.",
    reads: "rules with their counters",
    unlike: &[
        ("ruleset-not-loaded", "pf does not have the rule: there are no counters"),
        ("rule-shadowed", "an earlier rule decides for it"),
    ],
    explains: &[],
    judge,
};

/// Comparisons below which a rule has hardly had a chance.
const CHANCE: u64 = 1000;

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some(rules) = &facts.perimeter.rules else { return };
    for rule in rules.iter().filter(|rule| rule.enabled && !rule.automatic) {
        let idle = |h: filter::Hits| h.evaluations >= CHANCE && h.packets == Some(0) && h.states == Some(0);
        if !facts.perimeter.hits(rule).is_some_and(idle) {
            continue;
        }
        let own = name(rule);
        let finding = out
            .finding(
                Subject::new("rule", if rule.uuid.is_empty() { own } else { &rule.uuid }),
                format!("Nothing has matched {own} since the rules were loaded."),
            )
            .fact("rule.packets", own, "0")
            .affects([own])
            .from(rules)
            .next("review-rule", 0, format!("see whether {own} is still needed"));
        out.found(finding);
    }
}
