//! A rule that lets in who must not get in.

use ipnet::IpNet;

use super::super::{Out, Rule};
use super::{holds, interfaces, name, network};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::perimeter::filter;
use crate::diagnose::facts::perimeter::routing::Interface;
use crate::diagnose::finding::{Layer, Severity, Subject};
use crate::inventory::{barred_to_tenants, kept_from_tenants};

/// The rule.
pub static RULE: Rule = Rule {
    id: "perimeter-leak",
    layer: Layer::Perimeter,
    severity: Severity::Fault,
    says: "A rule passes what must not pass: from the segment by which tenants arrive back into the tenants' networks, so \
           that one tenant reaches another by way of the router; and, where the site says which networks are which, from \
           segments of devices, guests and storage to tenants, or from tenants to management, operators and storage.",
    reads: "filter rules, interfaces, static routes and the gateways' segment, the tenants' subnets, the site",
    unlike: &[
        ("inter-tenant-leak", "the tenants meet on the exit node, not at the router"),
        ("rule-left-over", "the network the rule names is nobody's"),
    ],
    explains: &[],
    judge,
};

/// What must not reach what.
struct Ban<'a> {
    from: &'a Interface,
    to: Vec<IpNet>,
    words: String,
}

/// The segment by which tenants arrive: as the site says, or where the next hop of the tenants' route is.
fn transit<'a>(facts: &Facts, tenants: &[IpNet], interfaces: &'a [Interface]) -> Option<&'a Interface> {
    let said = facts.site.as_ref().and_then(|site| site.opnsense.as_ref()).map(|o| IpNet::from(o.transit));
    if let Some(said) = said {
        return interfaces.iter().find(|i| i.net.is_some_and(|net| said.contains(&net)));
    }
    let routes = facts.perimeter.routes.as_ref()?;
    let via =
        routes.iter().filter(|r| r.enabled && tenants.iter().any(|net| r.network.contains(net))).find_map(|r| {
            let known = facts.perimeter.gateways.iter().flat_map(|all| all.value.iter());
            r.via.or_else(|| known.filter(|g| g.name == r.gateway).find_map(|g| g.address))
        })?;
    super::interface_of(interfaces, via)
}

fn bans<'a>(facts: &Facts, transit: &'a Interface, tenants: &[IpNet], interfaces: &'a [Interface]) -> Vec<Ban<'a>> {
    let ban = |from: &'a Interface, to: Vec<IpNet>, what: &str| {
        let words = format!("{} -> {what}", from.description);
        Ban { from, to, words }
    };
    let mut all = vec![ban(transit, tenants.to_vec(), "tenants")];
    // What segments are for only a site says.
    if facts.site.is_some() {
        for interface in interfaces.iter().filter(|i| i.id != transit.id) {
            if kept_from_tenants(&interface.description) {
                all.push(ban(interface, tenants.to_vec(), "tenants"));
            }
            if barred_to_tenants(&interface.description) {
                let net = interface.net.map(|net| net.trunc());
                all.push(ban(transit, net.into_iter().collect(), &interface.description));
            }
        }
    }
    all
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some(rules) = &facts.perimeter.rules else { return };
    let mut tenants: Vec<IpNet> = facts.sdn.subnets.values().flat_map(|all| all.value.iter().map(|s| s.cidr)).collect();
    tenants.extend(facts.site.as_ref().map(|site| IpNet::from(site.numbering.overlay)));
    if tenants.is_empty() || (facts.site.is_none() && facts.perimeter.routes.is_none()) {
        return;
    }
    let Some(interfaces) = interfaces(facts, out) else { return };
    let Some(transit) = transit(facts, &tenants, interfaces) else {
        let why = facts.calls.why(Api::Opnsense, "routes/gateway/status");
        out.unknown("the segment by which tenants arrive", why);
        return;
    };
    let bans = bans(facts, transit, &tenants, interfaces);
    let mut leaking = false;
    let lets_in = |r: &&filter::Rule| r.enabled && !r.automatic && r.action == "pass" && r.direction != "out";
    for rule in rules.iter().filter(lets_in) {
        for ban in &bans {
            let Some(net) = leaks(rule, ban, &tenants, interfaces) else { continue };
            let own = name(rule);
            leaking = true;
            let finding = out
                .finding(
                    Subject::new("rule", if rule.uuid.is_empty() { own } else { &rule.uuid }),
                    format!("{own} lets {} reach {net}, which must not be.", ban.from.description),
                )
                .fact("rule.passes", own, &ban.words)
                .affects([net.to_string()])
                .from(rules)
                .next("remove-rule", 2, format!("remove {own}, or narrow its destination"));
            out.found(finding);
        }
    }
    if !leaking {
        out.pass(Subject::new("source", Api::Opnsense.words()));
    }
}

/// The network that `rule` opens against `ban`. A rule to everywhere is meant for the internet, and is judged where it
/// names a banned network, or a wider one, by itself.
fn leaks(rule: &filter::Rule, ban: &Ban<'_>, tenants: &[IpNet], interfaces: &[Interface]) -> Option<IpNet> {
    let on = rule.interfaces.is_empty() || rule.interfaces.contains(&ban.from.id);
    if !on || rule.destination.nets.is_empty() || rule.destination.negated {
        return None;
    }
    let part = |part: &String| network(part, interfaces);
    if !comes_from(rule, ban, tenants, interfaces) {
        return None;
    }
    let mut to = rule.destination.nets.iter().filter_map(part).filter(|part| part.prefix_len() > 0);
    to.find(|part| ban.to.iter().any(|net| part.contains(net) || net.contains(part)))
}

/// Whether packets of the banned segment meet the rule: on its own interface with any source, with a source that holds
/// the segment, or with one that is part of it or, there, a tenant's own.
fn comes_from(rule: &filter::Rule, ban: &Ban<'_>, tenants: &[IpNet], interfaces: &[Interface]) -> bool {
    let own = rule.interfaces.contains(&ban.from.id);
    if rule.source.nets.is_empty() {
        return own;
    }
    let segment = ban.from.net.map(|net| net.trunc());
    if segment.is_some_and(|net| holds(&rule.source, &net, interfaces) == Some(true)) {
        return true;
    }
    let theirs = |source: IpNet| {
        segment.is_some_and(|net| net.contains(&source)) || (own && tenants.iter().any(|net| net.contains(&source)))
    };
    !rule.source.negated && rule.source.nets.iter().filter_map(|part| network(part, interfaces)).any(theirs)
}
