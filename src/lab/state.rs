//! The state of the invented site: plain data that every server of the lab answers from.
//!
//! Nothing here ticks. What changes with time (uptimes, counters, CPU) is a function of the seed and of the moment
//! asked about, so that equal moments give equal answers.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::boot::Boot;
use super::names::Names;
use super::perimeter::Perimeter;
use super::registry::Registry;
use super::sdn::{Sdn, Tree};
use super::writing::{Reload, Writing};

/// A JSON object with its keys in order.
pub type Object = Map<String, Value>;

/// The whole site at one moment.
#[derive(Debug, Clone)]
pub struct World {
    /// Seed of every invented number.
    pub seed: u64,
    /// When the nodes booted, seconds since the epoch.
    pub booted: i64,
    /// When the youngest fault came, seconds since the epoch.
    pub disturbed: i64,
    /// Cluster name.
    pub cluster: String,
    /// Whether corosync has quorum.
    pub quorate: bool,
    /// Node that answers API calls.
    pub local: String,
    /// Members of the cluster.
    pub nodes: Vec<Node>,
    /// Virtual machines and templates by VMID.
    pub guests: BTreeMap<u32, Guest>,
    /// Storages known to every node.
    pub storages: Vec<Storage>,
    /// SDN configuration, configured and applied.
    pub sdn: Sdn,
    /// Tasks, newest last.
    pub tasks: Vec<Task>,
    /// Why no token is let in, in the server's words; `None` = they are looked up.
    pub tokens_refused: Option<String>,
    /// API tokens by `user@realm!name`.
    pub tokens: BTreeMap<String, Token>,
    /// How the API server itself behaves.
    pub api: ApiHealth,
    /// What goes wrong when something is changed.
    pub writing: Writing,
    /// Kernel and FRR of the exit node, as far as they deviate from what the applied SDN asks for.
    pub exit: ExitNode,
    /// PowerDNS.
    pub names: Names,
    /// OPNsense and its resolver.
    pub perimeter: Perimeter,
    /// Check-ins.
    pub boot: Boot,
    /// The registry.
    pub registry: Registry,
}

/// A hypervisor.
#[derive(Debug, Clone)]
pub struct Node {
    /// Node id.
    pub name: String,
    /// Corosync id, from 1.
    pub id: u32,
    /// Management address.
    pub ip: Ipv4Addr,
    /// Whether it is up and reachable.
    pub online: bool,
    /// Cores.
    pub cores: u32,
    /// Bytes of memory.
    pub memory: u64,
    /// Rows of `/etc/network/interfaces` as the API shows them.
    pub interfaces: Vec<Object>,
    /// Version of the SDN configuration the node has loaded; `None` = follows the applied one.
    pub sdn_version: Option<u64>,
    /// The SDN objects the node has loaded; `None` = the applied ones.
    pub loaded: Option<Arc<Tree>>,
    /// How its next reload goes.
    pub reload: Reload,
    /// VNet → what went wrong when the node realised it.
    pub vnet_errors: BTreeMap<String, String>,
}

/// A storage.
#[derive(Debug, Clone)]
pub struct Storage {
    /// Storage id.
    pub name: String,
    /// Plug-in, e.g. `dir`, `lvmthin`.
    pub plugin: String,
    /// Content types, comma list.
    pub content: String,
    /// Whether all nodes see the same data.
    pub shared: bool,
}

/// A virtual machine or template.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Guest {
    /// Node that holds it.
    pub node: String,
    /// Its configuration, in the mixture of types the API answers (`memory` a string, `cores` a number).
    pub config: Object,
    /// Settings that wait for a cold start; `null` = the key will be removed.
    pub pending: Object,
    /// Start of the running process, seconds since the epoch; `None` = stopped.
    pub started: Option<i64>,
    /// Whether it is a template.
    pub template: bool,
    /// Bytes of the boot disk.
    pub disk: u64,
    /// Whether its guest agent answers.
    pub agent_up: bool,
    /// Address inside the guest with prefix length, as its agent tells.
    pub address: Option<(Ipv4Addr, u8)>,
    /// A second address on the same card that no node has learnt.
    pub floating: Option<Ipv4Addr>,
    /// Its pool.
    pub pool: Option<String>,
    /// Its system ignores the request to shut down.
    pub deaf: bool,
    /// QEMU ends with an error when it is started.
    pub start_fails: bool,
}

impl Guest {
    /// A configuration value as text.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<String> {
        match self.config.get(key)? {
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        }
    }

    /// Part of a property string, e.g. `bridge` of `net0`.
    #[must_use]
    pub fn property(&self, key: &str, part: &str) -> Option<String> {
        let text = self.text(key)?;
        text.split(',').filter_map(|pair| pair.split_once('=')).find(|(k, _)| *k == part).map(|(_, v)| v.to_owned())
    }

    /// Whether it runs with its card connected.
    #[must_use]
    pub fn wired(&self) -> bool {
        self.started.is_some() && self.property("net0", "link_down").as_deref() != Some("1")
    }

    /// Lower-case MAC of `net0`.
    #[must_use]
    pub fn mac(&self) -> Option<String> {
        self.property("net0", "virtio").map(|mac| mac.to_lowercase())
    }
}

/// A task.
#[derive(Debug, Clone)]
pub struct Task {
    /// UPID.
    pub upid: String,
    /// Seconds since the epoch at its end; `None` = it runs.
    pub ended: Option<i64>,
    /// End status; meaningless while it runs.
    pub status: String,
    /// Lines of its log without the closing one.
    pub log: Vec<String>,
    /// Whether it has moved to the archive; `None` in lists that leave the key out.
    pub saved: bool,
}

/// What a token may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Every privilege.
    Administrator,
    /// `PVEAuditor`.
    Auditor,
    /// What the platform's own token has (domain.md §4.2), and `VM.Config.HWType` for the pointer in `smbios1`.
    Operator,
    /// The same without anything of SDN.
    NoSdn,
    /// A privilege-separated token without any ACL of its own.
    Empty,
}

/// An API token.
#[derive(Clone)]
pub struct Token {
    /// Its secret.
    pub secret: String,
    /// Its rights.
    pub role: Role,
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Token").field("role", &self.role).finish_non_exhaustive()
    }
}

/// Behaviour of an API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ApiHealth {
    /// Connections are accepted and served.
    pub up: bool,
    /// Milliseconds added to every answer.
    pub delay_ms: u64,
    /// Whether the tokens are still known.
    pub tokens_known: bool,
    /// Milliseconds before an answer 401.
    pub unauthorized_delay_ms: u64,
    /// Credentials never arrive: a proxy in between drops them.
    pub credentials_lost: bool,
    /// Its certificate is signed by another authority than the lab's.
    pub foreign_certificate: bool,
    /// Seconds its clock is ahead.
    pub ahead: i64,
}

/// The default route a tenant's VRF has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VrfDefault {
    /// As `frr.conf` says.
    #[default]
    Right,
    /// Not there.
    Missing,
    /// Via another gateway.
    Via(Ipv4Addr),
}

/// The SNAT rule a tenant's subnet has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SnatState {
    /// One, right.
    #[default]
    Right,
    /// None.
    Missing,
    /// Translates to another address.
    Source(Ipv4Addr),
    /// Twice the same.
    Duplicate,
    /// Translates to this address, which was the node's when SDN was applied.
    Stale(Ipv4Addr),
}

/// What separates a tenant from its neighbours on the exit node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Isolation {
    /// A null route for every other tenant's subnet.
    #[default]
    Right,
    /// Direct routes to the others' bridges, and back.
    Direct,
    /// The null routes are gone: the default route takes the packet out to the core and back in.
    Hairpin,
}

/// `frr.conf.local` and what became of it for one tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LocalStanza {
    /// In the file and in `frr.conf`.
    #[default]
    Merged,
    /// In the file, not yet in `frr.conf`.
    NotMerged,
    /// Another agent rewrote the file without this tenant.
    Contested,
    /// In `frr.conf`, not in the file.
    Unkept,
    /// In neither: a tenant that is new.
    Missing,
}

/// How one VRF deviates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VrfState {
    /// Default route.
    pub default: VrfDefault,
    /// SNAT rule.
    pub snat: SnatState,
    /// `forwarding` of the VNet bridge.
    pub forwarding: bool,
    /// Whether main holds the tenant's subnet.
    pub return_route: bool,
    /// Separation.
    pub isolation: Isolation,
    /// `frr.conf.local`.
    pub local: LocalStanza,
    /// Whether the file was written by somebody: what is in it stays, whether the zone is there or not.
    pub kept: bool,
    /// The VRF VNI is listed as layer 2.
    pub l3_unbound: bool,
    /// A default learnt by BGP, from this exit node.
    pub learnt_default: Option<Ipv4Addr>,
    /// Answers come back by a pair of interfaces that filters strictly.
    pub local_routing: bool,
    /// Its segments take frames of 8950 bytes, but for the firewall bridges of its guests.
    pub jumbo: bool,
}

impl Default for VrfState {
    fn default() -> Self {
        Self {
            default: VrfDefault::Right,
            snat: SnatState::Right,
            forwarding: true,
            return_route: true,
            isolation: Isolation::Right,
            local: LocalStanza::Merged,
            kept: false,
            l3_unbound: false,
            learnt_default: None,
            local_routing: false,
            jumbo: false,
        }
    }
}

/// How the exit node can be reached by command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// It answers after this many milliseconds.
    After(u64),
    /// Nothing listens.
    Refused,
    /// The host is gone.
    NoRoute,
}

/// State of the FRR unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrrUnit {
    /// Running.
    Active,
    /// Stopped in order: its routes were withdrawn.
    Inactive,
}

/// The exit node.
#[derive(Debug, Clone)]
pub struct ExitNode {
    /// Node id.
    pub node: String,
    /// Transit interface.
    pub transit_dev: String,
    /// Its address.
    pub transit_address: Ipv4Addr,
    /// The perimeter's address on transit.
    pub transit_gateway: Ipv4Addr,
    /// The perimeter's address on management.
    pub management_gateway: Ipv4Addr,
    /// VTEP address.
    pub vtep: Ipv4Addr,
    /// How it is reached.
    pub reach: Reach,
    /// Whether the login is root.
    pub root: bool,
    /// `forwarding` of the transit interface.
    pub transit_forwarding: bool,
    /// `rp_filter` of the transit interface.
    pub rp_filter: u8,
    /// It drops replies.
    pub rp_drops: bool,
    /// FRR.
    pub frr: FrrUnit,
    /// Policy DROP on filter/FORWARD.
    pub forward_drop: bool,
    /// The conntrack table is full.
    pub conntrack_full: bool,
    /// The perimeter answers ARP on transit.
    pub gateway_answers: bool,
    /// Large packets vanish beyond the transit.
    pub mtu_blackhole: bool,
    /// Main's default route points at management.
    pub main_via_management: bool,
    /// Zone → deviation; absent = none.
    pub vrfs: BTreeMap<String, VrfState>,
    /// The transit interface has no carrier.
    pub uplink_down: bool,
    /// `frr.conf.sav`: statements that were written by hand and are not running.
    pub frr_saved: Option<String>,
    /// VNets whose devices are not there.
    pub missing_vnets: BTreeSet<String>,
    /// Zone → routing table, once reloads have given them out; empty = in the order of the zones.
    pub tables: BTreeMap<String, u32>,
}

impl ExitNode {
    /// The deviation of a zone, by default none.
    #[must_use]
    pub fn vrf(&self, zone: &str) -> VrfState {
        self.vrfs.get(zone).copied().unwrap_or_default()
    }

    /// Zones whose stanza is in `frr.conf.local`, sorted: of those that are on the node, and of those that were put there.
    pub fn kept(&self, here: impl Iterator<Item = String>) -> BTreeSet<String> {
        let own = self.vrfs.iter().filter(|(_, vrf)| vrf.kept).map(|(zone, _)| zone.clone());
        let absent = [LocalStanza::Contested, LocalStanza::Unkept, LocalStanza::Missing];
        own.chain(here).filter(|zone| !absent.contains(&self.vrf(zone).local)).collect()
    }

    /// The deviation of a zone, to be changed.
    pub fn vrf_mut(&mut self, zone: &str) -> &mut VrfState {
        self.vrfs.entry(zone.to_owned()).or_default()
    }
}

impl World {
    /// The node of that name.
    #[must_use]
    pub fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.name == name)
    }

    /// The SDN objects a node has loaded.
    #[must_use]
    pub fn loaded(&self, node: &str) -> &Tree {
        self.node(node).and_then(|node| node.loaded.as_deref()).unwrap_or(&self.sdn.running)
    }

    /// The node of that name, to be changed.
    pub fn node_mut(&mut self, name: &str) -> Option<&mut Node> {
        self.nodes.iter_mut().find(|node| node.name == name)
    }

    /// An invented number that never changes for the same site and text.
    #[must_use]
    pub fn number(&self, text: &str) -> u64 {
        mix(self.seed, text)
    }

    /// A counter that grows by about `per_hour` an hour since boot, never backwards.
    #[must_use]
    pub fn counter(&self, text: &str, per_hour: u64, now: i64) -> u64 {
        self.grown(text, per_hour, now.saturating_sub(self.booted))
    }

    /// The same for what only a fault makes grow: it counts since the youngest fault came.
    #[must_use]
    pub fn disturbed(&self, text: &str, per_hour: u64, now: i64) -> u64 {
        self.grown(text, per_hour, now.saturating_sub(self.disturbed))
    }

    fn grown(&self, text: &str, per_hour: u64, age: i64) -> u64 {
        let rate = per_hour / 2 + self.number(text) % per_hour.max(1);
        rate.saturating_mul(u64::try_from(age).unwrap_or(0)) / 3600
    }

    /// A guest's share of its cores at `now`, in 0.0..0.35, still for half a minute.
    #[must_use]
    pub fn cpu(&self, vmid: u32, now: i64) -> f64 {
        let level = mix(self.seed, &format!("cpu {vmid}")) % 240;
        let ripple = mix(self.seed, &format!("cpu {vmid} {}", now.div_euclid(30))) % 100;
        f64::from(u32::try_from(level + ripple).unwrap_or(0)) / 1000.0
    }
}

/// FNV-1a of `text`, spread by `seed` (splitmix64).
#[must_use]
pub fn mix(seed: u64, text: &str) -> u64 {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let mut z = hash.wrapping_add(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
