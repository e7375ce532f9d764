//! Source translation on exit nodes: missing, to an address nobody has, twice.

use std::collections::BTreeMap;

use super::super::exits::{Exit, Tenant, covers, exits, words};
use super::super::{Out, Rule};
use crate::backends::exit_node::model::SnatRule;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};

/// No rule.
pub static MISSING: Rule = Rule {
    id: "snat-missing",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "A subnet asks for SNAT, and its exit node has no rule for it, in neither engine of iptables. Packets leave with \
           the guest's own address and no answer finds its way back.",
    reads: "zones, subnets, the NAT rules of both engines on the exit node",
    unlike: &[
        ("snat-without-exit-node", "the zone names no exit node, so nothing performs it"),
        ("snat-wrong-source", "there is a rule, to an address that is not the node's"),
    ],
    explains: &[],
    judge: missing,
};

/// Another address.
pub static WRONG: Rule = Rule {
    id: "snat-wrong-source",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "The rule of a subnet translates to an address that the exit node does not have. Packets leave, and answers go to \
           nobody. The rule's counter climbs all the same: it counts new connections, not answers.",
    reads: "the NAT rules and the addresses of the exit node, the site file",
    unlike: &[("snat-stale", "the node was renumbered, and an apply would write another rule")],
    explains: &[],
    judge: wrong,
};

/// Twice.
pub static DUPLICATE: Rule = Rule {
    id: "snat-duplicate",
    layer: Layer::Egress,
    severity: Severity::Info,
    says: "The same translation rule is there twice. The second one never matches; harmless until one of them is changed.",
    reads: "the NAT rules of the exit node",
    unlike: &[],
    explains: &[],
    judge: duplicate,
};

fn rules_of<'e>(exit: &'e Exit<'_>, tenant: &'e Tenant<'_>) -> impl Iterator<Item = &'e SnatRule> {
    let mine = |rule: &&SnatRule| tenant.subnets.iter().any(|(_, net)| covers(rule, net) || rule.source == Some(*net));
    exit.node.snat_rules().into_iter().flatten().filter(mine)
}

fn with_rules(mut finding: Finding, exit: &Exit<'_>) -> Finding {
    for rules in exit.node.snat.values() {
        finding = finding.from(rules);
    }
    finding
}

/// Whether the tenant asks for translation at all, as far as its subnets were read.
fn asks(tenant: &Tenant<'_>) -> bool {
    tenant.subnets.iter().any(|(subnet, _)| subnet.snat)
}

fn missing(facts: &Facts, out: &mut Out<'_>) {
    for exit in exits(facts) {
        let Some(all) = exit.node.snat_rules() else {
            if exit.tenants.iter().any(asks) {
                exit.unknown(out, "the NAT rules", "iptables");
            }
            continue;
        };
        let all: Vec<&SnatRule> = all.collect();
        let lacks = |tenant: &&Tenant<'_>| {
            let uncovered = |net| !all.iter().any(|rule| covers(rule, net) || rule.source == Some(*net));
            tenant.subnets.iter().any(|(subnet, net)| subnet.snat && uncovered(net))
        };
        let hits: Vec<&Tenant<'_>> = exit.tenants.iter().filter(lacks).collect();
        if exit.node.legacy_hidden && !hits.is_empty() {
            exit.unknown(out, "the NAT rules in iptables-legacy", "legacy");
            continue;
        }
        for tenant in exit.tenants.iter().filter(|t| asks(t) && !hits.iter().any(|hit| hit.zone == t.zone)) {
            out.pass(Subject::new("zone", tenant.zone));
        }
        exit.spread(out, &hits, |out, subject, who, tenants| {
            let title = format!("SNAT is asked for by {who}, and {} has no rule for it.", exit.name);
            let mut finding = with_rules(out.finding(subject, title), &exit);
            for (subnet, net) in tenants.iter().flat_map(|tenant| &tenant.subnets).filter(|(s, _)| s.snat) {
                let rule = if all.iter().any(|rule| rule.source == Some(*net)) { "there" } else { "none" };
                finding =
                    finding.fact("subnet.snat", subnet.cidr.to_string(), "on").fact("snat.rule", exit.at(net), rule);
            }
            finding.next("apply-sdn", 3, "look at the dry run, then apply SDN: the rule is written by each reload")
        });
    }
}

fn wrong(facts: &Facts, out: &mut Out<'_>) {
    for exit in exits(facts) {
        let mut hits = Vec::new();
        for tenant in &exit.tenants {
            let mut rules = rules_of(&exit, tenant).filter(|rule| rule.to_source.is_some()).peekable();
            if rules.peek().is_none() {
                continue;
            }
            match rules.try_fold(false, |foreign, rule| Some(foreign | is_foreign(&exit, rule)?)) {
                None => exit.unknown(out, "the addresses", "addr"),
                Some(true) => hits.push(tenant),
                Some(false) => out.pass(Subject::new("zone", tenant.zone)),
            }
        }
        exit.spread(out, &hits, |out, subject, who, tenants| {
            let to = tenants.iter().flat_map(|t| rules_of(&exit, t)).filter_map(|rule| rule.to_source).next();
            let to = to.map(|to| to.to_string()).unwrap_or_default();
            let title = format!("{} translates {who} to {to}, which is not its transit address.", exit.name);
            let mut finding = with_rules(out.finding(subject, title), &exit);
            for tenant in tenants {
                for rule in rules_of(&exit, tenant) {
                    let of = rule.source.map_or_else(|| "any".to_owned(), |source| source.to_string());
                    finding = finding.fact("snat.rule", exit.at(of), words(rule));
                }
            }
            if let Some(addresses) = &exit.node.addresses {
                finding = finding.fact("address.local", to, "no").from(addresses);
            }
            finding.next("apply-sdn", 3, "look at the dry run, then apply SDN: the rule is written by each reload")
        });
    }
}

/// Whether a rule translates to what is not the node's, or not what the site expects on its transit interface.
fn is_foreign(exit: &Exit<'_>, rule: &SnatRule) -> Option<bool> {
    let to = rule.to_source?;
    if let Some(site) = exit.site
        && rule.out_interface.as_ref() == Some(&site.transit_interface)
        && to == site.transit_address
    {
        return Some(exit.node.owns(to) == Some(false));
    }
    Some(!exit.node.owns(to)?)
}

fn duplicate(facts: &Facts, out: &mut Out<'_>) {
    for (name, node) in facts.nodes.iter() {
        let mut seen: BTreeMap<(String, String), (usize, &SnatRule)> = BTreeMap::new();
        for rule in node.snat_rules().into_iter().flatten() {
            let key = (format!("{:?}", rule.engine), rule.text.clone());
            seen.entry(key).or_insert((0, rule)).0 += 1;
        }
        for (count, rule) in seen.into_values().filter(|(count, _)| *count > 1) {
            let of = rule.source.map_or_else(|| "any source".to_owned(), |source| source.to_string());
            let mut finding = out
                .finding(
                    Subject::new("node", name),
                    format!("{name} holds the translation rule of {of} {count} times."),
                )
                .fact("snat.rules", format!("{name}/{of}"), count)
                .next("leave", 0, "nothing to do; an SDN apply writes it once");
            for rules in node.snat.values() {
                finding = finding.from(rules);
            }
            out.found(finding);
        }
    }
}
