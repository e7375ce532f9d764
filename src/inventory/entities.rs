//! The entities of the joined picture. All immutable; all shared by `Arc<Inventory>`.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

use ipnet::Ipv4Net;
use jiff::Timestamp;

use super::source::{Gap, Seen, Sources};
use crate::backends::exit_node::model::{Route, SnatRule};
use crate::backends::proxmox::model::{Change, LockState, Task};
use crate::site::Site;

/// The class of a state: what its glyph says. The word beside it says the state itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// As it should be.
    Fine,
    /// Information.
    Info,
    /// Not there, and that may be right.
    Absent,
    /// Not run here.
    NotRun,
    /// Not known.
    Unknown,
    /// Under way.
    Progress,
    /// Configured, not applied.
    Pending,
    /// Other than derived.
    Differs,
    /// Needs a look.
    Warning,
    /// Broken.
    Fault,
}

/// Presence of one layer of one tenant (design §1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Presence {
    /// Looked for, not there.
    Absent,
    /// Configured, not applied.
    Pending,
    /// There, as derived.
    Present,
    /// There, other than derived.
    Differs,
    /// Not known.
    Unknown,
}

/// A difference between what the index derives and what a source shows.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct FieldDiff {
    /// The object, e.g. `subnet 10.20.130.0/24`.
    pub object: String,
    /// The field as its back end names it, e.g. `snat`.
    pub field: String,
    /// Derived value.
    pub expected: String,
    /// Observed value; `–` where there is none.
    pub observed: String,
}

/// State of one layer of one tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// Presence.
    pub presence: Presence,
    /// Class for the glyph.
    pub class: Class,
    /// A few words, e.g. `present`, `SNAT off`, `2 of 2 running`.
    pub words: String,
    /// What differs.
    pub diffs: Vec<FieldDiff>,
    /// Why it is unknown, where it is.
    pub gap: Option<Gap>,
}

impl Layer {
    /// An unknown layer.
    #[must_use]
    pub fn unknown(gap: Gap) -> Self {
        Self {
            presence: Presence::Unknown,
            class: Class::Unknown,
            words: gap.word().to_owned(),
            diffs: Vec::new(),
            gap: Some(gap),
        }
    }

    /// Whether it is unknown because the site does not have its source: no fault and nothing to wait for.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.gap.as_ref().is_some_and(|gap| gap.kind == super::source::GapKind::Off)
    }

    /// A known layer without differences.
    pub fn known(presence: Presence, class: Class, words: impl Into<String>) -> Self {
        Self { presence, class, words: words.into(), diffs: Vec::new(), gap: None }
    }
}

/// The six layers, one to one with the letters F N D R W B.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layers {
    /// Zone, VNet, subnet at Proxmox.
    pub fabric: Layer,
    /// VRF, default, SNAT, null routes on the exit node.
    pub node: Layer,
    /// Zones and records.
    pub dns: Layer,
    /// Forwards at the perimeter resolver.
    pub resolver: Layer,
    /// VMs.
    pub workloads: Layer,
    /// Check-ins.
    pub bootstrap: Layer,
}

impl Layers {
    /// (letter, word, layer) in order.
    #[must_use]
    pub const fn all(&self) -> [(char, &'static str, &Layer); 6] {
        [
            ('F', "fabric", &self.fabric),
            ('N', "node", &self.node),
            ('D', "dns", &self.dns),
            ('R', "resolver", &self.resolver),
            ('W', "workloads", &self.workloads),
            ('B', "bootstrap", &self.bootstrap),
        ]
    }
}

/// How a tenant stands as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TenantStatus {
    /// Fabric and node carry it.
    Ready,
    /// Something of it is configured and not applied, or not yet on the node.
    Provisioning,
    /// Its removal waits for an apply.
    Deleting,
    /// Not enough was read to say.
    Unknown,
}

/// A tenant: an EVPN zone inside the index band.
#[derive(Debug, Clone, PartialEq)]
pub struct Tenant {
    /// Zone id.
    pub name: Arc<str>,
    /// Tenant index, 1–63.
    pub index: u8,
    /// Index 63: for drills, never allocated.
    pub drill: bool,
    /// VRF VNI.
    pub vrf_vni: u32,
    /// First VNet VNI (i = 0).
    pub vnet_vni: u32,
    /// Derived subnet.
    pub subnet: Ipv4Net,
    /// Derived gateway.
    pub gateway: Ipv4Addr,
    /// Forward zone, no trailing dot.
    pub forward_zone: String,
    /// Reverse zone, no trailing dot.
    pub reverse_zone: String,
    /// Status.
    pub status: TenantStatus,
    /// Layers.
    pub layers: Layers,
    /// Positions of its workloads in [`Inventory::workloads`].
    pub workloads: std::ops::Range<u32>,
    /// Positions of its VNets in [`Inventory::vnets`].
    pub vnets: std::ops::Range<u32>,
    /// Positions of its VRFs in [`Inventory::vrfs`], one an exit node.
    pub vrfs: std::ops::Range<u32>,
}

/// One line of evidence in the VRF & egress pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// e.g. `default`.
    pub label: &'static str,
    /// e.g. `10.20.50.1 vmbr0.50`.
    pub value: String,
    /// Class.
    pub class: Class,
    /// Word beside the glyph, e.g. `right`.
    pub word: String,
    /// Why it is unknown, where it is.
    pub gap: Option<Gap>,
}

/// A tenant's VRF on one exit node.
#[derive(Debug, Clone, PartialEq)]
pub struct Vrf {
    /// Tenant.
    pub tenant: Arc<str>,
    /// Exit node.
    pub node: Arc<str>,
    /// Device, `vrf_<name>`.
    pub device: String,
    /// Derived VNI.
    pub vni: u32,
    /// link · default · SNAT · forwarding · null routes · FRR, in this order.
    pub facts: Vec<Fact>,
    /// Class of the worst fact.
    pub class: Class,
    /// Routes of the VRF.
    pub routes: Seen<Vec<(Route, RouteWhy)>>,
    /// SNAT rules for the tenant's subnet.
    pub snat: Seen<Vec<SnatRule>>,
    /// New connections through those rules.
    pub flow: Seen<Flow>,
    /// Bytes per second over the VNet bridge, when two samples exist.
    pub vnet_bytes_s: Seen<f64>,
    /// What differs from the derived state.
    pub diffs: Vec<FieldDiff>,
}

/// Why a route is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteWhy {
    /// Class.
    pub class: Class,
    /// e.g. `default to the perimeter`, `the tenant's own subnet`, `null route to eds`.
    pub words: String,
}

/// Count and rate of new connections. Activity, not health (facts/exit-node.md §4).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Flow {
    /// First packets of connections since the last reset.
    pub total: u64,
    /// Per second between the last two samples; `None` with one sample or after a reset.
    pub per_second: Option<f64>,
    /// Increments between samples, oldest first, at most ten.
    pub history: Vec<u64>,
    /// When the counter fell (rule replaced, `-Z`, SDN apply).
    pub reset_at: Option<Timestamp>,
    /// When counting was first seen by this program.
    pub since: Option<Timestamp>,
}

/// Flows kept across readings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Flows {
    /// (exit node, rule text) → flow.
    pub snat: BTreeMap<(String, String), Flow>,
    /// (exit node, interface) → bytes per second, both directions.
    pub bytes_s: BTreeMap<(String, String), f64>,
}

/// A VNet with its subnets.
#[derive(Debug, Clone, PartialEq)]
pub struct VnetRow {
    /// VNet id (= bridge).
    pub vnet: Arc<str>,
    /// Zone.
    pub zone: Arc<str>,
    /// Tenant, when the zone is one.
    pub tenant: Option<Arc<str>>,
    /// VNI.
    pub tag: Option<u32>,
    /// Number of the VNet within the tenant's ten, when the tag is in its band.
    pub ordinal: Option<u8>,
    /// Subnets.
    pub subnets: Seen<Vec<SubnetRow>>,
    /// Configured against applied.
    pub change: Change,
    /// Realisation per node: node → status, message.
    pub nodes: Vec<(Arc<str>, Seen<String>)>,
    /// Free text.
    pub alias: Option<String>,
    /// Class.
    pub class: Class,
    /// Word.
    pub word: String,
    /// What differs.
    pub diffs: Vec<FieldDiff>,
}

/// A subnet of a VNet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubnetRow {
    /// As configured.
    pub cidr: String,
    /// Gateway.
    pub gateway: Option<Ipv4Addr>,
    /// Whether it is translated.
    pub snat: bool,
    /// Configured against applied.
    pub change: Change,
    /// Whether it is the tenant's derived subnet.
    pub derived: bool,
}

/// Where a VM comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// VMID and name follow the numbering.
    Ours,
    /// Hand-made or misplaced; the words say how.
    Foreign(String),
}

/// A VM that belongs to a tenant, or sits on its VNet.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// Tenant.
    pub tenant: Arc<str>,
    /// Workload name (VM name without the tenant's prefix), cleaned.
    pub name: Arc<str>,
    /// VM name as Proxmox has it, cleaned.
    pub vm_name: Option<Arc<str>>,
    /// VMID.
    pub vmid: u32,
    /// Ordinal in the tenant's band.
    pub ordinal: Option<u8>,
    /// Node.
    pub node: Arc<str>,
    /// Origin.
    pub origin: Origin,
    /// `running`, `stopped`, `unknown`.
    pub status: String,
    /// Class of the status.
    pub class: Class,
    /// Lock.
    pub lock: Option<String>,
    /// Derived address.
    pub derived_address: Option<Ipv4Addr>,
    /// Configured address (`ipconfig0`).
    pub address: Seen<Option<String>>,
    /// MAC of net0.
    pub mac: Seen<Option<String>>,
    /// Bridge of net0.
    pub bridge: Seen<Option<String>>,
    /// Cloud-init resolver.
    pub nameserver: Seen<Option<String>>,
    /// SMBIOS UUID: the instance.
    pub uuid: Seen<Option<String>>,
    /// Options waiting for a cold start.
    pub pending: Seen<Vec<String>>,
    /// Guest agent, as configured.
    pub agent: Seen<bool>,
    /// Fraction of its cores.
    pub cpu: Option<f64>,
    /// Cores.
    pub cpus: Option<u32>,
    /// Bytes used.
    pub mem: Option<u64>,
    /// Bytes given.
    pub maxmem: Option<u64>,
    /// Bytes of disk.
    pub maxdisk: Option<u64>,
    /// When it was started, from uptime at reading time.
    pub started_at: Option<Timestamp>,
    /// What differs from the derived values.
    pub diffs: Vec<FieldDiff>,
}

/// A zone that is not a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignZone {
    /// Zone id.
    pub zone: Arc<str>,
    /// Kind.
    pub kind: String,
    /// VRF VNI.
    pub vrf_vni: Option<u32>,
    /// Change.
    pub change: Change,
    /// Why it is not a tenant, e.g. `VRF VNI 10099 is outside 10001–10063`.
    pub why: String,
}

/// An SDN edit that waits for an apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingEdit {
    /// `zone`, `vnet`, `subnet`, `controller`, `fabric`, `fabric node`.
    pub kind: &'static str,
    /// Object id.
    pub id: Arc<str>,
    /// Tenant it belongs to.
    pub tenant: Option<Arc<str>>,
    /// Change.
    pub change: Change,
    /// What changes, in words.
    pub what: String,
    /// Guess from the task log, `user ?`; Proxmox records no author.
    pub by: Option<String>,
}

/// A node of the cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// Node id.
    pub node: Arc<str>,
    /// Whether it is in the fabric.
    pub in_fabric: Seen<bool>,
    /// Whether it is an exit node of the site.
    pub exit_node: bool,
    /// Online.
    pub online: Seen<bool>,
    /// Management address.
    pub management: Option<String>,
    /// VTEP address.
    pub vtep: Option<String>,
    /// Underlay interfaces.
    pub underlay: Vec<String>,
    /// Zones it realised / zones it should.
    pub zones: Seen<(u32, u32)>,
    /// PVE version there.
    pub pve: Seen<String>,
    /// FRR version there.
    pub frr: Seen<String>,
    /// SDN version of its interfaces file.
    pub sdn_version: Seen<u64>,
    /// Staged interface changes that an SDN apply would activate.
    pub staged: Seen<bool>,
    /// CPU fraction.
    pub cpu: Option<f64>,
    /// Memory used and total, bytes.
    pub mem: Option<(u64, u64)>,
    /// Class.
    pub class: Class,
    /// Word.
    pub word: String,
}

/// The fabric: what no tenant owns.
#[derive(Debug, Clone, PartialEq)]
pub struct FabricView {
    /// Nodes.
    pub members: Vec<Member>,
    /// Controllers: id, kind, ASN.
    pub controllers: Seen<Vec<(String, String, Option<u32>)>>,
    /// Fabrics: id, protocol, prefix.
    pub fabrics: Seen<Vec<(String, String, Option<String>)>>,
    /// Pending edits.
    pub pending: Seen<Vec<PendingEdit>>,
    /// Lock.
    pub lock: LockState,
    /// Quorum; `None` where there is no cluster.
    pub quorate: Seen<Option<bool>>,
    /// Zones outside the band.
    pub foreign_zones: Seen<Vec<ForeignZone>>,
    /// PVE version that answered.
    pub version: Seen<String>,
}

/// Something that needs a human now; one row of the overview. A cause, not a symptom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attention {
    /// Class.
    pub class: Class,
    /// `fault`, `warning`, `pending`, `source`, `differs`.
    pub kind: &'static str,
    /// Where.
    pub place: String,
    /// One sentence.
    pub what: String,
    /// Tenants it reaches.
    pub affects: Vec<Arc<str>>,
    /// Since when, where known.
    pub since: Option<Timestamp>,
    /// Where the console goes to deal with it.
    pub target: ObjectId,
}

/// Identity of anything a cursor, a mark or an action can hold. Never a row number.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ObjectId {
    /// A tenant by zone id.
    Tenant(Arc<str>),
    /// A VRF by tenant and exit node.
    Vrf(Arc<str>, Arc<str>),
    /// One fact of a VRF: tenant, node, label.
    VrfFact(Arc<str>, Arc<str>, &'static str),
    /// A route of a VRF: tenant, node, destination and kind.
    Route(Arc<str>, Arc<str>, Arc<str>),
    /// A VNet.
    Vnet(Arc<str>),
    /// A VM by VMID.
    Workload(u32),
    /// A node.
    Node(Arc<str>),
    /// A zone that is no tenant.
    Zone(Arc<str>),
    /// A pending edit by kind and id.
    Pending(&'static str, Arc<str>),
    /// A source.
    Source(super::SourceId),
    /// A task by UPID.
    Task(Arc<str>),
    /// A row of the overview: kind, place and sentence in one text. Where it leads is [`Attention::target`].
    Attention(Arc<str>),
}

/// The joined picture of a site.
#[derive(Debug, Clone, PartialEq)]
pub struct Inventory {
    /// The site.
    pub site: Arc<Site>,
    /// Counts up with every join.
    pub generation: u64,
    /// Health of the sources.
    pub sources: Sources,
    /// Tenants by index, then name.
    pub tenants: Vec<Tenant>,
    /// Whether the tenant list is known, and why not.
    pub tenants_gap: Option<Gap>,
    /// VRFs in tenant order.
    pub vrfs: Vec<Vrf>,
    /// VNets in tenant order, foreign ones last.
    pub vnets: Vec<VnetRow>,
    /// Workloads in tenant order, then VMID.
    pub workloads: Vec<Workload>,
    /// Whether the guest list is known, and why not.
    pub workloads_gap: Option<Gap>,
    /// Fabric.
    pub fabric: FabricView,
    /// Recent tasks, newest first.
    pub tasks: Seen<Vec<Task>>,
    /// What needs a human, worst first, then widest.
    pub attention: Vec<Attention>,
}

impl Inventory {
    /// The tenant named `name`.
    #[must_use]
    pub fn tenant(&self, name: &str) -> Option<&Tenant> {
        self.tenants.iter().find(|t| &*t.name == name)
    }

    /// The workloads of `tenant`.
    #[must_use]
    pub fn workloads_of(&self, tenant: &Tenant) -> &[Workload] {
        slice(&self.workloads, &tenant.workloads)
    }

    /// The VNets of `tenant`.
    #[must_use]
    pub fn vnets_of(&self, tenant: &Tenant) -> &[VnetRow] {
        slice(&self.vnets, &tenant.vnets)
    }

    /// The VRFs of `tenant`, one an exit node.
    #[must_use]
    pub fn vrfs_of(&self, tenant: &Tenant) -> &[Vrf] {
        slice(&self.vrfs, &tenant.vrfs)
    }
}

fn slice<'a, T>(all: &'a [T], range: &std::ops::Range<u32>) -> &'a [T] {
    all.get(range.start as usize..range.end as usize).unwrap_or(&[])
}
