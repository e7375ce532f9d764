//! Entries of the registry. All text is clean.

use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Status of a registered tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Not every step is done.
    Provisioning,
    /// Every step is done.
    Ready,
    /// Its removal has begun.
    Deleting,
    /// A word this program does not know, as it came; empty where there is none.
    Other(String),
}

impl Status {
    /// The word.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::Provisioning => "provisioning",
            Self::Ready => "ready",
            Self::Deleting => "deleting",
            Self::Other(word) if word.is_empty() => "not said",
            Self::Other(word) => word,
        }
    }
}

/// A registered tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tenant {
    /// Name.
    pub name: String,
    /// Index.
    pub index: Option<u64>,
    /// Status.
    pub status: Status,
    /// How it came to be, e.g. `created`, `restored`, `reissued`.
    pub outcome: Option<String>,
    /// VRF VNI.
    pub vrf_vni: Option<u32>,
    /// First VNet VNI.
    pub vnet_vni: Option<u32>,
    /// Subnet.
    pub subnet: Option<Ipv4Net>,
    /// Gateway.
    pub gateway: Option<Ipv4Addr>,
    /// Whether the registry can read its copies of the tenant's secrets.
    pub secrets_stored: Option<bool>,
    /// Steps reached, in order; `None` = the list does not carry them.
    pub steps: Option<Vec<Step>>,
}

/// A step of a tenant's creation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Name, e.g. `dns`.
    pub name: String,
    /// Whether it ended well.
    pub ok: bool,
    /// When it was last run.
    pub updated_at: Option<Timestamp>,
}

/// A VRF that the registry gives a way out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Egress {
    /// Tenant.
    pub tenant: String,
    /// VRF device.
    pub vrf: String,
}
