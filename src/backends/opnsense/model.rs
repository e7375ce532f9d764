//! What OPNsense says, typed. Sources of each fact: `facts/opnsense.md` (section in brackets) and the endpoint named.
//!
//! Everything arrives as text [1]; by the time a value is here it is typed. A field that the answer left out is
//! `None`, never a default. Objects are known by uuid: descriptions are not unique (domain.md §9, T30).

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use ipnet::IpNet;
use jiff::Timestamp;

use super::error::Error;

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
    /// How bad. Up to 24.7 it says `Ok` beside an error text [1].
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
    /// stays after a later good load until somebody dismisses it [1].
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

/// Who made a rule [4].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleKind {
    /// In the rule model: has a uuid, can be edited through the API.
    Managed,
    /// From the old rule pages; the API shows it, no more.
    Legacy,
    /// Made by OPNsense itself: default deny, anti-lockout, bogons.
    Automatic,
}

/// What a rule does with a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Lets it through.
    Pass,
    /// Drops it.
    Block,
    /// Drops it and says so.
    Reject,
    /// Left blank, as 26.7 lists some automatic rules (access to its DHCP server); pf's own text tells.
    Unstated,
    /// A word not known here.
    Other(String),
}

/// Which way a packet goes, seen from the router.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Into the interface.
    In,
    /// Out of it.
    Out,
    /// Both.
    Any,
}

/// Address family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// IPv4.
    Inet,
    /// IPv6.
    Inet6,
    /// Both.
    Both,
}

/// One side of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// Networks, addresses, alias names, `opt3` (its network), `opt3ip` (its address), `(self)`; empty = any [4].
    pub nets: Vec<String>,
    /// Everything *but* [`Side::nets`].
    pub negated: bool,
    /// Port, range, service or alias of ports; `None` = any.
    pub port: Option<String>,
}

impl Side {
    /// Whether it matches every address.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.nets.is_empty() && !self.negated
    }
}

/// Counters of one label in pf, summed over the rules it expands to. They start anew with each load of the rule
/// set [4].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hits {
    /// Rules of pf that carry the label.
    pub pf_rules: u64,
    /// Packets compared with it.
    pub evaluations: u64,
    /// Packets matched.
    pub packets: u64,
    /// Bytes matched.
    pub bytes: u64,
    /// States alive.
    pub states: u64,
}

/// A filter rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The uuid of a managed rule, the 32 hexadecimal digits of another: pf's label in both cases [4].
    pub uuid: String,
    /// Who made it.
    pub kind: RuleKind,
    /// Switched on.
    pub enabled: bool,
    /// Pass, block, reject.
    pub action: Action,
    /// The first match decides. Otherwise the last one does.
    pub quick: bool,
    /// Interface ids; empty = all. Of a legacy or automatic rule the id where its description is unique, else that
    /// description.
    pub interfaces: Vec<String>,
    /// On every interface *but* these.
    pub interfaces_negated: bool,
    /// In, out or both.
    pub direction: Direction,
    /// Address family; `None` where the row does not say.
    pub family: Option<Family>,
    /// `any`, `TCP`, `UDP`, `TCP/UDP`, `ICMP`, …; always upper case but for `any`.
    pub protocol: String,
    /// From.
    pub source: Side,
    /// To.
    pub destination: Side,
    /// Gateway by name, for rules that route.
    pub gateway: Option<String>,
    /// Whatever somebody wrote. Not unique.
    pub description: String,
    /// 1–999999 within its group; duplicates happen [4]. Managed rules only.
    pub sequence: Option<u32>,
    /// Place in the evaluation, comparable as text: `400000.0000100`. Not told by 24.7.
    pub order: Option<String>,
    /// Matches are logged.
    pub log: bool,
    /// Page where a legacy or automatic rule comes from.
    pub origin: Option<String>,
    /// Counters; `None` = not read, or not loaded.
    pub hits: Option<Hits>,
    /// Whether pf has it; `None` = unknown.
    pub loaded: Option<bool>,
}

/// All filter rules, in the order pf looks at them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSet {
    /// The rules.
    pub rules: Vec<Rule>,
    /// Counters may be up to 300 s old; a rule missing from them is then unknown, not unloaded [4].
    pub counters_cached: bool,
    /// Labels in pf that belong to no rule here: a rule was deleted and not yet unloaded, or legacy and automatic rules
    /// were not read, or not all of them. Empty where counters were not read.
    pub loaded_unknown: BTreeSet<String>,
    /// Parts that failed.
    pub not_read: Vec<NotRead>,
}

/// How outbound NAT rules come about [6].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NatMode {
    /// OPNsense's own rules only.
    Automatic,
    /// Both, manual ones first.
    Hybrid,
    /// Manual rules only.
    Advanced,
    /// No source NAT.
    Disabled,
    /// A word not known here.
    Other(String),
}

/// A source NAT rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NatRule {
    /// Its uuid; `automatic_wan` and the like of automatic ones.
    pub uuid: String,
    /// [`RuleKind::Managed`] or [`RuleKind::Automatic`].
    pub kind: RuleKind,
    /// Switched on.
    pub enabled: bool,
    /// Exempts from NAT instead of translating.
    pub no_nat: bool,
    /// Interface id.
    pub interfaces: Vec<String>,
    /// Address family.
    pub family: Option<Family>,
    /// `any` or upper case.
    pub protocol: String,
    /// From.
    pub source: Side,
    /// To.
    pub destination: Side,
    /// `wanip`, an address, an alias; `None` = the interface's address.
    pub target: Option<String>,
    /// Port translated to.
    pub target_port: Option<String>,
    /// The source port stays. Told from 26.1 on.
    pub static_port: Option<bool>,
    /// Whatever somebody wrote.
    pub description: String,
    /// Place; always 1 up to 25.7 [4].
    pub sequence: Option<u32>,
}

/// Source NAT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceNat {
    /// Mode; told from 26.1.11 on.
    pub mode: Option<NatMode>,
    /// Rules, in order.
    pub rules: Vec<NatRule>,
    /// Whether manual rules take effect in this mode: always before 26.1.11, then in hybrid and advanced only [6].
    /// `None` = the mode is not known.
    pub manual_applies: Option<bool>,
    /// Parts that failed, e.g. manual rules that a search hides in mode automatic.
    pub not_read: Vec<NotRead>,
}

/// A rule in pf's own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PfRule {
    /// `nat on re1 inet from 10.20.128.0/18 to any -> (re1:0) port 1024:65535`.
    pub text: String,
    /// Its label.
    pub label: Option<String>,
    /// Counters.
    pub hits: Option<Hits>,
}

/// `GET diagnostics/firewall/pf_statistics/rules`: what is really loaded, on any version [6].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PfRules {
    /// Filter rules, in order.
    pub filter: Vec<PfRule>,
    /// Translation rules, in order.
    pub nat: Vec<PfRule>,
}

/// An alias.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alias {
    /// Its uuid; of a built-in one its name [7].
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
    /// Destination. Host bits are accepted by OPNsense and kept here [8].
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

/// What monitoring says about a gateway [8].
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
    /// Plain DNS. Only these, enabled, exempt their domain from rebind protection [9].
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
    /// The domain was written with a final dot: Unbound takes it for another zone [9].
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
    /// Domains whose answers may be private, besides those of plain forwards [9].
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

/// A state of pf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// `stateid/creatorid`.
    pub id: String,
    /// Label of the rule that made it.
    pub label: Option<String>,
    /// Device, or `all`.
    pub device: String,
    /// `tcp`, `udp`, …
    pub protocol: String,
    /// Seen from the router.
    pub direction: Direction,
    /// Source.
    pub source: (IpAddr, Option<u16>),
    /// Destination.
    pub destination: (IpAddr, Option<u16>),
    /// On an outbound state of NAT: the address *inside* [10].
    pub inside: Option<(IpAddr, Option<u16>)>,
    /// `ESTABLISHED:ESTABLISHED`, …
    pub state: String,
    /// `HH:MM:SS`.
    pub age: String,
    /// `HH:MM:SS`.
    pub expires: String,
    /// Packets in and out.
    pub packets: Option<[u64; 2]>,
    /// Bytes in and out.
    pub bytes: Option<[u64; 2]>,
}

/// States of one address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct States {
    /// Those with the address as source, destination or inside address. A flow through NAT is two [10].
    pub states: Vec<State>,
    /// Not all were read: the limit was reached.
    pub cut: bool,
}

/// How full the state table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateTable {
    /// States now.
    pub current: u64,
    /// States at most.
    pub limit: u64,
}
