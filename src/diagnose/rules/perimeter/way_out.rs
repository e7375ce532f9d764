//! Whether the router lets an address out to the internet, by its own word: states, rules, interfaces.

use std::net::{IpAddr, Ipv4Addr};

use ipnet::{IpNet, Ipv4Net};

use super::super::names::Names;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::perimeter::filter;

/// What the router says of a way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::diagnose::rules) enum WayOut {
    /// A connection is tracked that came back.
    Used,
    /// No rule in force lets the address out by its interface: what no rule passes is dropped.
    Closed {
        /// The interface, as described.
        interface: String,
        /// Switched off rules that would, by what somebody wrote.
        off: Vec<String>,
        /// Packets of the address to the internet that the log shows as dropped.
        dropped: usize,
    },
    /// It cannot be told, and why.
    Unknown(&'static str),
}

/// Networks of the inside (RFC 1918, RFC 6598), of the host itself and of its link.
const INSIDE: [Ipv4Net; 6] = [
    Ipv4Net::new_assert(Ipv4Addr::new(10, 0, 0, 0), 8),
    Ipv4Net::new_assert(Ipv4Addr::new(172, 16, 0, 0), 12),
    Ipv4Net::new_assert(Ipv4Addr::new(192, 168, 0, 0), 16),
    Ipv4Net::new_assert(Ipv4Addr::new(100, 64, 0, 0), 10),
    Ipv4Net::new_assert(Ipv4Addr::new(127, 0, 0, 0), 8),
    Ipv4Net::new_assert(Ipv4Addr::new(169, 254, 0, 0), 16),
];

fn inside(net: &IpNet) -> bool {
    matches!(net, IpNet::V4(net) if INSIDE.iter().any(|own| own.contains(net)))
}

fn outside(address: Option<IpAddr>) -> bool {
    address.is_some_and(|ip| !inside(&IpNet::from(ip)))
}

/// What the router says of the way from `address` to the internet.
pub(in crate::diagnose::rules) fn way_out(facts: &Facts, address: Ipv4Addr) -> WayOut {
    let of = &facts.perimeter;
    let from = |source: Option<IpAddr>| source == Some(IpAddr::V4(address));
    let answered = |state: &filter::State| state.packets.is_some_and(|(_, back)| back > 0);
    let states = of.states.iter().flat_map(|all| all.value.iter());
    if states.filter(|s| from(s.source) && outside(s.destination)).any(answered) {
        return WayOut::Used;
    }
    let (Some(rules), Some(interfaces)) = (&of.rules, &of.interfaces) else {
        return WayOut::Unknown("its rules and interfaces were not read");
    };
    // OPNsense always has rules of its own: a list without any was not read.
    if rules.is_empty() {
        return WayOut::Unknown("it listed no rules");
    }
    let Some(own) = super::interface_of(interfaces, IpAddr::V4(address)) else {
        return WayOut::Unknown("none of its interfaces has the transit network");
    };
    let names = Names::new(facts, interfaces);
    let passes = |rule: &&filter::Rule| {
        // What OPNsense makes itself serves the router: DHCP, its pages, its own packets.
        rule.action == "pass" && rule.direction != "out" && !rule.automatic && !rule.only_v6
    };
    let mut off = Vec::new();
    for rule in rules.iter().filter(passes) {
        let here = names.stands_on(rule, own);
        if here == Some(false) {
            continue;
        }
        let opens = (names.holds(&rule.source, &IpNet::from(IpAddr::V4(address))), leads_out(rule, &names));
        match opens {
            (Some(false), _) | (_, Some(false)) => {}
            _ if !rule.enabled && here.is_none() => {}
            _ if !rule.enabled => off.push(super::name(rule).to_owned()),
            _ if here.is_none() => {
                return WayOut::Unknown(
                    "a rule of a group of interfaces may let it out: who is in the group is not told",
                );
            }
            (Some(true), Some(true)) => return WayOut::Unknown("a rule lets it out, and no connection was seen"),
            _ => return WayOut::Unknown("a rule may let it out: what it means was not read"),
        }
    }
    let log = of.log.iter().flat_map(|all| all.value.iter());
    let dropped = log.filter(|packet| from(packet.source) && outside(packet.destination)).count();
    WayOut::Closed { interface: own.description.clone(), off, dropped }
}

/// Whether a rule's destination is outside; `None` where it has parts that are not understood, aliases for instance.
fn leads_out(rule: &filter::Rule, names: &Names<'_>) -> Option<bool> {
    let side = &rule.destination;
    if side.nets.is_empty() {
        return Some(!side.negated);
    }
    let known = |part: &String| if part == "(self)" { Some(true) } else { Some(names.nets(part)?.iter().all(inside)) };
    let parts: Option<Vec<bool>> = side.nets.iter().map(known).collect();
    match (parts?.iter().all(|inside| *inside), side.negated) {
        (all_inside, true) => all_inside.then_some(true),
        (true, false) => Some(false),
        (false, false) => Some(true),
    }
}
