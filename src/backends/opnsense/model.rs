//! What OPNsense says, typed. Sources of each fact: `facts/opnsense.md` (the section behind §) and the endpoint named.
//!
//! Everything arrives as text (§1); by the time a value is here it is typed. A field that the answer left out is
//! `None`, never a default. Objects are known by uuid: descriptions are not unique (domain.md §9, T30).

use std::collections::BTreeMap;
use std::net::IpAddr;

use ipnet::IpNet;
use jiff::Timestamp;

use super::error::Error;

mod pf;

pub use pf::{
    Action, Direction, Family, Hits, Logged, NatMode, NatRule, PfRule, PfRules, Rule, RuleKind, RuleSet, Side,
    SourceNat, State, StateTable, States,
};

/// A part of a reading that could not be had: what depends on it is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotRead {
    /// Which part.
    pub what: &'static str,
    /// Why.
    pub why: Error,
}

/// `GET diagnostics/system/system_time`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uptime {
    /// As shown: `11 days, 05:06:29`.
    pub text: String,
    /// In seconds; `None` where the text has another form.
    pub seconds: Option<u64>,
    /// Load averages as shown.
    pub load: Option<String>,
}

/// How bad a standing message is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Severity {
    /// Nothing wrong.
    Ok,
    /// To be noticed.
    Notice,
    /// To be looked at.
    Warning,
    /// Broken.
    Error,
    /// A word not known here.
    Other(String),
}

/// A standing message of one subsystem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemMessage {
    /// How bad. Up to 24.7 it says `Ok` beside an error text (§1).
    pub severity: Severity,
    /// The message.
    pub text: Option<String>,
    /// When it arose.
    pub at: Option<Timestamp>,
}

/// `GET core/system/status`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SystemStatus {
    /// Subsystem in lower case (`firewall`, `crashreporter`) → message. From 25.1 on only subsystems with something
    /// to say are listed.
    pub messages: BTreeMap<String, SystemMessage>,
}

impl SystemStatus {
    /// Why pf refused the rule set, and when, where that message stands. The old rules stay loaded, and the message
    /// stays after a later good load until somebody dismisses it (§1).
    #[must_use]
    pub fn rules_refused(&self) -> Option<(&str, Option<Timestamp>)> {
        let firewall = self.messages.get("firewall")?;
        let text = firewall.text.as_deref()?;
        text.contains("loading the rules").then_some((text, firewall.at))
    }
}

/// One row of `GET interfaces/overview/export`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// `lan`, `wan`, `opt3`; `None` while no role is assigned to the device.
    pub id: Option<String>,
    /// `TENANT_TRANSIT`.
    pub description: Option<String>,
    /// `re0_vlan50`.
    pub device: String,
    /// Switched on in the configuration.
    pub enabled: Option<bool>,
    /// `up`, `down`, `no carrier`.
    pub link: Option<String>,
    /// Addresses with their prefix.
    pub addresses: Vec<IpNet>,
    /// VLAN tag.
    pub vlan: Option<u16>,
    /// Addresses of gateways on it.
    pub gateways: Vec<String>,
    /// Destinations the kernel sends out here, as shown.
    pub routes: Vec<String>,
}

/// An alias.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alias {
    /// Its uuid; of a built-in one its name (§7).
    pub uuid: String,
    /// Name, as rules use it.
    pub name: String,
    /// `host`, `network`, `port`, `urltable`, `external`, `internal`, …
    pub kind: String,
    /// Switched on.
    pub enabled: bool,
    /// Members as configured; empty of built-in ones, whose content is in the table only.
    pub content: Vec<String>,
    /// Whatever somebody wrote.
    pub description: String,
    /// Whether pf has its table. `None` = not known, or there is none to have ([`Alias::has_table`]). The members are
    /// [`super::Client::table`]'s to tell.
    pub loaded: Option<bool>,
}

/// All aliases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aliases {
    /// The aliases.
    pub aliases: Vec<Alias>,
    /// Parts that failed.
    pub not_read: Vec<NotRead>,
}

impl Alias {
    /// Whether pf gets a table of it: aliases of ports are written into the rules instead.
    #[must_use]
    pub fn has_table(&self) -> bool {
        self.kind != "port"
    }
}

/// A static route as configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaticRoute {
    /// Its uuid.
    pub uuid: String,
    /// Destination. Host bits are accepted by OPNsense and kept here (§8).
    pub network: IpNet,
    /// Gateway by name.
    pub gateway: String,
    /// Switched on.
    pub enabled: bool,
    /// Whatever somebody wrote.
    pub description: String,
}

/// A route in the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelRoute {
    /// `ipv4` or `ipv6`.
    pub family: String,
    /// `default`, a prefix or an address, as shown.
    pub destination: String,
    /// Address, `link#3`, …
    pub gateway: String,
    /// `UGS`, …
    pub flags: String,
    /// Device.
    pub device: String,
}

/// What monitoring says about a gateway (§8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GatewayState {
    /// Reachable, or not monitored.
    Online,
    /// Not reachable.
    Down,
    /// Taken down by the operator.
    ForcedDown,
    /// Above its limit of loss or delay, as shown.
    Impaired(String),
    /// Not known yet.
    Pending,
}

/// `GET routes/gateway/status`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayHealth {
    /// Name.
    pub name: String,
    /// Its address; `None` where none is known.
    pub address: Option<IpAddr>,
    /// What monitoring says.
    pub state: GatewayState,
    /// Round trip as shown, `0.4 ms`; `None` = not monitored.
    pub delay: Option<String>,
    /// Loss as shown, `0.0 %`; `None` = not monitored.
    pub loss: Option<String>,
}

/// A gateway as configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gateway {
    /// Its uuid; `None` of one made by OPNsense.
    pub uuid: Option<String>,
    /// Name.
    pub name: String,
    /// Interface id.
    pub interface: String,
    /// Device.
    pub device: Option<String>,
    /// Address; `None` where it is learned.
    pub address: Option<IpAddr>,
    /// Switched on.
    pub enabled: bool,
    /// May be a default gateway (the field `upstream`).
    pub may_be_default: Option<bool>,
    /// Is the default gateway now (the field `defaultgw`).
    pub is_default: Option<bool>,
    /// Watched.
    pub monitored: Option<bool>,
    /// Whatever somebody wrote.
    pub description: String,
}

/// How a forward speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForwardKind {
    /// Plain DNS. Only these, enabled, exempt their domain from rebind protection (§9).
    Forward,
    /// DNS over TLS.
    Dot,
}

/// A forward of the resolver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forward {
    /// Its uuid.
    pub uuid: String,
    /// Plain or over TLS.
    pub kind: ForwardKind,
    /// Switched on.
    pub enabled: bool,
    /// Domain in lower case without a final dot; empty = all names.
    pub domain: String,
    /// The domain was written with a final dot: Unbound takes it for another zone (§9).
    pub final_dot: bool,
    /// Server.
    pub server: String,
    /// Port; `None` = 53, of TLS 853.
    pub port: Option<u16>,
    /// Ask over TCP.
    pub tcp: Option<bool>,
    /// Ask others when the server fails. Told from 25.1 on.
    pub first: Option<bool>,
    /// Whatever somebody wrote.
    pub description: String,
}

/// `GET unbound/settings/get`, as far as it decides which answers get through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolverSettings {
    /// Switched on.
    pub enabled: bool,
    /// Port.
    pub port: Option<u16>,
    /// Answers are validated.
    pub dnssec: Option<bool>,
    /// Interface ids it listens on; empty = all.
    pub interfaces: Vec<String>,
    /// Every name goes to the system's resolvers.
    pub forwards_everything: Option<bool>,
    /// Rebind protection: answers within these are stripped, unless the name is private.
    pub private_addresses: Vec<IpNet>,
    /// Domains whose answers may be private, besides those of plain forwards (§9).
    pub private_domains: Vec<String>,
    /// Domains that are not validated, besides those of plain forwards.
    pub insecure_domains: Vec<String>,
}

/// Whether the resolver runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServiceState {
    /// It runs.
    Running,
    /// It does not, though it should.
    Stopped,
    /// It is switched off.
    Disabled,
    /// A word not known here.
    Other(String),
}

/// An access list of the resolver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessList {
    /// Switched on.
    pub enabled: bool,
    /// `allow`, `deny`, `refuse`, …
    pub action: String,
    /// Networks, as written.
    pub networks: Vec<String>,
}

/// A neighbour of the router.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArpEntry {
    /// Address.
    pub address: std::net::IpAddr,
    /// Hardware address.
    pub mac: String,
    /// Interface as described.
    pub interface: String,
    /// It is no longer good.
    pub expired: bool,
}
