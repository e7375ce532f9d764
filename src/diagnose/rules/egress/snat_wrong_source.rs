//! The rule translates to an address that is not the exit node's.

use super::super::exits::{Exit, exits, words};
use super::super::{Out, Rule};
use super::snat::{rules_of, with_rules};
use crate::backends::exit_node::model::SnatRule;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "snat-wrong-source",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "The rule of a subnet translates to an address that the exit node does not have. Packets leave, and answers go to \
           nobody. The rule's counter climbs all the same: it counts new connections, not answers.",
    reads: "the NAT rules and the addresses of the exit node, the site file",
    unlike: &[("snat-stale", "the node was renumbered, and an apply would write another rule")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for exit in exits(facts) {
        let mut hits = Vec::new();
        for tenant in &exit.tenants {
            let mut rules = rules_of(&exit, tenant).filter(|rule| rule.to_source.is_some()).peekable();
            if rules.peek().is_none() {
                continue;
            }
            match rules.try_fold(false, |foreign, rule| Some(foreign | is_foreign(&exit, rule)?)) {
                None => exit.unknown_of(tenant, out, "the addresses", "addr"),
                Some(true) => hits.push(tenant),
                Some(false) => out.pass(Subject::new("zone", tenant.zone)),
            }
        }
        exit.spread(out, &hits, |out, subject, who, tenants| {
            let to = tenants.iter().flat_map(|t| rules_of(&exit, t)).filter_map(|rule| rule.to_source).next();
            let to = to.map(|to| to.to_string()).unwrap_or_default();
            let title = format!("{} translates {who} to {to}, which is not its transit address.", exit.name);
            let mut finding = with_rules(out.finding(subject, title), exit.node);
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
