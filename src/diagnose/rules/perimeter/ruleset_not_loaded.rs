//! pf refused the rule set; the one before is in force.

use super::super::{Out, Rule};
use super::{RULES_LISTED, name};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::perimeter::filter;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "ruleset-not-loaded",
    layer: Layer::Perimeter,
    severity: Severity::Fault,
    says: "pf could not read the generated rules and kept those from before, while the apply was answered with OK. Only the \
           system status says so, and the counters: a rule that pf has carries them. The list of rule ids is read from the \
           file that failed and proves nothing.",
    reads: "the system status, rules with their counters, when the apply was sent",
    unlike: &[
        ("rule-shadowed", "the rule is loaded and an earlier one decides"),
        ("rule-never-hit", "the rule is loaded and nothing matched so far"),
    ],
    explains: &["rule-never-hit"],
    judge,
};

/// Rules that are on and that pf does not have, where others show that counters were asked for.
fn without_counters(facts: &Facts) -> Vec<&filter::Rule> {
    let Some(rules) = &facts.perimeter.rules else { return Vec::new() };
    let has = |rule: &filter::Rule| facts.perimeter.hits(rule).is_some();
    if !rules.iter().any(has) {
        return Vec::new();
    }
    rules.iter().filter(|rule| rule.enabled && !has(rule) && !rule.uuid.is_empty()).collect()
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let missing = without_counters(facts);
    let applied = facts.clocks.noted.iter().find(|(key, _)| key.contains("apply")).map(|(_, at)| at);
    let Some(refused) = &facts.perimeter.refused else {
        if !facts.perimeter.status_read {
            let sent = facts.calls.of(Api::Opnsense).any(|call| call.http.path.ends_with("/apply"));
            if sent || !missing.is_empty() {
                out.unknown("the system status of the router", facts.calls.why(Api::Opnsense, "core/system/status"));
            }
        } else if missing.is_empty() {
            out.pass(Subject::new("source", "pf"));
        } else {
            out.unknown("whether the rules were applied: pf does not have all of them", None);
        }
        return;
    };
    // The message stays after a later good load: it has to be of this apply, or a rule has to be missing in pf.
    let of_this = applied.zip(refused.at).is_some_and(|(sent, at)| at >= sent.value);
    if !of_this && missing.is_empty() {
        if facts.perimeter.rules.is_none() {
            out.unknown("the rules with their counters", facts.calls.why(Api::Opnsense, RULES_LISTED));
        } else if applied.is_none() {
            out.unknown("when the rules were applied: the message may be of an earlier time", None);
        }
        return;
    }
    let line = refused.line.map_or_else(|| "a line".to_owned(), |n| format!("line {n}"));
    let mut finding = out
        .finding(
            Subject::new("source", "pf"),
            format!("pf refused the new rules, {line} has {}: the previous rules are still in force.", refused.what),
        )
        .fact("ruleset.active", "pf", "the previous one")
        .fact("ruleset.error", &line, refused.what)
        .from(refused);
    if !refused.text.is_empty() {
        finding = finding.fact("ruleset.line", &line, &refused.text);
    }
    for rule in &missing {
        finding = finding.fact("rule.counters", &rule.uuid, "none").affects([name(rule)]);
        if !rule.description.is_empty() {
            finding = finding.fact("rule.name", &rule.uuid, &rule.description);
        }
    }
    match &facts.perimeter.rules {
        Some(rules) => finding = finding.from(rules),
        None => out.unknown("the rules with their counters", facts.calls.why(Api::Opnsense, RULES_LISTED)),
    }
    let finding = finding
        .next("fix-rule", 2, format!("mend what {line} comes from ({}), then apply again", refused.what))
        .next("revert-change", 2, "or take the change back and apply");
    out.found(finding);
}
