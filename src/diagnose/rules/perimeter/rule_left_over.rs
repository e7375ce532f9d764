//! A rule or a route for a network that nobody has.

use super::super::names::Names;
use super::super::{Out, Rule};
use super::{interfaces, tenants};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity};

/// The rule.
pub static RULE: Rule = Rule {
    id: "rule-left-over",
    layer: Layer::Perimeter,
    severity: Severity::Warning,
    says: "A filter rule names a network behind the tenants' route that belongs to no tenant any more. The next tenant who \
           gets the network inherits the rule.",
    reads: "filter rules, aliases, static routes and interfaces, the list of tenants where it is whole",
    unlike: &[("perimeter-leak", "the network is a tenant's, and the rule opens it to others")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let (Some(rules), Some(routes)) = (&facts.perimeter.rules, &facts.perimeter.routes) else { return };
    let known: Vec<_> = facts.sdn.subnets.values().flat_map(|all| all.value.iter().map(|s| s.cidr)).collect();
    if known.is_empty() {
        return;
    }
    let Some(interfaces) = interfaces(facts, out) else { return };
    let names = Names::new(facts, interfaces);
    let overlay = tenants::overlay(facts, &known);
    for rule in rules.iter().filter(|rule| !rule.automatic) {
        let parts = rule.source.nets.iter().chain(&rule.destination.nets);
        for net in parts.filter_map(|part| names.nets(part)).flatten() {
            let inside = overlay.iter().any(|wide| wide.contains(&net) && *wide != net);
            if !inside || known.iter().any(|tenant| tenant.contains(&net) || net.contains(tenant)) {
                continue;
            }
            let own = super::name(rule);
            let all = match tenants::whole(facts) {
                Ok(all) => all,
                Err((missing, why)) => {
                    out.unknown(missing, why);
                    return;
                }
            };
            if all.have(&net) {
                continue;
            }
            let finding = out
                .finding(super::subject(rule), format!("{own} names {net}, which is no tenant's."))
                .fact("rule.names", own, net)
                .affects([own])
                .from(rules)
                .from(routes)
                .next("remove-rule", 2, format!("remove {own}, once nobody needs it"));
            out.found(finding);
        }
    }
}
