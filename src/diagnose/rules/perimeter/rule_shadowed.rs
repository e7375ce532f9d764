//! A rule that an earlier one decides for.

use super::super::{Out, Rule};
use ipnet::IpNet;

use super::super::names::Names;
use super::name;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::perimeter::filter;
use crate::diagnose::finding::{Layer, Severity};

/// The rule.
pub static RULE: Rule = Rule {
    id: "rule-shadowed",
    layer: Layer::Perimeter,
    severity: Severity::Fault,
    says: "A rule never decides, since an earlier one with the opposite action matches everything it matches. The order is \
           by group and then by place: floating rules come before those of a group of interfaces, and those before rules of \
           one interface, wherever they were made. A rule that is not quick is also overruled by one after it. Classic rules are shown here and cannot be edited through the API.",
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
/// Where those of groups of interfaces begin.
const GROUPS: u64 = 300_000;
/// Where those of one interface begin.
const SINGLE: u64 = 400_000;

/// Whether everything that `inner` matches is matched by `outer`. What is not understood does not count as covered.
fn covers(outer: &filter::Rule, inner: &filter::Rule, names: &Names<'_>) -> bool {
    let within = |outer: &filter::Side, inner: &filter::Side| {
        if outer == inner || (outer.nets.is_empty() && !outer.negated && outer.port.is_none()) {
            return true;
        }
        let ports = outer.port.is_none() || outer.port == inner.port;
        let nets: Option<Vec<Vec<IpNet>>> = inner.nets.iter().map(|part| names.nets(part)).collect();
        let all = nets.is_some_and(|nets| nets.iter().flatten().all(|net| names.holds(outer, net) == Some(true)));
        ports && !inner.negated && !inner.nets.is_empty() && all
    };
    let on = outer.interfaces.is_empty()
        || (outer.elsewhere == inner.elsewhere
            && !outer.elsewhere
            && !inner.interfaces.is_empty()
            && inner.interfaces.iter().all(|i| outer.interfaces.contains(i)));
    let way = outer.direction == "any" || outer.direction == inner.direction;
    let protocol = outer.protocol == "any"
        || outer.protocol == inner.protocol
        || (outer.protocol == "tcp/udp" && matches!(inner.protocol.as_str(), "tcp" | "udp"));
    let family = (!outer.only_v4 || inner.only_v4) && (!outer.only_v6 || inner.only_v6);
    let sides = within(&outer.source, &inner.source) && within(&outer.destination, &inner.destination);
    !outer.narrowed && on && way && protocol && family && sides
}

/// The rule that decides instead of the one at `at`: an earlier one that is quick, or, where that one is not quick itself,
/// a later one. All are in the order of evaluation.
fn decider<'r>(ordered: &[&'r filter::Rule], at: usize, names: &Names<'_>) -> Option<&'r filter::Rule> {
    let own = ordered.get(at)?;
    let before = ordered.get(..at).unwrap_or_default();
    let after = ordered.get(at + 1..).unwrap_or_default();
    let earlier = before.iter().find(|e| e.quick && e.order < own.order && covers(e, own, names));
    let later = || after.iter().find(|l| !own.quick && l.order > own.order && covers(l, own, names));
    earlier.or_else(later).copied()
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some(rules) = &facts.perimeter.rules else { return };
    let interfaces = facts.perimeter.interfaces.as_ref().map(|all| all.value.as_slice()).unwrap_or_default();
    let names = Names::new(facts, interfaces);
    let mut ordered: Vec<&filter::Rule> =
        rules.iter().filter(|rule| rule.enabled && !rule.automatic && rule.order.is_some()).collect();
    ordered.sort_by_key(|rule| rule.order);
    for (n, later) in ordered.iter().enumerate() {
        let subject = super::subject(later);
        let Some(earlier) = decider(&ordered, n, &names).filter(|e| (e.action == "pass") != (later.action == "pass"))
        else {
            out.pass(subject);
            continue;
        };
        let (own, other) = (name(later), name(earlier));
        let origin = match (earlier.classic, earlier.group) {
            (true, Some(FLOATING)) => "classic floating",
            (true, _) => "classic",
            (false, Some(FLOATING)) => "floating",
            (false, Some(group)) if (GROUPS..SINGLE).contains(&group) => "group of interfaces",
            (false, _) => "interface",
        };
        let title = if earlier.order < later.order {
            format!("{own} never decides: {other} is evaluated first and matches the same.")
        } else {
            format!("{own} never decides: it is not quick, and {other} after it matches the same.")
        };
        let mut finding = out
            .finding(subject, title)
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
