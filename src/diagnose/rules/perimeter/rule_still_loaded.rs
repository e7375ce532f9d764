//! A rule was switched off and pf still has it.

use super::super::{Out, Rule};
use super::name;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity};

/// The rule.
pub static RULE: Rule = Rule {
    id: "rule-still-loaded",
    layer: Layer::Perimeter,
    severity: Severity::Warning,
    says: "A rule is switched off in the configuration, and pf counts for it: nothing was applied since, so it is still in force. \
           What the pages show is what is saved, not what packets meet.",
    reads: "rules with their counters",
    unlike: &[
        ("ruleset-not-loaded", "a rule that is on is missing in pf"),
        ("rule-never-hit", "the rule is on and nothing matched"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some(rules) = &facts.perimeter.rules else { return };
    // Without a label two rules may share what is counted.
    for rule in rules.iter().filter(|rule| !rule.enabled && !rule.automatic && !rule.uuid.is_empty()) {
        if facts.perimeter.hits(rule).is_none() {
            continue;
        }
        let own = name(rule);
        let mut finding = out
            .finding(super::subject(rule), format!("{own} is switched off and still in force."))
            .fact("rule.saved", own, "off")
            .fact("rule.loaded", own, "yes")
            .affects([own])
            .from(rules)
            .next("apply-rules", 2, "look at what else waits, then apply the rules")
            .not_tested("whether the counters are fresh: some releases answer from up to five minutes before");
        if let Some(hits) = &facts.perimeter.hits {
            finding = finding.from(hits);
        }
        out.found(finding);
    }
}
