//! The entities of the joined picture. All immutable; all shared by `Arc<Inventory>`.

mod checkin;
mod fabric;
mod names;
mod perimeter;
mod registration;
mod state;
mod tenant;
mod vnet;
mod vrf;
mod workload;

use std::sync::Arc;

use jiff::Timestamp;

use super::source::{Gap, Seen, Sources};
use crate::backends::proxmox::model::Task;
use crate::site::Site;

pub use checkin::*;
pub use fabric::*;
pub use names::*;
pub use perimeter::*;
pub use registration::*;
pub use state::*;
pub use tenant::*;
pub use vnet::*;
pub use vrf::*;
pub use workload::*;

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
    /// An RRset by owner name and type.
    Record(Arc<str>, Arc<str>),
    /// A DNS zone by name.
    DnsZone(Arc<str>),
    /// A filter rule by uuid, or pf's label where it has none.
    Rule(Arc<str>),
    /// A forward by uuid, or by domain where it is absent.
    Forward(Arc<str>),
    /// The check-in of a workload: tenant, workload.
    CheckIn(Arc<str>, Arc<str>),
    /// A node.
    Node(Arc<str>),
    /// A zone that is no tenant.
    Zone(Arc<str>),
    /// A pending edit by kind and id.
    Pending(&'static str, Arc<str>),
    /// A source.
    Source(super::source::SourceId),
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
    /// Records of tenants' zones in tenant order, those that ought to be there included.
    pub records: Vec<RecordRow>,
    /// Whether the records are known, and why not.
    pub records_gap: Option<Gap>,
    /// Zones of tenants in tenant order, those of nobody last.
    pub zones: Vec<ZoneRow>,
    /// Filter rules as evaluated.
    pub rules: Vec<RuleRow>,
    /// Whether the rules are known, and why not.
    pub rules_gap: Option<Gap>,
    /// Forwards in tenant order, those of nobody last.
    pub forwards: Vec<ForwardRow>,
    /// Whether the forwards are known, and why not.
    pub forwards_gap: Option<Gap>,
    /// The perimeter as a whole.
    pub perimeter: PerimeterView,
    /// Check-ins in tenant order.
    pub checkins: Vec<CheckInRow>,
    /// Whether the check-ins are known, and why not.
    pub checkins_gap: Option<Gap>,
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

    /// The records of `tenant`.
    #[must_use]
    pub fn records_of(&self, tenant: &Tenant) -> &[RecordRow] {
        slice(&self.records, &tenant.records)
    }

    /// The zones of `tenant`.
    #[must_use]
    pub fn zones_of(&self, tenant: &Tenant) -> &[ZoneRow] {
        slice(&self.zones, &tenant.zones)
    }

    /// The forwards of `tenant`.
    #[must_use]
    pub fn forwards_of(&self, tenant: &Tenant) -> &[ForwardRow] {
        slice(&self.forwards, &tenant.forwards)
    }

    /// The check-ins of `tenant`.
    #[must_use]
    pub fn checkins_of(&self, tenant: &Tenant) -> &[CheckInRow] {
        slice(&self.checkins, &tenant.checkins)
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
