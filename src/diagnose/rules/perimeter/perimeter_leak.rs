//! A rule that lets in who must not get in.

use ipnet::IpNet;

use super::super::names::Names;
use super::super::{Out, Rule};
use super::{interfaces, name};
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
           segments of devices, guests and storage to tenants, or from tenants to management, operators and storage. A rule \
           before it that blocks all of it is taken into account, and so is a gateway that the rule itself sends to.",
    reads: "filter rules, aliases, interfaces, static routes and the gateways' segment, the tenants' subnets, the site",
    unlike: &[
        ("perimeter-too-wide", "the rule is meant for the internet and names no network"),
        ("inter-tenant-leak", "the tenants meet on the exit node, not at the router"),
        ("rule-left-over", "the network the rule names is nobody's"),
    ],
    explains: &[],
    judge,
};

/// What must not reach what.
pub(super) struct Ban<'a> {
    pub(super) from: &'a Interface,
    pub(super) to: Vec<IpNet>,
    pub(super) words: String,
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

/// Whether a rule lets something in that another rule may have to say no to.
pub(super) fn lets_in(rule: &filter::Rule) -> bool {
    rule.enabled && !rule.automatic && !rule.only_v6 && rule.action == "pass" && rule.direction != "out"
}

/// What must not reach what here, and the tenants' networks; says what is missing where that cannot be told. `None` also
/// where nothing of the tenants or of the router's routes was read: then it is not the question.
pub(super) fn policy<'a>(facts: &'a Facts, out: &mut Out<'_>) -> Option<(Vec<Ban<'a>>, Vec<IpNet>, Names<'a>)> {
    let rules = facts.perimeter.rules.as_ref()?;
    let mut tenants: Vec<IpNet> = facts.sdn.subnets.values().flat_map(|all| all.value.iter().map(|s| s.cidr)).collect();
    tenants.extend(facts.site.as_ref().map(|site| IpNet::from(site.value.numbering.overlay)));
    if tenants.is_empty() || (facts.site.is_none() && facts.perimeter.routes.is_none()) {
        return None;
    }
    let interfaces = interfaces(facts, out)?;
    // OPNsense always has rules of its own: a list without any was not read, and a policy compared with it is none.
    if rules.is_empty() {
        let why = facts.calls.why(Api::Opnsense, super::RULES_LISTED);
        out.unknown("the filter rules of the router", why.or_else(|| Some("the router listed none".to_owned())));
        return None;
    }
    let Some(transit) = transit(facts, &tenants, interfaces) else {
        let why = facts.calls.why(Api::Opnsense, "routes/gateway/status");
        out.unknown("the segment by which tenants arrive", why);
        return None;
    };
    Some((bans(facts, transit, &tenants, interfaces), tenants, Names::new(facts, interfaces)))
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let (Some((bans, tenants, names)), Some(rules)) = (policy(facts, out), &facts.perimeter.rules) else { return };
    let mut silent = true;
    for rule in rules.iter().filter(|rule| lets_in(rule)) {
        for ban in &bans {
            let own = name(rule);
            let net = match leaks(facts, rule, ban, &tenants, rules, &names) {
                Ok(Some(net)) => net,
                Ok(None) => continue,
                Err(what) => {
                    silent = false;
                    out.unknown(what, facts.calls.why(Api::Opnsense, ALIASES));
                    continue;
                }
            };
            silent = false;
            let finding = out
                .finding(
                    super::subject(rule),
                    format!("{own} lets {} reach {net}, which must not be.", ban.from.description),
                )
                .fact("rule.passes", own, &ban.words)
                .affects([net.to_string()])
                .from(rules)
                .next("remove-rule", 2, format!("remove {own}, or narrow its destination"));
            out.found(finding);
        }
    }
    if silent {
        out.pass(Subject::new("source", Api::Opnsense.words()));
    }
}

/// Where aliases are read.
pub(super) const ALIASES: &str = "firewall/alias/searchitem";

/// What is not known where `part` of `rule` is not understood.
pub(super) fn unclear(part: &str, rule: &filter::Rule) -> String {
    format!("what {part} means in {}", name(rule))
}

/// The network that `rule` opens against `ban`. A rule to everywhere is meant for the internet: it is another rule's. The
/// error says what decides and is not understood.
fn leaks(
    facts: &Facts,
    rule: &filter::Rule,
    ban: &Ban<'_>,
    tenants: &[IpNet],
    rules: &[filter::Rule],
    names: &Names<'_>,
) -> Result<Option<IpNet>, String> {
    if rule.destination.nets.is_empty() || rule.destination.negated {
        return Ok(None);
    }
    let from = comes_from(rule, ban, tenants, names);
    if from == Ok(false) {
        return Ok(None);
    }
    let parts: Vec<Option<Vec<IpNet>>> = rule.destination.nets.iter().map(|part| names.nets(part)).collect();
    for part in parts.iter().flatten().flatten().filter(|part| part.prefix_len() > 0) {
        for net in ban.to.iter().filter(|net| part.contains(*net) || net.contains(part)) {
            // What the two have in common.
            let common = if part.contains(net) { net } else { part };
            if stopped(rule, (ban, common), rules, names)? || !arrives(facts, rule, ban, names)? {
                continue;
            }
            return from.map(|_| Some(*part));
        }
    }
    let missing = rule.destination.nets.iter().zip(&parts).find(|(_, nets)| nets.is_none());
    missing.map_or(Ok(None), |(part, _)| Err(unclear(part, rule)))
}

/// Whether what `rule` passes comes to the segments of the router: a gateway that it names itself takes it elsewhere, but
/// for a next hop on an inner segment, which may lead there. The error says that the gateway is not known.
fn arrives(facts: &Facts, rule: &filter::Rule, ban: &Ban<'_>, names: &Names<'_>) -> Result<bool, String> {
    let Some(gateway) = &rule.gateway else { return Ok(true) };
    let known = facts.perimeter.gateways.iter().flat_map(|all| all.value.iter());
    let address = known.filter(|one| one.name == *gateway).find_map(|one| one.address);
    let by = address.and_then(|address| super::interface_of(names.interfaces, address));
    match by {
        Some(by) if by.outside => Ok(false),
        Some(_) => Err(format!("whether gateway {gateway}, to which {} sends, leads to {}", name(rule), ban.words)),
        None => Err(format!("where gateway {gateway} of {} leads", name(rule))),
    }
}

/// Whether a rule before `pass` blocks everything to `net` that it would let in. The error says what of such a rule is not
/// understood.
pub(super) fn stopped(
    pass: &filter::Rule,
    (ban, net): (&Ban<'_>, &IpNet),
    rules: &[filter::Rule],
    names: &Names<'_>,
) -> Result<bool, String> {
    let mut missing = None;
    for rule in rules.iter().filter(|rule| blocks_all(rule)) {
        let before = rule.order.zip(pass.order).map(|(block, pass)| block < pass);
        let from = all_from(rule, pass, ban, names);
        let told = [before, from, names.stands_on(rule, ban.from), names.holds(&rule.destination, net)];
        if told.contains(&Some(false)) {
            continue;
        }
        if !told.contains(&None) {
            return Ok(true);
        }
        missing.get_or_insert_with(|| format!("whether {} blocks before {} passes", name(rule), name(pass)));
    }
    missing.map_or(Ok(false), Err)
}

/// Whether a rule stops, at once, every packet between its two sides.
fn blocks_all(rule: &filter::Rule) -> bool {
    rule.enabled
        && rule.quick
        && rule.action != "pass"
        && rule.direction != "out"
        && rule.protocol == "any"
        && !rule.narrowed
        && !rule.only_v6
        && rule.source.port.is_none()
        && rule.destination.port.is_none()
}

/// Whether `block` holds every source that `pass` lets in from the banned segment; `None` where that is not understood.
fn all_from(block: &filter::Rule, pass: &filter::Rule, ban: &Ban<'_>, names: &Names<'_>) -> Option<bool> {
    if block.source.nets.is_empty() && !block.source.negated {
        return Some(true);
    }
    let segment = ban.from.net.map(|net| net.trunc())?;
    let named: Vec<IpNet> = if pass.source.negated {
        Vec::new()
    } else {
        pass.source
            .nets
            .iter()
            .map(|part| names.nets(part))
            .collect::<Option<Vec<_>>>()?
            .into_iter()
            .flatten()
            .collect()
    };
    // Of what holds the segment only the segment comes in there, and nothing of another one.
    let others = || names.interfaces.iter().filter(|i| i.id != ban.from.id).filter_map(|i| i.net);
    let here = |net: &&IpNet| net.contains(&segment) || !others().any(|other| other.contains(*net));
    let sources = named.iter().filter(here).map(|net| if net.contains(&segment) { &segment } else { net });
    let all: Vec<&IpNet> = if named.is_empty() { vec![&segment] } else { sources.collect() };
    all.iter().map(|net| names.holds(&block.source, net)).try_fold(true, |all, held| Some(all && held?))
}

/// Whether packets of the banned segment meet the rule: where it stands on their interface with any source, or with one that
/// holds the segment, is part of it or, there, a tenant's own. The error says what is not understood.
pub(super) fn comes_from(
    rule: &filter::Rule,
    ban: &Ban<'_>,
    tenants: &[IpNet],
    names: &Names<'_>,
) -> Result<bool, String> {
    let segment = ban.from.net.map(|net| net.trunc());
    let sends = || -> Result<bool, String> {
        if rule.source.nets.is_empty() {
            return Ok(!rule.source.negated);
        }
        let holds = segment.map(|net| names.holds(&rule.source, &net));
        if holds == Some(Some(true)) {
            return Ok(true);
        }
        let own = rule.interfaces.iter().any(|name| names.interface(name).is_some_and(|i| i.id == ban.from.id));
        let theirs = |source: &IpNet| {
            segment.is_some_and(|net| net.contains(source)) || (own && tenants.iter().any(|net| net.contains(source)))
        };
        let mut missing = None;
        for part in rule.source.nets.iter().filter(|_| !rule.source.negated) {
            match names.nets(part) {
                Some(nets) if nets.iter().any(theirs) => return Ok(true),
                Some(_) => {}
                None => missing = Some(unclear(part, rule)),
            }
        }
        missing.map_or(Ok(false), Err)
    };
    match names.stands_on(rule, ban.from) {
        Some(false) => Ok(false),
        Some(true) => sends(),
        None if sends() == Ok(false) => Ok(false),
        None => Err(unclear(&rule.interfaces.join(", "), rule)),
    }
}
