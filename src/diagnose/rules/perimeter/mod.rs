//! Rules, translation and routes of OPNsense.

mod alias_left_over;
mod asymmetric_path;
mod forward_left_over;
mod gateway_down;
mod monitor_silent;
mod nat_left_over;
mod nat_missing_for_routed;
mod nat_missing_for_transit;
mod perimeter_leak;
mod perimeter_too_wide;
mod route_left_over;
mod route_missing;
mod route_per_tenant;
mod route_wrong_gateway;
mod rule_hand_made;
mod rule_left_over;
mod rule_never_hit;
mod rule_shadowed;
mod rule_still_loaded;
mod ruleset_not_loaded;
mod tenants;
mod way_out;

use std::net::IpAddr;

pub(super) use way_out::{WayOut, way_out};

use super::{Out, Rule};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::perimeter::filter;
use crate::diagnose::facts::perimeter::routing::Interface;
use crate::diagnose::finding::Subject;

/// Rules of this layer, those first whose faults explain others.
pub(super) static RULES: &[&Rule] = &[
    &ruleset_not_loaded::RULE,
    &rule_shadowed::RULE,
    &perimeter_leak::RULE,
    &perimeter_too_wide::RULE,
    &nat_missing_for_transit::RULE,
    &nat_missing_for_routed::RULE,
    &route_missing::RULE,
    &gateway_down::RULE,
    &monitor_silent::RULE,
    &asymmetric_path::RULE,
    &rule_left_over::RULE,
    &rule_never_hit::RULE,
    &route_left_over::RULE,
    &alias_left_over::RULE,
    &nat_left_over::RULE,
    &forward_left_over::RULE,
    &route_per_tenant::RULE,
    &route_wrong_gateway::RULE,
    &rule_still_loaded::RULE,
    &rule_hand_made::RULE,
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

/// What a rule is called: what somebody wrote, or its label.
fn name(rule: &filter::Rule) -> &str {
    if rule.description.is_empty() { &rule.uuid } else { &rule.description }
}

/// A rule as a subject: by its label, else by what somebody wrote.
fn subject(rule: &filter::Rule) -> Subject {
    Subject::new("rule", if rule.uuid.is_empty() { name(rule) } else { &rule.uuid })
}
