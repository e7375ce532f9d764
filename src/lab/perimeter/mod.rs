//! The perimeter as plain data: interfaces, rules, routes and forwards of the OPNsense, and its resolver
//! (domain.md §2, facts/opnsense.md).

pub(super) mod build;

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use ipnet::Ipv4Net;

use super::names::Zone;
use super::state::ApiHealth;

/// Which release the perimeter speaks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Release {
    /// 25.7.11.
    V25_7,
    /// 26.7.2.
    #[default]
    V26_7,
}

/// An interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// OPNsense's id, e.g. `opt10`.
    pub id: String,
    /// Device, e.g. `re0_vlan50`.
    pub device: String,
    /// Description, in capitals.
    pub description: String,
    /// VLAN tag.
    pub vlan: Option<u16>,
    /// Address with prefix length; `None` on a segment without one.
    pub address: Option<(Ipv4Addr, u8)>,
}

/// A rule that was made through the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// UUID, also its label in pf.
    pub uuid: String,
    /// Whether it is compiled.
    pub enabled: bool,
    /// Place among its group.
    pub sequence: u32,
    /// `pass`, `block` or `reject`.
    pub action: String,
    /// Comma list of interface ids; empty = all.
    pub interface: String,
    /// `any`, `TCP`, `UDP`, `TCP/UDP`, `ICMP`.
    pub protocol: String,
    /// Source.
    pub source: String,
    /// Destination.
    pub destination: String,
    /// Whether the destination is negated.
    pub destination_not: bool,
    /// Destination port; empty = any.
    pub port: String,
    /// Description, not unique.
    pub description: String,
}

impl Rule {
    /// Whether it stands before the rules of single interfaces.
    #[must_use]
    pub fn floating(&self) -> bool {
        self.interface.is_empty() || self.interface.contains(',')
    }
}

/// An alias.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alias {
    /// UUID; of built-in ones the name.
    pub uuid: String,
    /// Name.
    pub name: String,
    /// `network`, `port`, `external`, `internal`, …
    pub kind: String,
    /// Entries.
    pub content: Vec<String>,
    /// Description.
    pub description: String,
}

/// A gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gateway {
    /// UUID.
    pub uuid: String,
    /// Name.
    pub name: String,
    /// Interface id.
    pub interface: String,
    /// Address.
    pub address: Ipv4Addr,
    /// Whether it is the way out.
    pub default: bool,
    /// Whether it is watched.
    pub monitored: bool,
    /// Whether it answers, where it is watched; marked down by hand where it is not.
    pub down: bool,
}

/// A static route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// UUID.
    pub uuid: String,
    /// Network.
    pub network: String,
    /// Gateway's name.
    pub gateway: String,
    /// Description.
    pub description: String,
    /// Whether it is set.
    pub enabled: bool,
}

/// What a row of the resolver's forwards does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForwardKind {
    /// Plain DNS, with the domain exempt from the rebinding filter and from validation.
    Forward,
    /// DNS over TLS, without those exemptions.
    Dot,
}

/// A forward.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forward {
    /// UUID.
    pub uuid: String,
    /// Whether it is in the configuration of the resolver.
    pub enabled: bool,
    /// Kind.
    pub kind: ForwardKind,
    /// Domain without trailing dot.
    pub domain: String,
    /// Server.
    pub server: String,
    /// Its port; empty = the usual one.
    pub port: String,
    /// Description.
    pub description: String,
}

/// A source NAT rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nat {
    /// UUID.
    pub uuid: String,
    /// Interface id.
    pub interface: String,
    /// Source.
    pub source: String,
    /// Description.
    pub description: String,
}

/// The running resolver, where it is not what the forwards make of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Resolver {
    /// Whether it answers.
    pub up: bool,
    /// Names of the site itself, served as local data.
    pub local: Zone,
    /// What the public Internet says, by zone.
    pub public: BTreeMap<String, Zone>,
    /// Forwarded domains that are not exempt from the rebinding filter.
    pub filtered: BTreeSet<String>,
    /// Forwarded reverse zones that the built-in zone hides.
    pub shadowed: BTreeSet<String>,
    /// Forwarded domains whose validation fails.
    pub bogus: BTreeSet<String>,
    /// Name → zone and its serial: a kept NXDOMAIN, as old as the youngest fault.
    pub negative: BTreeMap<String, (String, u32)>,
    /// Networks that may ask, where whoever is in none of them is refused; `None` = everybody may.
    pub allowed: Option<Vec<Ipv4Net>>,
}

/// What goes wrong when something is changed at the perimeter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PerimeterWriting {
    /// Reconfiguring the resolver fails.
    pub apply_fails: bool,
    /// Reconfiguring the resolver says ok, and it runs on with what it had.
    pub apply_idle: bool,
}

/// The perimeter.
#[derive(Clone, Default)]
pub struct Perimeter {
    /// Release.
    pub release: Release,
    /// Interfaces, physical ones first.
    pub interfaces: Vec<Interface>,
    /// Rules made through the API, in order.
    pub rules: Vec<Rule>,
    /// Rules that no packet has matched.
    pub idle: BTreeSet<String>,
    /// A host that shares its segment with the next hop of a route, and a host behind that one.
    pub shared_segment: Option<(Ipv4Addr, Ipv4Addr)>,
    /// Rules that pf does not have, since it refused the set they came with and kept the one before.
    pub unloaded: BTreeSet<String>,
    /// Aliases.
    pub aliases: Vec<Alias>,
    /// Gateways.
    pub gateways: Vec<Gateway>,
    /// Static routes.
    pub routes: Vec<Route>,
    /// Forwards, as configured.
    pub forwards: Vec<Forward>,
    /// Forwards that the resolver runs with; `None` = the configured ones.
    pub loaded: Option<Vec<Forward>>,
    /// What goes wrong when something is changed.
    pub writing: PerimeterWriting,
    /// Source NAT.
    pub nat: Vec<Nat>,
    /// The resolver.
    pub resolver: Resolver,
    /// API key and secret.
    pub credential: (String, String),
    /// Behaviour of the API; `tokens_known` = the key is accepted.
    pub api: ApiHealth,
    /// The key has no privileges.
    pub denied: bool,
    /// Path below `/api/` up to where it is meant → status that is answered there instead: 302, 403 or 500.
    pub faulty: BTreeMap<String, u16>,
}

impl std::fmt::Debug for Perimeter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Perimeter")
            .field("release", &self.release)
            .field("interfaces", &self.interfaces)
            .field("rules", &self.rules)
            .field("unloaded", &self.unloaded)
            .field("aliases", &self.aliases)
            .field("gateways", &self.gateways)
            .field("routes", &self.routes)
            .field("forwards", &self.forwards)
            .field("nat", &self.nat)
            .field("resolver", &self.resolver)
            .field("api", &self.api)
            .field("denied", &self.denied)
            .finish_non_exhaustive()
    }
}

impl Resolver {
    /// Whether whoever asks from `source` is refused.
    #[must_use]
    pub fn refuses(&self, source: Ipv4Addr) -> bool {
        self.allowed.as_ref().is_some_and(|nets| !nets.iter().any(|net| net.contains(&source)))
    }
}

impl Perimeter {
    /// The interface of that id.
    #[must_use]
    pub fn interface(&self, id: &str) -> Option<&Interface> {
        self.interfaces.iter().find(|interface| interface.id == id)
    }

    /// The rules that pf has loaded.
    pub fn loaded(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(|rule| rule.enabled && !self.unloaded.contains(&rule.uuid))
    }

    /// Whether a rule in force lets the transit network out to the internet.
    #[must_use]
    pub fn lets_out(&self) -> bool {
        self.loaded().any(|rule| rule.description.ends_with("tenant_transit -> internet"))
    }

    /// The gateway of that name.
    #[must_use]
    pub fn gateway(&self, name: &str) -> Option<&Gateway> {
        self.gateways.iter().find(|gateway| gateway.name == name)
    }

    /// The forward of a domain (without trailing dot), to be changed.
    pub fn forward_mut(&mut self, domain: &str) -> Option<&mut Forward> {
        self.forwards.iter_mut().find(|forward| forward.domain == domain)
    }

    /// The forwards that the resolver runs with.
    #[must_use]
    pub fn running(&self) -> &[Forward] {
        self.loaded.as_deref().unwrap_or(&self.forwards)
    }

    /// Forwards as configured, and as the resolver runs with them, to be changed alike.
    pub fn forward_lists(&mut self) -> impl Iterator<Item = &mut Vec<Forward>> {
        std::iter::once(&mut self.forwards).chain(self.loaded.as_mut())
    }
}
