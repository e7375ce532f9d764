//! A rule that an earlier one decides for.

use super::super::{Out, Rule};
use super::{holds, name, network};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::perimeter::filter;
use crate::diagnose::facts::perimeter::routing::Interface;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "rule-shadowed",
    layer: Layer::Perimeter,
    severity: Severity::Fault,
    says: "A rule never decides, since an earlier one with the opposite action matches everything it matches. The order is \
           by group and then by place: floating rules come before those of one interface, wherever they were made. Classic \
           rules are shown here and cannot be edited through the API.",
    reads: "the rules with their order of evaluation",
    unlike: &[
        ("ruleset-not-loaded", "pf does not have the rule"),
        ("rule-never-hit", "no earlier rule covers it; nothing matched so far"),
    ],
    explains: &["rule-never-hit"],
    judge,
};

/// The group of rules that belong to no single interface (facts/opnsense.md §4).
const FLOATING: u64 = 200_000;

/// Whether everything that `later` matches is matched by `earlier`. What is not understood does not count as covered.
fn covers(earlier: &filter::Rule, later: &filter::Rule, interfaces: &[Interface]) -> bool {
    let within = |outer: &filter::Side, inner: &filter::Side| {
        if outer == inner || (outer.nets.is_empty() && !outer.negated && outer.port.is_none()) {
            return true;
        }
        let ports = outer.port.is_none() || outer.port == inner.port;
        let all = |part: &String| network(part, interfaces).is_some_and(|n| holds(outer, &n, interfaces) == Some(true));
        ports && !inner.negated && !inner.nets.is_empty() && inner.nets.iter().all(all)
    };
    let on = earlier.interfaces.is_empty()
        || (!later.interfaces.is_empty() && later.interfaces.iter().all(|i| earlier.interfaces.contains(i)));
    let way = earlier.direction == "any" || earlier.direction == later.direction;
    let protocol = earlier.protocol == "any" || earlier.protocol == later.protocol;
    on && way && protocol && within(&earlier.source, &later.source) && within(&earlier.destination, &later.destination)
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some(rules) = &facts.perimeter.rules else { return };
    let interfaces = facts.perimeter.interfaces.as_ref().map(|all| all.value.as_slice()).unwrap_or_default();
    let mut ordered: Vec<&filter::Rule> =
        rules.iter().filter(|rule| rule.enabled && !rule.automatic && rule.order.is_some()).collect();
    ordered.sort_by_key(|rule| rule.order);
    for (n, later) in ordered.iter().enumerate() {
        let before = ordered.get(..n).unwrap_or_default();
        let deciding = before.iter().find(|e| e.quick && e.order < later.order && covers(e, later, interfaces));
        let subject = Subject::new("rule", if later.uuid.is_empty() { name(later) } else { &later.uuid });
        let Some(earlier) = deciding.filter(|e| (e.action == "pass") != (later.action == "pass")) else {
            out.pass(subject);
            continue;
        };
        let (own, other) = (name(later), name(earlier));
        let origin = match (earlier.classic, earlier.group) {
            (true, Some(FLOATING)) => "classic floating",
            (true, _) => "classic",
            (false, Some(FLOATING)) => "floating",
            (false, _) => "interface",
        };
        let mut finding = out
            .finding(subject, format!("{own} never decides: {other} is evaluated first and matches the same."))
            .fact("rule.shadowed-by", own, other)
            .fact("rule.action", own, &later.action)
            .fact("rule.action", other, &earlier.action)
            .fact("rule.origin", other, origin)
            .affects([own])
            .from(rules);
        if earlier.classic {
            finding = finding.fact("rule.editable", other, "no").next(
                "edit-classic-rule",
                2,
                format!("change {other} on the classic rules page, or migrate it"),
            );
        } else {
            finding = finding.next("edit-rule", 2, format!("narrow {other}, or move {own} before it"));
        }
        if earlier.group == Some(FLOATING) && later.group != Some(FLOATING) {
            finding = finding.next("make-floating", 2, format!("or make {own} a floating rule before it"));
        }
        out.found(finding);
    }
}
