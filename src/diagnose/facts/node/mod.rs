//! Hosts as commands on them show them: nodes above all, but also guests and name servers where something ran there.

mod frr;
mod ip;
mod kernel;
mod nat;
mod packets;
mod probes;
mod reading;
mod text;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use ipnet::Ipv4Net;

use super::line::Line;
use super::{Facts, Reader, Sourced, Taken};
use crate::backends::exit_node::model::{Address, FrrVrfs, Lookup, NatEngine, Route, RouteKind, SnatRule};
use crate::diagnose::evidence::Item;

pub use frr::{Config, EvpnVni, Listed, Vnis};
pub use packets::{Capture, Flow, Packet};
pub(super) use probes::counts;
pub use probes::{Ping, Trace};

/// Readers of this area.
pub(super) const READERS: &[Reader] = &[command, frr::material];

/// Name of the main table among [`Node::tables`].
pub const MAIN: &str = "main";

/// A link.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Link {
    /// Name.
    pub name: String,
    /// `UP`, `DOWN`, `LOWERLAYERDOWN`, `UNKNOWN`; `None` where the list does not show it.
    pub state: Option<String>,
    /// Bytes; `None` where the list does not show it.
    pub mtu: Option<u32>,
    /// Master device; `None` also where the list does not show it.
    pub master: Option<String>,
    /// Flags, e.g. `NO-CARRIER`.
    pub flags: Vec<String>,
}

/// One `ip route get` and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Destination.
    pub dst: Ipv4Addr,
    /// Source, where one was given.
    pub from: Option<Ipv4Addr>,
    /// Input interface, where one was given.
    pub iif: Option<String>,
    /// VRF, where one was given.
    pub vrf: Option<String>,
    /// Answer.
    pub answer: Lookup,
}

/// A rule of raw/PREROUTING that puts packets into a conntrack zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CtZone {
    /// Input interface; `+` at its end stands for anything.
    pub interface: String,
    /// Packets that matched; `None` where counters were not listed.
    pub packets: Option<u64>,
}

/// The forward chain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forward {
    /// Policy; `None` = the table does not exist, so nothing is dropped by it.
    pub policy: Option<String>,
    /// Rules, verbatim.
    pub rules: Vec<String>,
}

/// Connection tracking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Conntrack {
    /// Entries.
    pub count: u64,
    /// Limit.
    pub max: u64,
}

/// Why something of a node was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Command or file.
    pub what: String,
    /// Why.
    pub why: String,
}

/// One host.
#[derive(Debug, Default)]
pub struct Node {
    /// Links.
    pub links: Option<Sourced<Vec<Link>>>,
    /// Whether `links` is every link there is: a list of addresses may leave out those without one.
    pub links_whole: bool,
    /// Addresses.
    pub addresses: Option<Sourced<Vec<Address>>>,
    /// Routes by table: [`MAIN`] or the VRF's device.
    pub tables: BTreeMap<String, Sourced<Vec<Route>>>,
    /// Answers of `ip route get`.
    pub lookups: Vec<Sourced<Asked>>,
    /// Neighbours by device and address: the states of each listing, in order.
    pub neighbours: BTreeMap<(String, IpAddr), Vec<Sourced<Vec<String>>>>,
    /// `rp_filter` by interface, as set.
    pub rp_filter: Option<Sourced<BTreeMap<String, u8>>>,
    /// `forwarding` by interface.
    pub forwarding: Option<Sourced<BTreeMap<String, bool>>>,
    /// Counters by name, one sample a reading, in order.
    pub counters: Vec<Sourced<BTreeMap<String, u64>>>,
    /// Packets dropped since the connection table was full, one sample a reading, in order.
    pub conntrack_drops: Vec<Sourced<u64>>,
    /// Connection tracking.
    pub conntrack: Option<Sourced<Conntrack>>,
    /// Source translation by engine.
    pub snat: BTreeMap<NatEngine, Sourced<Vec<SnatRule>>>,
    /// The other engine holds rules that were not listed.
    pub legacy_hidden: bool,
    /// Rules that choose a conntrack zone.
    pub ct_zones: Option<Sourced<Vec<CtZone>>>,
    /// The forward chain, by engine.
    pub forward: BTreeMap<NatEngine, Sourced<Forward>>,
    /// State of FRR's unit: `active`, `failed`, …
    pub frr_unit: Option<Sourced<String>>,
    /// Whether FRR's daemons answer.
    pub frr_answers: Option<Sourced<bool>>,
    /// FRR configurations by where they stand: `running`, or the file's name.
    pub frr_configs: BTreeMap<String, Sourced<Config>>,
    /// Files of `/etc/frr` with their dates.
    pub frr_files: Option<Sourced<Vec<Listed>>>,
    /// VNIs as zebra sees them.
    pub evpn_vnis: Option<Sourced<Vec<EvpnVni>>>,
    /// Counts of VNIs as bgpd sees them.
    pub bgp_vnis: Option<Sourced<Vnis>>,
    /// Packets seen, one capture a command.
    pub captures: Vec<Sourced<Capture>>,
    /// Tracked flows, of all listings.
    pub flows: Vec<Sourced<Flow>>,
    /// Probes by echo or SYN.
    pub pings: Vec<Sourced<Ping>>,
    /// Address probes on a link: device, address, answered.
    pub arpings: Vec<Sourced<(String, IpAddr, bool)>>,
    /// Paths.
    pub traces: Vec<Sourced<Trace>>,
    /// Servers that gave no answer to a DNS question sent from here.
    pub silent_servers: Vec<Sourced<IpAddr>>,
    /// What failed.
    pub unread: Vec<Sourced<Unread>>,
    /// The node itself could not be reached, and why.
    pub unreachable: Option<Sourced<String>>,
}

impl Node {
    /// Value of `interface` that is in force: the larger of `all` and its own (`facts/exit-node.md` §3).
    #[must_use]
    pub fn rp_filter_of(&self, interface: &str) -> Option<u8> {
        let set = self.rp_filter.as_ref()?;
        let own = set.get(interface)?;
        Some(set.get("all").map_or(*own, |all| *all.max(own)))
    }

    /// A link.
    #[must_use]
    pub fn link(&self, name: &str) -> Option<&Link> {
        self.links.as_ref()?.iter().find(|link| link.name == name)
    }

    /// All SNAT rules that were listed; `None` where none could be.
    pub fn snat_rules(&self) -> Option<impl Iterator<Item = &SnatRule>> {
        (!self.snat.is_empty()).then(|| self.snat.values().flat_map(|rules| rules.iter()))
    }

    /// Whether `ip` is one of the node's own; `None` where its addresses were not read.
    #[must_use]
    pub fn owns(&self, ip: Ipv4Addr) -> Option<bool> {
        Some(self.addresses.as_ref()?.iter().any(|address| address.ip == IpAddr::V4(ip)))
    }

    /// The default of `table` that delivers; `None` where the table was not read.
    #[must_use]
    pub fn default_of(&self, table: &str) -> Option<Option<&Route>> {
        let routes = self.tables.get(table)?;
        Some(routes.iter().find(|r| r.dst.prefix_len() == 0 && r.kind == RouteKind::Unicast))
    }

    /// The default of `table` that refuses or drops.
    #[must_use]
    pub fn guard_of(&self, table: &str) -> Option<&Route> {
        self.tables.get(table)?.iter().find(|r| r.dst.prefix_len() == 0 && r.kind != RouteKind::Unicast)
    }

    /// Whether FRR runs: `Some(false)` where the unit is down or its daemons do not answer.
    #[must_use]
    pub fn frr_runs(&self) -> Option<bool> {
        let unit = self.frr_unit.as_ref().map(|unit| unit.value.as_str());
        match (unit, self.frr_answers.as_ref().map(|a| a.value)) {
            (_, Some(false)) => Some(false),
            (Some("active"), _) | (Some("unknown") | None, Some(true)) => Some(true),
            (Some("unknown") | None, None) => None,
            (Some(_), _) => Some(false),
        }
    }

    /// How far counter `name` rose from the first sample to the last; `None` with fewer than two, or after a reset.
    #[must_use]
    pub fn rise(&self, name: &str) -> Option<u64> {
        let values: Vec<u64> = self.counters.iter().filter_map(|sample| sample.get(name).copied()).collect();
        match values.as_slice() {
            [first, .., last] => last.checked_sub(*first),
            _ => None,
        }
    }

    /// How many packets were dropped for a full connection table between the first and the last look.
    #[must_use]
    pub fn tracking_dropped(&self) -> Option<u64> {
        match self.conntrack_drops.as_slice() {
            [first, .., last] => last.value.checked_sub(first.value),
            _ => None,
        }
    }

    /// Whether the connection table is full; `None` where nothing says so.
    #[must_use]
    pub fn tracking_full(&self) -> Option<bool> {
        let full = self.conntrack.as_ref().map(|table| table.count >= table.max);
        let drops = self.tracking_dropped().map(|dropped| dropped > 0);
        full.into_iter().chain(drops).reduce(|a, b| a || b)
    }

    /// Why `what` could not be read, where the evidence says so.
    #[must_use]
    pub fn why_unread(&self, what: &str) -> Option<String> {
        let one = |u: &&Sourced<Unread>| u.what.contains(what);
        self.unread.iter().find(one).map(|u| format!("{}: {}", u.what, u.why))
    }

    /// Why packets that were to be sent were not; `None` where all that was wanted was sent, or none was.
    #[must_use]
    pub fn why_not_sent(&self) -> Option<String> {
        // The program decides: address probes on a link (`arping`) are something else, and they are optional.
        let sends = |line: &Line| match line.program.as_str() {
            "ping" | "hping3" => true,
            "deevnet-exit-node" => line.args.iter().map(String::as_str).take(2).eq(["probe", "path"]),
            _ => false,
        };
        let one = |u: &&Sourced<Unread>| Line::parse(&u.what).is_some_and(|line| sends(&line));
        self.unread.iter().find(one).map(|u| format!("{}: {}", u.what, u.why))
    }

    fn set_config(&mut self, name: &str, text: &str, vrfs: FrrVrfs, item: &Item) {
        let config = Config { text: text.to_owned(), vrfs };
        self.frr_configs.insert(name.to_owned(), Sourced::new(config, item));
    }
}

/// All hosts, by the name under which evidence knows them.
#[derive(Debug, Default)]
pub struct Nodes {
    by_name: BTreeMap<String, Node>,
}

impl Nodes {
    /// A host.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.by_name.get(name)
    }

    /// All hosts.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Node)> {
        self.by_name.iter().map(|(name, node)| (name.as_str(), node))
    }

    fn entry(&mut self, item: &Item) -> &mut Node {
        self.by_name.entry(item.from.clone()).or_default()
    }
}

/// What a command's reader takes: the item, its line, its exit status, the node.
type CommandReader = fn(&Item, &Line, Option<i32>, &mut Node) -> Taken;

/// Readers of commands, by program.
const COMMANDS: &[(&str, CommandReader)] = &[
    ("ip", ip::ip),
    ("sysctl", kernel::sysctl),
    ("grep", kernel::proc_files),
    ("nstat", kernel::nstat),
    ("conntrack", packets::conntrack),
    ("tcpdump", packets::tcpdump),
    ("iptables", nat::iptables),
    ("iptables-nft", nat::iptables),
    ("iptables-legacy", nat::iptables),
    ("iptables-save", nat::save),
    ("iptables-nft-save", nat::save),
    ("iptables-legacy-save", nat::save),
    ("systemctl", frr::systemctl),
    ("vtysh", frr::vtysh),
    ("cat", frr::cat),
    ("ls", frr::ls),
    ("ping", probes::ping),
    ("hping3", probes::hping),
    ("arping", probes::arping),
    ("traceroute", probes::traceroute),
    ("dig", probes::dig),
    ("deevnet-exit-node", reading::helper),
];

fn command(item: &Item, facts: &mut Facts) -> Taken {
    let Some((line, exit)) = item.command() else { return Taken::NotMine };
    let Some(line) = Line::parse(line) else { return Taken::NotMine };
    let Some((_, reader)) = COMMANDS.iter().find(|(program, _)| *program == line.program) else {
        return Taken::NotMine;
    };
    reader(item, &line, exit, facts.nodes.entry(item))
}

/// A command that failed: what it would have shown is unknown, and this is why.
fn failed(item: &Item, exit: Option<i32>, node: &mut Node) -> Taken {
    let said = item.stderr.lines().next().unwrap_or_default().trim();
    let why = match (said.is_empty(), exit) {
        (false, _) => said.to_owned(),
        (true, Some(code)) => format!("exit status {code}"),
        (true, None) => "it did not end".to_owned(),
    };
    let what = item.command().map(|(line, _)| line.to_owned()).unwrap_or_default();
    let clean = |text: &str| crate::text::clean(text).into_owned();
    node.unread.push(Sourced::new(Unread { what: clean(&what), why: clean(&why) }, item));
    Taken::Read
}

/// `default`, a prefix or an address.
fn prefix(text: &str) -> Option<Ipv4Net> {
    match text {
        "default" => Some(Ipv4Net::default()),
        net if net.contains('/') => net.parse().ok(),
        host => host.parse::<Ipv4Addr>().ok().map(Ipv4Net::from),
    }
}

/// JSON of a successful command.
fn json(item: &Item) -> Result<serde_json::Value, Taken> {
    super::json(item)
}
