//! Tenants, and the layers in which each of them exists.

use std::net::Ipv4Addr;
use std::sync::Arc;

use ipnet::Ipv4Net;

use super::{Class, FieldDiff, Owner, Presence};
use crate::inventory::source::{Gap, GapKind};

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
        self.gap.as_ref().is_some_and(|gap| gap.kind == GapKind::Off)
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

/// A tenant: an EVPN zone inside the index band, or a name that only the registry has.
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
    /// Who owns it.
    pub owner: Owner,
    /// Layers.
    pub layers: Layers,
    /// Positions of its workloads in [`Inventory::workloads`](super::Inventory::workloads).
    pub workloads: std::ops::Range<u32>,
    /// Positions of its VNets in [`Inventory::vnets`](super::Inventory::vnets).
    pub vnets: std::ops::Range<u32>,
    /// Positions of its VRFs in [`Inventory::vrfs`](super::Inventory::vrfs), one an exit node.
    pub vrfs: std::ops::Range<u32>,
    /// Positions of its records in [`Inventory::records`](super::Inventory::records).
    pub records: std::ops::Range<u32>,
    /// Positions of its zones in [`Inventory::zones`](super::Inventory::zones).
    pub zones: std::ops::Range<u32>,
    /// Positions of its forwards in [`Inventory::forwards`](super::Inventory::forwards).
    pub forwards: std::ops::Range<u32>,
    /// Positions of its check-ins in [`Inventory::checkins`](super::Inventory::checkins).
    pub checkins: std::ops::Range<u32>,
}
