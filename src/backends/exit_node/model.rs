//! One reading of an exit node, typed. Facts: `facts/exit-node.md` (the section behind §).
//!
//! Every part is a [`Readout`]: a value, or why it could not be read. Nothing is defaulted, so that "no rule" and
//! "no right to see rules" can never look alike.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use ipnet::Ipv4Net;
use jiff::Timestamp;

/// A part of a reading.
#[derive(Debug, Clone, PartialEq)]
pub enum Readout<T> {
    /// It was read.
    Value(T),
    /// It was not, and why.
    Unread(Unread),
}

impl<T> Readout<T> {
    /// The value, if it was read.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Value(v) => Some(v),
            Self::Unread(_) => None,
        }
    }

    /// Why it was not read.
    pub fn unread(&self) -> Option<&Unread> {
        match self {
            Self::Value(_) => None,
            Self::Unread(u) => Some(u),
        }
    }
}

/// Why a part could not be read, and what would help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// The command or file, as a person would type it.
    pub what: String,
    /// The reason in the operator's words, one line, cleaned.
    pub why: String,
    /// The kind.
    pub kind: UnreadKind,
}

/// How the reason begins where a right is missing.
pub const NEEDS_ROOT: &str = "needs root on the node";

/// Kinds of [`Unread`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnreadKind {
    /// A right is missing (no root, no sudo line, no group).
    Denied,
    /// The program or file is not there.
    Missing,
    /// It ran and failed.
    Failed,
    /// It took longer than its deadline.
    TimedOut,
    /// What it printed was not understood.
    Unparsable,
}

/// A link (`ip -j -d link`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Link {
    /// Interface index.
    pub ifindex: u32,
    /// Interface name.
    pub name: String,
    /// `UP`, `DOWN`, `LOWERLAYERDOWN`, `UNKNOWN`.
    pub operstate: String,
    /// Flags, e.g. `NO-CARRIER`.
    pub flags: Vec<String>,
    /// Bytes.
    pub mtu: u32,
    /// Master device.
    pub master: Option<String>,
    /// Kind: `vrf`, `vxlan`, `bridge`, `vlan`, `veth`, …
    pub kind: Option<String>,
    /// Routing table of a VRF.
    pub vrf_table: Option<u32>,
    /// VNI of a vxlan.
    pub vxlan_id: Option<u32>,
    /// Local VTEP address of a vxlan.
    pub vxlan_local: Option<IpAddr>,
    /// MAC.
    pub mac: Option<String>,
    /// Traffic counters since boot.
    pub stats: Option<LinkStats>,
}

/// `ip -s link` counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Bytes received.
    pub rx_bytes: u64,
    /// Packets received.
    pub rx_packets: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Packets sent.
    pub tx_packets: u64,
    /// Dropped, both directions.
    pub dropped: u64,
}

/// An address (`ip -j addr`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Interface name.
    pub dev: String,
    /// Address.
    pub ip: IpAddr,
    /// Prefix length.
    pub prefix_len: u8,
}

/// A policy rule (`ip -j rule`). Priority 1000 is `l3mdev` (§1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Priority.
    pub priority: u32,
    /// `all` or a prefix.
    pub src: String,
    /// Table name or number; `None` for l3mdev.
    pub table: Option<String>,
    /// Whether it is the l3mdev rule.
    pub l3mdev: bool,
}

/// Kinds of route. `ip -j` omits the type of unicast (§7).
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RouteKind {
    /// Delivers.
    Unicast,
    /// Drops silently; `route get` says "Invalid argument".
    Blackhole,
    /// Refuses.
    Unreachable,
    /// Any other word.
    Other(String),
}

/// A route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Destination; `0.0.0.0/0` for `default`.
    pub dst: Ipv4Net,
    /// Kind.
    pub kind: RouteKind,
    /// Next hop (the first of several).
    pub gateway: Option<Ipv4Addr>,
    /// Output device (of the first next hop).
    pub dev: Option<String>,
    /// `static`, `bgp`, `kernel`, …
    pub protocol: Option<String>,
    /// Metric; the VRF fallback has 4278198272 (§7).
    pub metric: Option<u64>,
    /// `onlink`, `linkdown`, `dead`.
    pub flags: Vec<String>,
    /// Number of next hops (1 unless multipath).
    pub nexthops: u8,
}

/// A neighbour entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbour {
    /// Address.
    pub ip: IpAddr,
    /// Device.
    pub dev: String,
    /// MAC.
    pub mac: Option<String>,
    /// `REACHABLE`, `STALE`, `FAILED`, `INCOMPLETE`, …
    pub states: Vec<String>,
}

/// State of FRR.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frr {
    /// `systemctl is-active frr`; `unknown` when systemd could not be asked and vtysh could.
    pub unit: String,
    /// e.g. `10.4.1`, when vtysh answers.
    pub version: Option<String>,
    /// Whether vtysh could talk to the daemons; `None` when it may not be asked.
    pub daemons_answer: Option<bool>,
    /// Why it may not, when `daemons_answer` is `None`.
    pub vtysh_unread: Option<Unread>,
}

/// The `vrf` blocks of an FRR configuration: VRF → its lines, trimmed.
pub type FrrVrfs = BTreeMap<String, Vec<String>>;

/// An FRR configuration text that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrrConfig {
    /// Verbatim, but for passwords and keys, which are masked.
    pub text: String,
    /// Parsed `vrf X … exit-vrf` blocks.
    pub vrfs: FrrVrfs,
}

/// Which engine holds an iptables rule (§7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NatEngine {
    /// iptables-nft.
    Nft,
    /// iptables-legacy.
    Legacy,
}

/// A source-NAT rule in POSTROUTING.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnatRule {
    /// Engine.
    pub engine: NatEngine,
    /// Source prefix (`-s`); `None` = any.
    pub source: Option<Ipv4Net>,
    /// Output interface (`-o`).
    pub out_interface: Option<String>,
    /// `--to-source`; `None` for MASQUERADE.
    pub to_source: Option<Ipv4Addr>,
    /// First packets of connections (§4), not packets.
    pub new_connections: u64,
    /// Bytes of those first packets.
    pub bytes: u64,
    /// The rule without its counters: the key by which it is followed (§4).
    pub text: String,
}

impl SnatRule {
    /// Whether anything but source and output interface decides if it matches (`! -s`, `-d`, `-p`, `-m …` other than a
    /// comment): then it does not speak for all traffic of [`SnatRule::source`].
    #[must_use]
    pub fn is_narrowed(&self) -> bool {
        let Some(words) = super::parse::nat::split_words(&self.text) else { return true };
        let mut words = words.iter().skip(2);
        while let Some(word) = words.next() {
            match word.as_str() {
                "-j" | "-g" => return false,
                "-s" | "-o" | "--comment" => drop(words.next()),
                "-m" if words.next().is_some_and(|module| module == "comment") => {}
                _ => return true,
            }
        }
        false
    }
}

/// The NAT table(s) and the forward chain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Nat {
    /// SNAT and MASQUERADE rules in order, nft first.
    pub snat: Vec<SnatRule>,
    /// Policy of filter/FORWARD (`ACCEPT`, `DROP`), when the filter table was listed.
    pub forward_policy: Option<String>,
    /// Rules of filter/FORWARD, verbatim without counters.
    pub forward_rules: Vec<String>,
    /// Whether the legacy engine holds any rule at all.
    pub legacy_in_use: bool,
    /// Whether the legacy engine could be asked.
    pub legacy_read: bool,
    /// Why not, when it could not.
    pub legacy_unread: Option<Unread>,
}

/// Connection tracking totals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Conntrack {
    /// Entries now.
    pub count: u64,
    /// Limit.
    pub max: u64,
    /// Whether entries carry byte counters.
    pub acct: bool,
    /// Dropped for a full table, summed over CPUs; `None` when it could not be read.
    pub drop: Option<u64>,
    /// Dropped early to make room.
    pub early_drop: Option<u64>,
}

/// Answers of `ip route get` that decide most faults (§2); they need no root and send no packet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lookups {
    /// By name of the question (see `helper.rs`) → answer.
    pub by_name: BTreeMap<String, Lookup>,
}

/// One `ip route get`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// It resolved.
    Route {
        /// Output device.
        dev: String,
        /// Next hop.
        gateway: Option<Ipv4Addr>,
        /// Source the kernel would pick.
        prefsrc: Option<Ipv4Addr>,
        /// Table, when it is not main (§7).
        table: Option<String>,
    },
    /// It failed, with the kernel's words ("No route to host", "Invalid argument", …).
    Error(String),
}

/// One reading of one exit node: everything for all tenants, one round trip.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Name of the exit node in the site file.
    pub node: String,
    /// When the node took it, by its own clock.
    pub at: Timestamp,
    /// Version of the helper that produced it.
    pub helper: u32,
    /// Effective user there.
    pub user: String,
    /// Whether privileged parts could be read (root or sudo).
    pub privileged: bool,
    /// Kernel release.
    pub kernel: Readout<String>,
    /// Host name as the node calls itself.
    pub hostname: Readout<String>,
    /// Links with counters.
    pub links: Readout<Vec<Link>>,
    /// Addresses.
    pub addresses: Readout<Vec<Address>>,
    /// Policy rules.
    pub rules: Readout<Vec<Rule>>,
    /// Main table.
    pub main_routes: Readout<Vec<Route>>,
    /// VRF device → its routes. A VRF is listed only when its link exists.
    pub vrf_routes: BTreeMap<String, Readout<Vec<Route>>>,
    /// Neighbours.
    pub neighbours: Readout<Vec<Neighbour>>,
    /// Interface → `forwarding`.
    pub forwarding: Readout<BTreeMap<String, bool>>,
    /// Interface → `rp_filter` (effective = max(all, interface) (§3)).
    pub rp_filter: Readout<BTreeMap<String, u8>>,
    /// FRR.
    pub frr: Readout<Frr>,
    /// `/etc/frr/frr.conf`, as generated.
    pub frr_conf: Readout<FrrConfig>,
    /// `/etc/frr/frr.conf.local`.
    pub frr_local: Readout<FrrConfig>,
    /// NAT and forward chain.
    pub nat: Readout<Nat>,
    /// Connection tracking.
    pub conntrack: Readout<Conntrack>,
    /// Kernel counters (`nstat -a`): name → value since boot.
    pub counters: Readout<BTreeMap<String, u64>>,
    /// Lookups.
    pub lookups: Readout<Lookups>,
    /// Version in the header of `/etc/network/interfaces.d/sdn`.
    pub sdn_version: Readout<u64>,
    /// Flows tracked from the prefixes that were asked for.
    pub flows: BTreeMap<Ipv4Net, Readout<Tracked>>,
}

/// Flows tracked from a prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tracked {
    /// How many there are.
    pub total: u64,
    /// Of which no answer came to the node.
    pub unreplied: u64,
    /// Some of them.
    pub listed: Vec<TrackedFlow>,
}

/// A tracked flow (`facts/exit-node.md` §4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackedFlow {
    /// `tcp`, `udp`, `icmp`, …
    pub protocol: String,
    /// State, where the protocol has one: `ESTABLISHED`.
    pub state: Option<String>,
    /// Source as sent.
    pub src: Ipv4Addr,
    /// Its port.
    pub sport: Option<u16>,
    /// Destination as sent.
    pub dst: Ipv4Addr,
    /// Its port.
    pub dport: Option<u16>,
    /// Where an answer is expected: the source after translation.
    pub reply_dst: Ipv4Addr,
    /// No answer came to the node.
    pub unreplied: bool,
}

impl Reading {
    /// Names and reasons of every part that was not read.
    #[must_use]
    pub fn unread(&self) -> Vec<&Unread> {
        let mut out: Vec<&Unread> = [
            self.kernel.unread(),
            self.hostname.unread(),
            self.links.unread(),
            self.addresses.unread(),
            self.rules.unread(),
            self.main_routes.unread(),
            self.neighbours.unread(),
            self.forwarding.unread(),
            self.rp_filter.unread(),
            self.frr.unread(),
            self.frr_conf.unread(),
            self.frr_local.unread(),
            self.nat.unread(),
            self.conntrack.unread(),
            self.counters.unread(),
            self.lookups.unread(),
            self.sdn_version.unread(),
        ]
        .into_iter()
        .flatten()
        .collect();
        out.extend(self.vrf_routes.values().filter_map(Readout::unread));
        out.extend(self.frr.value().and_then(|frr| frr.vtysh_unread.as_ref()));
        out.extend(self.nat.value().and_then(|nat| nat.legacy_unread.as_ref()));
        out
    }
}
