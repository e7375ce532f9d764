//! A rule that concerns tenants and does not carry the mark of the code that keeps the others.

use ipnet::IpNet;

use super::super::names::Names;
use super::super::{Out, Rule};
use super::interfaces;
use super::name;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::perimeter::filter;
use crate::diagnose::finding::{Layer, Severity};

/// The rule.
pub static RULE: Rule = Rule {
    id: "rule-hand-made",
    layer: Layer::Perimeter,
    severity: Severity::Info,
    says: "A rule concerns tenants, by its interface or by a network it names, and lacks the mark by which the rules of the \
           inventory are told from others. It may be right; whoever rebuilds the router does not know it, and nobody \
           declared it. The mark is only a text, so no rule is judged by it.",
    reads: "filter rules, aliases, interfaces, the site file",
    unlike: &[("perimeter-leak", "the rule passes what must not pass, whoever wrote it")],
    explains: &[],
    judge,
};

/// The mark of the code that keeps the rules (domain.md §2.2).
const MARK: &str = "ansible: ";

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let (Some(site), Some(rules)) = (&facts.site, &facts.perimeter.rules) else { return };
    // Where no rule carries the mark the router is kept in another way.
    if !rules.iter().any(|rule| rule.description.starts_with(MARK)) {
        return;
    }
    let Some(interfaces) = interfaces(facts, out) else { return };
    let names = Names::new(facts, interfaces);
    let overlay = IpNet::from(site.value.numbering.overlay);
    let transit = site.value.opnsense.as_ref().map(|router| IpNet::from(router.transit));
    let ours =
        |net: IpNet| net.prefix_len() > 0 && (overlay.contains(&net) || transit.is_some_and(|t| t.contains(&net)));
    let concerns = |rule: &filter::Rule| {
        let on = rule.interfaces.iter().filter_map(|name| names.interface(name)?.net).any(|net| ours(net.trunc()));
        let parts = rule.source.nets.iter().chain(&rule.destination.nets);
        on || parts.filter_map(|part| names.nets(part)).flatten().any(ours)
    };
    for rule in rules.iter().filter(|r| r.enabled && !r.automatic && !r.description.starts_with(MARK)) {
        if !concerns(rule) {
            continue;
        }
        let own = name(rule);
        let finding = out
            .finding(super::subject(rule), format!("{own} concerns tenants, and the inventory did not write it."))
            .fact("rule.mark", own, "none")
            .affects([own])
            .from(rules)
            .next("declare-rule", 1, format!("declare {own} in the inventory, or remove it"));
        out.found(finding);
    }
}
