//! A rule that lets in who must not get in.

use ipnet::IpNet;

use super::super::{Out, Rule};
use super::{holds, interfaces, name, network};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::perimeter::filter;
use crate::diagnose::facts::perimeter::routing::Interface;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "perimeter-leak",
    layer: Layer::Perimeter,
    severity: Severity::Fault,
    says: "A rule passes what must not pass: from the segment by which tenants arrive back into the tenants' networks, so \
           that one tenant reaches another by way of the router. Packets between tenants have no business here.",
    reads: "filter rules, interfaces, static routes and the gateways' segment, the tenants' subnets",
    unlike: &[("inter-tenant-leak", "the tenants meet on the exit node, not at the router")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let (Some(rules), Some(routes)) = (&facts.perimeter.rules, &facts.perimeter.routes) else { return };
    let tenants: Vec<IpNet> = facts.sdn.subnets.values().flat_map(|all| all.value.iter().map(|s| s.cidr)).collect();
    if tenants.is_empty() {
        return;
    }
    let Some(interfaces) = interfaces(facts, out) else { return };
    // The segment on which the next hop of the tenants' route sits.
    let via = routes.iter().filter(|r| r.enabled && tenants.iter().any(|net| r.network.contains(net))).find_map(|r| {
        let known = facts.perimeter.gateways.iter().flat_map(|all| all.value.iter());
        r.via.or_else(|| known.filter(|g| g.name == r.gateway).find_map(|g| g.address))
    });
    let Some(transit) = via.and_then(|via| super::interface_of(interfaces, via)) else {
        out.unknown("the segment by which tenants arrive", facts.calls.why(Api::Opnsense, "routes/gateway/status"));
        return;
    };
    for rule in rules.iter().filter(|r| r.enabled && !r.automatic && r.action == "pass" && r.direction != "out") {
        let Some(net) = leaks(rule, transit, &tenants, interfaces) else { continue };
        let own = name(rule);
        let finding = out
            .finding(
                Subject::new("rule", if rule.uuid.is_empty() { own } else { &rule.uuid }),
                format!(
                    "{own} lets {} reach {net}: tenants reach one another by way of the router.",
                    transit.description
                ),
            )
            .fact("rule.passes", own, format!("{} -> {net}", transit.description))
            .affects([net.to_string()])
            .from(rules)
            .next("remove-rule", 2, format!("remove {own}, or narrow its destination"));
        out.found(finding);
    }
}

/// The tenants' network that `rule` opens to the segment they arrive by. A rule to everywhere is meant for the
/// internet and is judged where it names a tenants' network, or a wider one, by itself.
fn leaks(rule: &filter::Rule, transit: &Interface, tenants: &[IpNet], interfaces: &[Interface]) -> Option<IpNet> {
    let on = rule.interfaces.is_empty() || rule.interfaces.contains(&transit.id);
    if !on || rule.destination.nets.is_empty() || rule.destination.negated {
        return None;
    }
    let from_transit = transit.net.is_some_and(|net| holds(&rule.source, &net.trunc(), interfaces) == Some(true));
    let from_tenant = tenants.iter().any(|net| holds(&rule.source, net, interfaces) == Some(true));
    let to = rule.destination.nets.iter().filter_map(|part| network(part, interfaces));
    let to = to.filter(|part| tenants.iter().any(|net| part.contains(net))).find(|_| from_transit || from_tenant);
    to.filter(|part| part.prefix_len() > 0)
}
