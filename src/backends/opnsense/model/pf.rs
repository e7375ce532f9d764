//! Rules, translation and states: what pf is told and what it does.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::NotRead;

/// Who made a rule (§4).
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
    /// Networks, addresses, alias names, `opt3` (its network), `opt3ip` (its address), `(self)`; empty = any (§4).
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
/// set (§4).
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
    /// The uuid of a managed rule, the 32 hexadecimal digits of another: pf's label in both cases (§4).
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
    /// 1–999999 within its group; duplicates happen (§4). Managed rules only.
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
    /// Counters may be up to 300 s old; a rule missing from them is then unknown, not unloaded (§4).
    pub counters_cached: bool,
    /// Labels in pf that belong to no rule here: a rule was deleted and not yet unloaded, or legacy and automatic rules
    /// were not read, or not all of them. Empty where counters were not read.
    pub loaded_unknown: BTreeSet<String>,
    /// Parts that failed.
    pub not_read: Vec<NotRead>,
}

/// How outbound NAT rules come about (§6).
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
    /// Place; always 1 up to 25.7 (§4).
    pub sequence: Option<u32>,
}

/// Source NAT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceNat {
    /// Mode; told from 26.1.11 on.
    pub mode: Option<NatMode>,
    /// Rules, in order.
    pub rules: Vec<NatRule>,
    /// Whether manual rules take effect in this mode: always before 26.1.11, then in hybrid and advanced only (§6).
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

/// `GET diagnostics/firewall/pf_statistics/rules`: what is really loaded, on any version (§6).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PfRules {
    /// Filter rules, in order.
    pub filter: Vec<PfRule>,
    /// Translation rules, in order.
    pub nat: Vec<PfRule>,
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
    /// On an outbound state of NAT: the address *inside* (§10).
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
    /// Those with the address as source, destination or inside address. A flow through NAT is two (§10).
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

/// A packet that pf logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    /// `pass`, `block`, …
    pub action: String,
    /// Label of the rule that decided.
    pub label: String,
    /// From; `None` where the row has no address.
    pub source: Option<IpAddr>,
    /// To.
    pub destination: Option<IpAddr>,
}
