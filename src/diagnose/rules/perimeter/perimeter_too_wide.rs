//! A rule meant for the internet that also reaches what must not be reached.

use std::collections::BTreeSet;

use ipnet::IpNet;

use super::super::names::Names;
use super::super::{Out, Rule};
use super::name;
use super::perimeter_leak::{ALIASES, Ban, comes_from, lets_in, policy, stopped, unclear};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::perimeter::filter;
use crate::diagnose::finding::{Layer, Severity};

/// The rule.
pub static RULE: Rule = Rule {
    id: "perimeter-too-wide",
    layer: Layer::Perimeter,
    severity: Severity::Fault,
    says: "A rule passes a segment to everywhere, or to everywhere but some networks, and what it must not reach is not among \
           those: tenants to management, operators, storage or each other; devices, guests and storage to tenants. A rule \
           for the internet has to leave out all private networks. A rule before it that blocks everything between the two \
           is taken into account.",
    reads: "filter rules with their order, aliases, interfaces, the site file",
    unlike: &[("perimeter-leak", "the rule names the network itself")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    // What segments are for, and that a tenant's way out must not lead to them, only a site says.
    if facts.site.is_none() {
        return;
    }
    let (Some((bans, tenants, names)), Some(rules)) = (policy(facts, out), &facts.perimeter.rules) else { return };
    let wide = |rule: &&filter::Rule| rule.destination.nets.is_empty() || rule.destination.negated;
    // What is sent to a gateway by the rule itself does not come to a segment.
    for rule in rules.iter().filter(|rule| lets_in(rule) && rule.gateway.is_none()).filter(wide) {
        let own = name(rule);
        let mut reached: Vec<(&Ban<'_>, IpNet)> = Vec::new();
        for ban in &bans {
            match reaches(rule, ban, &tenants, rules, &names) {
                Ok(nets) => reached.extend(nets.into_iter().map(|net| (ban, net))),
                Err(what) => {
                    out.unknown(what, facts.calls.why(Api::Opnsense, ALIASES));
                }
            }
        }
        let Some((first, _)) = reached.first() else { continue };
        let more = if reached.len() > 1 { " and more" } else { "" };
        // The rule may leave out what it has to, by a name that stands for nothing.
        let hollow = if rule.destination.negated { names.hollow(&rule.destination) } else { Vec::new() };
        let title = match hollow.as_slice() {
            [] => format!("{own} is too wide: it also lets {}{more}.", first.words),
            [alias, ..] => format!(
                "The alias {alias} is empty, and {own} leaves out nothing by it: it also lets {}{more}.",
                first.words
            ),
        };
        let mut finding = out
            .finding(super::subject(rule), title)
            .affects(reached.iter().map(|(_, net)| *net).collect::<BTreeSet<IpNet>>().iter().map(IpNet::to_string))
            .from(rules);
        for alias in &hollow {
            finding = finding.fact("alias.members", alias, "none").next(
                "fill-alias",
                2,
                format!("put all private networks into the alias {alias}, then apply"),
            );
        }
        if hollow.is_empty() {
            finding =
                finding.next("narrow-rule", 2, format!("leave all private networks out of the destination of {own}"));
        }
        for (ban, net) in &reached {
            finding = finding.fact("rule.passes", own, format!("{} ({net})", ban.words));
        }
        if let Some(aliases) = &facts.perimeter.aliases {
            finding = finding.from(aliases);
        }
        out.found(finding);
    }
}

/// Networks of `ban` that `rule` opens; the error says what decides and is not understood.
fn reaches(
    rule: &filter::Rule,
    ban: &Ban<'_>,
    tenants: &[IpNet],
    rules: &[filter::Rule],
    names: &Names<'_>,
) -> Result<Vec<IpNet>, String> {
    let from = comes_from(rule, ban, tenants, names);
    if from == Ok(false) {
        return Ok(Vec::new());
    }
    let mut open = Vec::new();
    for net in &ban.to {
        match names.holds(&rule.destination, net) {
            Some(false) => {}
            Some(true) if stopped(rule, (ban, net), rules, names)? => {}
            Some(true) => open.push(*net),
            None => return Err(unclear(&rule.destination.nets.join(", "), rule)),
        }
    }
    match from {
        Err(what) if !open.is_empty() => Err(what),
        _ => Ok(open),
    }
}
