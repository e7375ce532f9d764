//! A rule that nothing has matched.

use super::super::{Out, Rule};
use super::name;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::perimeter::filter;
use crate::diagnose::finding::{Layer, Severity};

/// The rule.
pub static RULE: Rule = Rule {
    id: "rule-never-hit",
    layer: Layer::Perimeter,
    severity: Severity::Info,
    says: "pf has compared packets with a rule and none has matched since the rules were last loaded. That may be as it \
           should be: counters begin anew with each load, and the router does not tell when that was. They are no older than \
           the router's uptime and the last apply that is known; where that is less than a day, nothing is said.",
    reads: "rules with their counters, the router's uptime, when the rules were applied",
    unlike: &[
        ("ruleset-not-loaded", "pf does not have the rule: there are no counters"),
        ("rule-shadowed", "an earlier rule decides for it"),
    ],
    explains: &[],
    judge,
};

/// Comparisons below which a rule has hardly had a chance.
const CHANCE: u64 = 1000;

/// Seconds that counters have to have run at least, where it is known for how long at most.
const DAY: u64 = 86_400;

/// For how long the counters can have run at most, in seconds; `None` where nothing limits it.
fn at_most(facts: &Facts) -> Option<u64> {
    let noted = |word: &str| facts.clocks.noted.iter().find(|(key, _)| key.contains(word)).map(|(_, at)| at.value);
    let applied = noted("apply").zip(noted("now")).map(|(sent, now)| now.as_second().abs_diff(sent.as_second()));
    let uptime = facts.perimeter.uptime.as_ref().map(|seconds| seconds.value);
    [applied, uptime].into_iter().flatten().min()
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some(rules) = &facts.perimeter.rules else { return };
    let limit = at_most(facts);
    if limit.is_some_and(|limit| limit < DAY) {
        return;
    }
    for rule in rules.iter().filter(|rule| rule.enabled && !rule.automatic) {
        let idle = |h: filter::Hits| h.evaluations >= CHANCE && h.packets == Some(0) && h.states == Some(0);
        if !facts.perimeter.hits(rule).is_some_and(idle) {
            continue;
        }
        let own = name(rule);
        let finding = out
            .finding(super::subject(rule), format!("Nothing has matched {own} since the rules were loaded."))
            .fact("rule.packets", own, "0")
            .fact("counters.run", own, limit.map_or_else(|| "unknown".to_owned(), |s| format!("at most {} d", s / DAY)))
            .affects([own])
            .from(rules)
            .next("review-rule", 0, format!("see whether {own} is still needed"))
            .not_tested("when the rules were last loaded: counters begin anew then");
        out.found(finding);
    }
}
