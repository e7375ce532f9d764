//! VNets and subnets.

use std::net::Ipv4Addr;
use std::sync::Arc;

use super::{Class, FieldDiff};
use crate::backends::proxmox::model::Change;
use crate::inventory::source::Seen;

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
