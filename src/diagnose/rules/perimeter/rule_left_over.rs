//! A rule or a route for a network that nobody has.

use super::super::{Out, Rule};
use super::{interfaces, network};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "rule-left-over",
    layer: Layer::Perimeter,
    severity: Severity::Warning,
    says: "A filter rule names a network behind the tenants' route that belongs to no tenant any more. The next tenant who \
           gets the network inherits the rule.",
    reads: "filter rules, static routes and interfaces, the tenants' subnets",
    unlike: &[("perimeter-leak", "the network is a tenant's, and the rule opens it to others")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let (Some(rules), Some(routes)) = (&facts.perimeter.rules, &facts.perimeter.routes) else { return };
    let tenants: Vec<_> = facts.sdn.subnets.values().flat_map(|all| all.value.iter().map(|s| s.cidr)).collect();
    if tenants.is_empty() {
        return;
    }
    let Some(interfaces) = interfaces(facts, out) else { return };
    // The tenants' overlay: routes that lead to at least one of them.
    let overlay: Vec<_> =
        routes.iter().map(|r| r.network).filter(|net| tenants.iter().any(|t| net.contains(t) && net != t)).collect();
    for rule in rules.iter().filter(|rule| !rule.automatic) {
        let sides = rule.source.nets.iter().chain(&rule.destination.nets).filter_map(|part| network(part, interfaces));
        for net in sides {
            let inside = overlay.iter().any(|wide| wide.contains(&net) && *wide != net);
            if !inside || tenants.iter().any(|tenant| tenant.contains(&net) || net.contains(tenant)) {
                continue;
            }
            let own = super::name(rule);
            let finding = out
                .finding(
                    Subject::new("rule", if rule.uuid.is_empty() { own } else { &rule.uuid }),
                    format!("{own} names {net}, which is no tenant's."),
                )
                .fact("rule.names", own, net)
                .affects([own])
                .from(rules)
                .next("remove-rule", 2, format!("remove {own}, once nobody needs it"));
            out.found(finding);
        }
    }
}
