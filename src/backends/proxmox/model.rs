//! What Proxmox VE says, typed. Sources of each fact: `facts/proxmox.md` (the section behind §) and the endpoint named.
//!
//! A scalar may come as number, string, 0/1 or boolean (§2); by the time a value is here it is typed. A field that the
//! answer left out is `None`, never a default.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

use ipnet::Ipv4Net;
use jiff::Timestamp;

/// `GET /version`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Full version, e.g. `9.2.11`.
    pub version: String,
    /// Release, e.g. `9.2`.
    pub release: String,
}

/// `GET /access/permissions`: ACL path → privileges. Lists answer *empty*, not 403, when rights are missing (§3), so
/// this map is read first and kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permissions {
    /// Path (`/sdn`, `/vms/100`) → set of privileges held there.
    pub by_path: BTreeMap<String, BTreeSet<String>>,
    /// The same, limited to privileges that propagate below the path.
    pub propagating: BTreeMap<String, BTreeSet<String>>,
}

impl Permissions {
    /// Whether `privilege` holds at `path`: at the path itself, or propagating from its *nearest* listed ancestor
    /// (Proxmox replaces, it does not add up, along the way).
    #[must_use]
    pub fn allows(&self, path: &str, privilege: &str) -> bool {
        if let Some(held) = self.by_path.get(path) {
            return held.contains(privilege);
        }
        let mut at = path;
        while let Some((up, _)) = at.rsplit_once('/') {
            at = if up.is_empty() { "/" } else { up };
            if let Some(held) = self.by_path.get(at) {
                return held.contains(privilege) && self.propagating.get(at).is_some_and(|p| p.contains(privilege));
            }
            if at == "/" {
                break;
            }
        }
        false
    }
}

/// One row of `GET /cluster/status` of type `node`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterNode {
    /// Node id as used in API paths.
    pub name: String,
    /// Whether corosync sees it.
    pub online: bool,
    /// Whether it is the node that answered.
    pub local: bool,
    /// Address known to the cluster.
    pub ip: Option<IpAddr>,
}

/// `GET /cluster/status`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterStatus {
    /// Cluster name; `None` on a single node without a cluster.
    pub name: Option<String>,
    /// Quorum; `None` where there is no cluster to lose it.
    pub quorate: Option<bool>,
    /// Its nodes.
    pub nodes: Vec<ClusterNode>,
}

/// `GET /nodes/{node}/status`.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeStatus {
    /// Seconds since boot.
    pub uptime_s: Option<u64>,
    /// Fraction of all cores, 0.0–1.0.
    pub cpu: Option<f64>,
    /// Bytes used.
    pub mem: Option<u64>,
    /// Bytes in all.
    pub maxmem: Option<u64>,
    /// e.g. `pve-manager/9.2.11/14a22df3`.
    pub pve_version: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
}

/// A guest as lists show it.
#[derive(Debug, Clone, PartialEq)]
pub struct Vm {
    /// VMID, 100–999999999.
    pub vmid: u32,
    /// Absent when its node is offline (§10).
    pub name: Option<String>,
    /// Node id.
    pub node: String,
    /// `running`, `stopped`, `unknown` (node offline).
    pub status: String,
    /// A template looks like a stopped VM.
    pub template: bool,
    /// `clone`, `backup`, … while locked (§10).
    pub lock: Option<String>,
    /// Fraction of `cpus`, 0.0–1.0.
    pub cpu: Option<f64>,
    /// Number of virtual CPUs.
    pub cpus: Option<u32>,
    /// Bytes used.
    pub mem: Option<u64>,
    /// Bytes given.
    pub maxmem: Option<u64>,
    /// Bytes of the boot disk.
    pub maxdisk: Option<u64>,
    /// Seconds since start; 0 when stopped.
    pub uptime_s: Option<u64>,
    /// Semicolon list as stored.
    pub tags: Vec<String>,
}

/// A node as `GET /cluster/resources` shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeResource {
    /// Node id.
    pub node: String,
    /// `online`, `offline`, `unknown`.
    pub status: String,
    /// Fraction of all cores.
    pub cpu: Option<f64>,
    /// Cores.
    pub maxcpu: Option<u32>,
    /// Bytes used.
    pub mem: Option<u64>,
    /// Bytes in all.
    pub maxmem: Option<u64>,
    /// Seconds since boot.
    pub uptime_s: Option<u64>,
}

/// State of one zone on one node: `GET /nodes/{node}/sdn/zones`, also `network/NODE/zone/ZONE` in resources (§7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeZone {
    /// Node id.
    pub node: String,
    /// Zone id.
    pub zone: String,
    /// `available`, `pending`, `error`, or what else it says.
    pub status: String,
}

/// `GET /nodes/{node}/sdn/zones/{zone}/content`: one VNet's realisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeVnet {
    /// VNet id.
    pub vnet: String,
    /// `available`, `pending`, `error`.
    pub status: String,
    /// e.g. `missing vxlan_tdemo0`.
    pub message: Option<String>,
}

/// A storage as one node has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Storage {
    /// Storage id.
    pub storage: String,
    /// Node id.
    pub node: String,
    /// `available`, `unknown`, …
    pub status: Option<String>,
    /// What it may hold: `images`, `iso`, …
    pub content: Vec<String>,
}

/// `GET /cluster/resources`, the parts used.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Resources {
    /// Machines of all nodes.
    pub vms: Vec<Vm>,
    /// Containers of all nodes.
    pub containers: Vec<Vm>,
    /// Nodes.
    pub nodes: Vec<NodeResource>,
    /// Zones per node; about 10 s old (§7).
    pub zones: Vec<NodeZone>,
    /// Storages per node; those for which the token holds [`super::endpoints::STORAGE`].
    pub storages: Vec<Storage>,
}

/// How a configured SDN object stands to the applied one (§5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Configured equals applied.
    #[default]
    None,
    /// Configured, never applied.
    New,
    /// Both exist and differ.
    Changed,
    /// Applied, its removal waits for an apply.
    Deleted,
}

/// An SDN object as `?pending=1` merges it: what runs, what is configured, how they differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Sdn<T> {
    /// The applied values; `None` for a new object.
    pub running: Option<T>,
    /// The configured values; `None` for a deleted object.
    pub configured: Option<T>,
    /// The difference.
    pub change: Change,
    /// Option → new value (`deleted` for a removed option), verbatim from `pending`.
    pub pending: BTreeMap<String, String>,
}

impl<T> Sdn<T> {
    /// What will be true after an apply, else what is true now.
    #[must_use]
    pub fn current(&self) -> Option<&T> {
        self.configured.as_ref().or(self.running.as_ref())
    }
}

/// An SDN zone (`/cluster/sdn/zones`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Zone {
    /// Zone id, 2–8 characters (§4).
    pub zone: String,
    /// `evpn`, `vxlan`, `simple`, `vlan`, `qinq`.
    pub kind: String,
    /// EVPN controller id.
    pub controller: Option<String>,
    /// VRF VXLAN id (L3 VNI).
    pub vrf_vxlan: Option<u32>,
    /// Restricting node list; empty = all nodes.
    pub nodes: Vec<String>,
    /// Exit nodes.
    pub exit_nodes: Vec<String>,
    /// Primary exit node.
    pub exit_nodes_primary: Option<String>,
    /// Zone MTU in bytes.
    pub mtu: Option<u32>,
    /// Anycast MAC.
    pub mac: Option<String>,
    /// Whether subnets are advertised.
    pub advertise_subnets: Option<bool>,
    /// Exit nodes route locally.
    pub exit_nodes_local_routing: Option<bool>,
    /// IPAM plug-in.
    pub ipam: Option<String>,
}

/// A VNet (`/cluster/sdn/vnets`): its id is the bridge name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Vnet {
    /// VNet id.
    pub vnet: String,
    /// Zone id.
    pub zone: String,
    /// VXLAN id (L2 VNI).
    pub tag: Option<u32>,
    /// Free text.
    pub alias: Option<String>,
}

/// A subnet (`/cluster/sdn/vnets/{vnet}/subnets`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subnet {
    /// `<zone>-<ip>-<mask>`.
    pub id: String,
    /// VNet id.
    pub vnet: String,
    /// Zone id.
    pub zone: Option<String>,
    /// The prefix; host bits are kept as stored (§4). `None` for IPv6.
    pub cidr: Option<Ipv4Net>,
    /// The prefix as text.
    pub cidr_text: String,
    /// Anycast gateway.
    pub gateway: Option<Ipv4Addr>,
    /// Whether the exit node translates it.
    pub snat: bool,
}

/// An SDN controller (`/cluster/sdn/controllers`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Controller {
    /// Controller id.
    pub controller: String,
    /// `evpn`, `bgp`, `isis`.
    pub kind: String,
    /// BGP ASN.
    pub asn: Option<u32>,
    /// Fabric id, or
    pub fabric: Option<String>,
    /// explicit peers.
    pub peers: Vec<String>,
}

/// A fabric (`/cluster/sdn/fabrics/all`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fabric {
    /// Fabric id.
    pub id: String,
    /// `openfabric`, `ospf`, from 9.2 `bgp`, `wireguard`.
    pub protocol: String,
    /// Loopback prefix.
    pub ip_prefix: Option<String>,
}

/// A member of a fabric.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FabricNode {
    /// Fabric id.
    pub fabric: String,
    /// Node id.
    pub node: String,
    /// Loopback (VTEP) address.
    pub ip: Option<String>,
    /// Underlay interfaces.
    pub interfaces: Vec<String>,
}

/// All SDN objects in one consistent read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SdnConfig {
    /// Zones.
    pub zones: Vec<Sdn<Zone>>,
    /// VNets.
    pub vnets: Vec<Sdn<Vnet>>,
    /// Subnets by VNet. A VNet missing here was not read, or is deleted-pending: its subnets are hidden (§5).
    pub subnets: BTreeMap<String, Vec<Sdn<Subnet>>>,
    /// Controllers.
    pub controllers: Vec<Sdn<Controller>>,
    /// Fabrics.
    pub fabrics: Vec<Sdn<Fabric>>,
    /// Fabric members.
    pub fabric_nodes: Vec<Sdn<FabricNode>>,
    /// Digest of the zones file (from the plain list; `None` when there is no zone).
    pub zones_digest: Option<String>,
}

/// What can be known of the SDN lock. It can be met, not looked at (§6).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum LockState {
    /// Nobody tried.
    #[default]
    NotTried,
    /// A write met it.
    Held {
        /// When it was met.
        seen_at: Timestamp,
    },
}

/// A task as lists show it (`/cluster/tasks`, `/nodes/{node}/tasks`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// UPID.
    pub upid: String,
    /// Node id.
    pub node: String,
    /// Type, e.g. `qmclone`, `reloadnetworkall`, `srvreload`.
    pub kind: String,
    /// Object id; may be empty.
    pub id: String,
    /// `user@realm`.
    pub user: String,
    /// Start.
    pub started: Option<Timestamp>,
    /// End; absent while it runs.
    pub ended: Option<Timestamp>,
    /// End status (`OK`, `WARNINGS: n`, an error text); absent while it runs.
    pub status: Option<String>,
}

/// `GET /nodes/{node}/tasks/{upid}/status`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskState {
    /// Still running.
    Running,
    /// `OK`. Not proof of anything on the nodes (§7).
    Ok,
    /// `WARNINGS: n`.
    Warnings(u32),
    /// Any other end, in its own words.
    Failed(String),
}

/// `GET /nodes/{node}/qemu/{vmid}/config`, the parts used; `raw` keeps every key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VmConfig {
    /// VM name.
    pub name: Option<String>,
    /// Cores.
    pub cores: Option<u32>,
    /// MiB.
    pub memory_mib: Option<u32>,
    /// Guest agent enabled.
    pub agent: bool,
    /// Start at boot.
    pub onboot: bool,
    /// Tags.
    pub tags: Vec<String>,
    /// `netN` → device. Boxed, as is the next: a map has room for eleven, and nearly every VM has one.
    pub nets: BTreeMap<u8, Box<NetDevice>>,
    /// `ipconfigN` → address.
    pub ipconfigs: BTreeMap<u8, Box<IpConfig>>,
    /// Cloud-init resolver(s).
    pub nameserver: Option<String>,
    /// Cloud-init user.
    pub ciuser: Option<String>,
    /// SMBIOS UUID from `smbios1`. The serial may hold a pointer and is never kept here.
    pub smbios_uuid: Option<String>,
    /// SHA-1 of the configuration.
    pub digest: Option<String>,
    /// Lock.
    pub lock: Option<String>,
    /// Every key as text, `smbios1` redacted.
    pub raw: BTreeMap<String, String>,
}

/// `netN`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NetDevice {
    /// `virtio`, `e1000`, …
    pub model: String,
    /// Lower-case MAC.
    pub mac: Option<String>,
    /// Bridge or VNet.
    pub bridge: Option<String>,
    /// Guest firewall on.
    pub firewall: bool,
}

/// `ipconfigN`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IpConfig {
    /// `10.20.129.10/24`, `dhcp`, `manual`.
    pub ip: Option<String>,
    /// Gateway.
    pub gateway: Option<String>,
}

/// One row of `GET /nodes/{node}/qemu/{vmid}/pending`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingOption {
    /// Option name.
    pub key: String,
    /// Value in force.
    pub value: Option<String>,
    /// Value that waits for a cold start.
    pub pending: Option<String>,
    /// Its removal waits.
    pub delete: bool,
}

/// What a guest agent question found (§10).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentState {
    /// It answered.
    Answers,
    /// The VM has no agent configured.
    NotConfigured,
    /// Configured, does not answer.
    NotRunning,
    /// The VM is not running.
    VmStopped,
}

/// An address as `network-get-interfaces` gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentInterface {
    /// Interface name inside the guest.
    pub name: String,
    /// Lower-case MAC.
    pub mac: Option<String>,
    /// Addresses with prefix length.
    pub addresses: Vec<String>,
}

/// `GET /cluster/sdn/dry-run?node=`. It leaves out new subnets, gateways and SNAT (§7).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DryRun {
    /// Unified diff of `frr.conf`; `None` when equal.
    pub frr_diff: Option<String>,
    /// Unified diff of `interfaces.d/sdn`; `None` when equal.
    pub interfaces_diff: Option<String>,
}
