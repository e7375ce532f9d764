//! Rules, translation and routes of OPNsense.

mod asymmetric_path;
mod gateway_down;
mod monitor_silent;
mod nat_missing_for_routed;
mod perimeter_leak;
mod route_missing;
mod rule_left_over;
mod rule_never_hit;
mod rule_shadowed;
mod ruleset_not_loaded;
mod way_out;

use std::net::IpAddr;

use ipnet::IpNet;

pub(super) use way_out::{WayOut, way_out};

use super::{Out, Rule};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::perimeter::filter;
use crate::diagnose::facts::perimeter::routing::Interface;

/// Rules of this layer, those first whose faults explain others.
pub(super) static RULES: &[&Rule] = &[
    &ruleset_not_loaded::RULE,
    &rule_shadowed::RULE,
    &perimeter_leak::RULE,
    &nat_missing_for_routed::RULE,
    &route_missing::RULE,
    &gateway_down::RULE,
    &monitor_silent::RULE,
    &asymmetric_path::RULE,
    &rule_left_over::RULE,
    &rule_never_hit::RULE,
];

/// Where interfaces are read.
const INTERFACES: &str = "interfaces/overview/*";
/// Where static routes are read.
const ROUTES: &str = "routes/routes/searchroute";
/// Where filter rules are read.
const RULES_LISTED: &str = "firewall/filter/searchrule";

/// The interfaces, where the router told any. None at all means that nothing was discovered: the rules that depend on
/// them are unknown, never empty.
fn interfaces<'a>(facts: &'a Facts, out: &mut Out<'_>) -> Option<&'a [Interface]> {
    let all = facts.perimeter.interfaces.as_ref().map(|all| all.value.as_slice());
    match all {
        Some([]) => {
            out.unknown(
                "the interfaces of the router",
                Some("the router listed none: nothing was discovered".to_owned()),
            );
            None
        }
        Some(all) => Some(all),
        None => {
            out.unknown("the interfaces of the router", facts.calls.why(Api::Opnsense, INTERFACES));
            None
        }
    }
}

/// The inner interface whose network holds `address`.
fn interface_of(interfaces: &[Interface], address: IpAddr) -> Option<&Interface> {
    interfaces.iter().find(|i| i.net.is_some_and(|net| net.contains(&address)))
}

/// What part of a rule's side is: a network, an interface's network, or the name of something not seen here.
fn network(part: &str, interfaces: &[Interface]) -> Option<IpNet> {
    let of_interface = || {
        let own =
            interfaces.iter().find(|i| i.id.eq_ignore_ascii_case(part) || i.description.eq_ignore_ascii_case(part));
        own.and_then(|i| i.net).map(|net| net.trunc())
    };
    // `opt3ip` is the router's own address there.
    let of_router = || {
        let id = part.strip_suffix("ip")?;
        let own = interfaces.iter().find(|i| i.id.eq_ignore_ascii_case(id))?;
        own.net.map(|net| IpNet::from(net.addr()))
    };
    let address = || part.parse::<IpAddr>().ok().map(IpNet::from);
    part.parse::<IpNet>().ok().or_else(address).or_else(of_interface).or_else(of_router)
}

/// Whether `net` lies within `side`; `None` = the side has parts that are not understood, aliases for instance.
fn holds(side: &filter::Side, net: &IpNet, interfaces: &[Interface]) -> Option<bool> {
    if side.nets.is_empty() {
        return Some(!side.negated);
    }
    let parts: Vec<Option<IpNet>> = side.nets.iter().map(|part| network(part, interfaces)).collect();
    let within = parts.iter().flatten().any(|part| part.contains(net));
    match (within, side.negated) {
        (true, negated) => Some(!negated),
        (false, _) if parts.iter().any(Option::is_none) => None,
        (false, false) => Some(false),
        // All but these: they may still overlap.
        (false, true) => Some(!parts.iter().flatten().any(|part| net.contains(part))),
    }
}

/// What a rule is called: what somebody wrote, or its label.
fn name(rule: &filter::Rule) -> &str {
    if rule.description.is_empty() { &rule.uuid } else { &rule.description }
}
