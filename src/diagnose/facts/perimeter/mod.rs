//! OPNsense: rules, translation, states, routes, gateways, interfaces, and its resolver.

pub mod aliases;
pub mod filter;
pub mod resolver;
pub mod routing;

use super::{Reader, Sourced};

/// Readers of this area.
pub(super) const READERS: &[&[Reader]] = &[aliases::READERS, filter::READERS, routing::READERS, resolver::READERS];

impl Perimeter {
    /// Counters of `rule`: from the list itself, or from those that were read by label. `None` = pf has no such rule, or
    /// nobody asked.
    #[must_use]
    pub fn hits(&self, rule: &filter::Rule) -> Option<filter::Hits> {
        rule.hits.or_else(|| self.hits.as_ref()?.get(&rule.uuid).copied())
    }
}

/// What was read of it. `None` = not read, which is never the same as empty.
#[derive(Debug, Default)]
pub struct Perimeter {
    /// Filter rules in the order listed.
    pub rules: Option<Sourced<Vec<filter::Rule>>>,
    /// Counters by label, where they were read apart from the rules.
    pub hits: Option<Sourced<std::collections::BTreeMap<String, filter::Hits>>>,
    /// What names in rules stand for.
    pub aliases: Option<Sourced<aliases::Aliases>>,
    /// Rules of source NAT.
    pub nat: Option<Sourced<Vec<filter::NatRule>>>,
    /// Why pf refused a rule set, and when.
    pub refused: Option<Sourced<filter::Refused>>,
    /// The status of the system was read, whatever it says.
    pub status_read: bool,
    /// States.
    pub states: Option<Sourced<Vec<filter::State>>>,
    /// Packets that were dropped, newest first.
    pub log: Option<Sourced<Vec<filter::Dropped>>>,
    /// Interfaces.
    pub interfaces: Option<Sourced<Vec<routing::Interface>>>,
    /// Static routes.
    pub routes: Option<Sourced<Vec<routing::Route>>>,
    /// Gateways and what monitoring says.
    pub gateways: Option<Sourced<Vec<routing::Gateway>>>,
    /// Neighbours.
    pub arp: Option<Sourced<Vec<routing::Neighbour>>>,
    /// Plain forwards of the resolver.
    pub forwards: Option<Sourced<Vec<resolver::Forward>>>,
    /// Forwards over TLS.
    pub dots: Option<Sourced<Vec<resolver::Forward>>>,
    /// Local zones of the running resolver: name without final dot, type.
    pub local_zones: Option<Sourced<Vec<(String, String)>>>,
    /// Settings of the resolver.
    pub resolver: Option<Sourced<resolver::Settings>>,
    /// Access lists of the resolver.
    pub acl: Option<Sourced<Vec<resolver::Acl>>>,
    /// The word for the resolver's service.
    pub service: Option<Sourced<String>>,
}
