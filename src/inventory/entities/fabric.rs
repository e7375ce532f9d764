//! The fabric: members, pending edits, what belongs to nobody.

use std::sync::Arc;

use super::Class;
use crate::backends::proxmox::model::{Change, LockState};
use crate::inventory::source::Seen;

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
