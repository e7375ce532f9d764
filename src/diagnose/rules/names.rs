//! What names in rules stand for: interfaces, addresses, aliases. What is not understood is unknown, never nothing.

use std::net::IpAddr;

use ipnet::IpNet;

use crate::diagnose::facts::Facts;
use crate::diagnose::facts::perimeter::alias::Alias;
use crate::diagnose::facts::perimeter::filter::{Rule, Side};
use crate::diagnose::facts::perimeter::routing::Interface;

/// Aliases within aliases are followed so far.
const DEPTH: usize = 8;
/// Names a rule may give as interface that are neither a segment nor a group of them.
const NO_SEGMENT: [&str; 4] = ["openvpn", "wireguard", "enc0", "lo0"];

/// The names of one router.
pub(super) struct Names<'a> {
    /// Interfaces, at least one.
    pub(super) interfaces: &'a [Interface],
    aliases: Option<&'a [Alias]>,
}

impl<'a> Names<'a> {
    /// The names, `interfaces` being what was discovered.
    pub(super) fn new(facts: &'a Facts, interfaces: &'a [Interface]) -> Self {
        Self { interfaces, aliases: facts.perimeter.aliases.as_ref().map(|all| all.value.as_slice()) }
    }

    /// The interface of that id or description.
    pub(super) fn interface(&self, name: &str) -> Option<&'a Interface> {
        let is = |i: &&Interface| i.id.eq_ignore_ascii_case(name) || i.description.eq_ignore_ascii_case(name);
        self.interfaces.iter().find(is).filter(|i| !name.is_empty() && !i.id.is_empty())
    }

    /// Networks that a part of a side means; `None` = it is not understood.
    pub(super) fn nets(&self, part: &str) -> Option<Vec<IpNet>> {
        self.nets_of(part, 0)
    }

    fn nets_of(&self, part: &str, depth: usize) -> Option<Vec<IpNet>> {
        if let Some(net) = part.parse::<IpNet>().ok().or_else(|| part.parse::<IpAddr>().ok().map(IpNet::from)) {
            return Some(vec![net]);
        }
        let address = |i: &Interface| i.net.map(|net| IpNet::from(net.addr()));
        if part == "(self)" {
            return Some(self.interfaces.iter().filter_map(address).collect());
        }
        let plain = part.strip_prefix("__").and_then(|p| p.strip_suffix("_network")).unwrap_or(part);
        if let Some(interface) = self.interface(plain) {
            return Some(vec![interface.net?.trunc()]);
        }
        if let Some(interface) = part.strip_suffix("ip").and_then(|id| self.interface(id)) {
            return Some(vec![address(interface)?]);
        }
        self.of_alias(part, depth)
    }

    fn of_alias(&self, name: &str, depth: usize) -> Option<Vec<IpNet>> {
        let alias = self.aliases?.iter().find(|alias| alias.name == name)?;
        let plain = matches!(alias.kind.as_str(), "host" | "network" | "networkgroup");
        if !alias.enabled || !plain || depth >= DEPTH {
            return None;
        }
        let mut all = Vec::new();
        for member in &alias.content {
            all.extend(self.nets_of(member, depth + 1)?);
        }
        Some(all)
    }

    /// Aliases of `side` that hold nothing: what is left out by them is not left out.
    pub(super) fn hollow<'s>(&self, side: &'s Side) -> Vec<&'s str> {
        let is = |part: &&String| self.nets(part).is_some_and(|nets| nets.is_empty());
        side.nets.iter().filter(is).map(String::as_str).collect()
    }

    /// Whether `net` lies within `side`; `None` = the side has parts that are not understood.
    pub(super) fn holds(&self, side: &Side, net: &IpNet) -> Option<bool> {
        if side.nets.is_empty() {
            return Some(!side.negated);
        }
        let parts: Vec<Option<Vec<IpNet>>> = side.nets.iter().map(|part| self.nets(part)).collect();
        let within = parts.iter().flatten().flatten().any(|part| part.contains(net));
        match (within, side.negated) {
            (true, negated) => Some(!negated),
            (false, _) if parts.iter().any(Option::is_none) => None,
            (false, false) => Some(false),
            // All but these: they may still overlap.
            (false, true) => Some(!parts.iter().flatten().flatten().any(|part| net.contains(part))),
        }
    }

    /// Whether a rule is looked at for what comes in by `interface`; `None` = it names a group, whose members are not told.
    pub(super) fn stands_on(&self, rule: &Rule, interface: &Interface) -> Option<bool> {
        if rule.interfaces.is_empty() {
            return Some(true);
        }
        let own = |name: &String| self.interface(name).is_some_and(|found| found.id == interface.id);
        if rule.interfaces.iter().any(own) {
            return Some(!rule.elsewhere);
        }
        let single = |name: &str| {
            let numbered =
                name.strip_prefix("opt").is_some_and(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()));
            numbered || matches!(name, "lan" | "wan") || NO_SEGMENT.contains(&name)
        };
        if rule.interfaces.iter().any(|name| self.interface(name).is_none() && !single(name)) {
            return None;
        }
        Some(rule.elsewhere)
    }
}
