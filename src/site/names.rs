//! Names of tenants and workloads, and the names that follow from them (domain.md §3.2).
//!
//! A tenant's name is, letter for letter, its SDN zone id, a DNS label, a TSIG key name and the suffix of its VRF. The
//! rules here are those of all of them together, so that no back end is the first to object.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::model::NumberingPlan;
use super::numbering::VNETS_PER_TENANT;
use super::text::printable;

/// Letters of a tenant's name that its VNet ids start with.
pub const VNET_PREFIX_CHARS: usize = 6;

/// Stems of names that Linux, Proxmox or common software give to devices by appending a number, which is how a VNet id
/// is formed too.
pub const DEVICE_STEMS: &[&str] = &[
    "bond", "br", "docker", "dummy", "eno", "ens", "eth", "gre", "ifb", "lo", "sit", "tap", "team", "tun", "veth",
    "virbr", "vmbr", "wg", "wlan",
];

/// Why a name is no name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a valid {kind} name: {reason}")]
pub struct NameError {
    kind: &'static str,
    text: String,
    reason: String,
    help: &'static str,
}

impl NameError {
    /// What to do about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        self.help
    }
}

/// A tenant's name: 2 to 8 lower-case letters and digits, starting with a letter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TenantName(String);

/// A workload's name: 1 to 20 lower-case letters, digits and dashes, starting with a letter, not ending with a dash.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorkloadName(String);

impl FromStr for TenantName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let reason = if text.is_empty() {
            Some("it is empty".to_owned())
        } else if let Some(c) = text.chars().find(|c| !c.is_ascii_lowercase() && !c.is_ascii_digit()) {
            Some(format!("`{}` is not a lower-case letter or a digit", printable(&c.to_string())))
        } else if !text.starts_with(|c: char| c.is_ascii_lowercase()) {
            Some("it does not start with a letter".to_owned())
        } else {
            match text.len() {
                1 => Some("Proxmox zone ids have at least 2 characters".to_owned()),
                2..=8 => None,
                long => Some(format!("it has {long} characters, and Proxmox zone ids have at most 8")),
            }
        };
        let help = "use 3 to 8 lower-case letters and digits, starting with a letter";
        reason.map_or_else(
            || Ok(Self(text.to_owned())),
            |reason| Err(NameError { kind: "tenant", text: printable(text), reason, help }),
        )
    }
}

impl FromStr for WorkloadName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let allowed = |c: &char| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '-';
        let reason = if text.is_empty() {
            Some("it is empty".to_owned())
        } else if let Some(c) = text.chars().find(|c| !allowed(c)) {
            Some(format!("`{}` is not a lower-case letter, a digit or a dash", printable(&c.to_string())))
        } else if !text.starts_with(|c: char| c.is_ascii_lowercase()) {
            Some("it does not start with a letter".to_owned())
        } else if text.ends_with('-') {
            Some("it ends with a dash".to_owned())
        } else {
            (text.len() > 20).then(|| format!("it has {} characters", text.len()))
        };
        let help = "use 1 to 20 lower-case letters, digits and dashes, a letter first and no dash last";
        reason.map_or_else(
            || Ok(Self(text.to_owned())),
            |reason| Err(NameError { kind: "workload", text: printable(text), reason, help }),
        )
    }
}

impl TryFrom<String> for TenantName {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl From<TenantName> for String {
    fn from(name: TenantName) -> Self {
        name.0
    }
}

impl TryFrom<String> for WorkloadName {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl From<WorkloadName> for String {
    fn from(name: WorkloadName) -> Self {
        name.0
    }
}

/// Whether an update key is a tenant's: of its name, or of its name and a number after it, as rotation makes them. No name of
/// a tenant holds a dash.
#[must_use]
pub fn owns_key(tenant: &str, key: &str) -> bool {
    match key.strip_prefix(tenant) {
        Some("") => true,
        Some(rest) => rest.strip_prefix('-').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())),
        None => false,
    }
}

impl TenantName {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What speaks against giving this name to a *new* tenant, although it is valid: two letters are fine for Proxmox,
    /// but state stores want access keys of three.
    #[must_use]
    pub fn advice_for_new(&self) -> Option<&'static str> {
        (self.0.len() < 3).then_some("use at least 3 characters: the state store may refuse a shorter access key")
    }

    /// What the ids of the tenant's VNets start with: the first six characters.
    #[must_use]
    pub fn vnet_prefix(&self) -> &str {
        self.0.get(..VNET_PREFIX_CHARS).unwrap_or(&self.0)
    }

    /// Id of VNet `i`, which is also its bridge; `None` unless `i` is 0 to 9.
    #[must_use]
    pub fn vnet(&self, i: u32) -> Option<String> {
        (i < VNETS_PER_TENANT).then(|| format!("{}{i}", self.vnet_prefix()))
    }

    /// The names of the devices that Proxmox makes for the tenant's zone.
    #[must_use]
    pub fn devices(&self) -> Devices {
        Devices { vrf: format!("vrf_{self}"), vrf_vxlan: format!("vrfvx_{self}"), vrf_bridge: format!("vrfbr_{self}") }
    }

    /// Forward zone below the site's domain, without trailing dot.
    #[must_use]
    pub fn forward_zone(&self, domain: &str) -> String {
        format!("{self}.{}", domain.trim_end_matches('.'))
    }

    /// Name of the VM of a workload.
    #[must_use]
    pub fn vm(&self, workload: &WorkloadName) -> String {
        format!("{self}-{workload}")
    }

    /// Everything that speaks against a new tenant of this name. `existing` are the tenants' names known from any
    /// source, pending ones included; the name itself among them is not its own rival. `devices` are network devices
    /// that exist on the nodes.
    #[must_use]
    pub fn conflicts<'a>(
        &self,
        plan: &NumberingPlan,
        existing: impl IntoIterator<Item = &'a str>,
        devices: impl IntoIterator<Item = &'a str>,
    ) -> Vec<NameConflict> {
        let mut found = Vec::new();
        if DEVICE_STEMS.contains(&self.as_str()) {
            found.push(NameConflict::DeviceStem { name: self.clone() });
        }
        if plan.reserved_names.contains(&self.0) {
            found.push(NameConflict::Reserved { name: self.clone() });
        }
        for other in existing {
            let prefix = other.get(..VNET_PREFIX_CHARS).unwrap_or(other);
            if other != self.as_str() && prefix == self.vnet_prefix() {
                let (name, other) = (self.clone(), printable(other));
                found.push(NameConflict::Vnet { vnet: format!("{prefix}0"), name, other });
            }
        }
        let vnets: Vec<_> = (0..VNETS_PER_TENANT).filter_map(|i| self.vnet(i)).collect();
        for device in devices.into_iter().filter(|device| vnets.iter().any(|vnet| vnet == device)) {
            found.push(NameConflict::Device { name: self.clone(), device: device.to_owned() });
        }
        found
    }
}

impl WorkloadName {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TenantName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Display for WorkloadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Devices of a tenant's zone on every node that carries it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Devices {
    /// The VRF.
    pub vrf: String,
    /// The VXLAN device of the VRF.
    pub vrf_vxlan: String,
    /// The bridge of the VRF.
    pub vrf_bridge: String,
}

/// Name of the VXLAN device of a VNet.
#[must_use]
pub fn vnet_vxlan(vnet: &str) -> String {
    format!("vxlan_{vnet}")
}

/// Id of a subnet in Proxmox's answers: `<zone>-<ip>-<mask>`.
#[must_use]
pub fn subnet_id(zone: &str, subnet: ipnet::Ipv4Net) -> String {
    format!("{zone}-{}-{}", subnet.network(), subnet.prefix_len())
}

/// Tenant and workload of a VM's name; `None` when it has not the form `<tenant>-<workload>`.
#[must_use]
pub fn split_vm_name(vm: &str) -> Option<(TenantName, WorkloadName)> {
    let (tenant, workload) = vm.split_once('-')?;
    Some((tenant.parse().ok()?, workload.parse().ok()?))
}

/// Why a valid name cannot be given to a new tenant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameConflict {
    /// Its VNets would be called like devices of the operating system.
    #[error("the VNets of a tenant {name} would be called like network devices ({name}0)")]
    DeviceStem {
        /// The name.
        name: TenantName,
    },
    /// The site says so.
    #[error("{name} is a name of the site itself: a zone of that name would hide it")]
    Reserved {
        /// The name.
        name: TenantName,
    },
    /// Another tenant's name starts with the same six characters.
    #[error("{name} and {other} both want the VNet id {vnet}")]
    Vnet {
        /// The name.
        name: TenantName,
        /// Who has the VNet id.
        other: String,
        /// The id both would have.
        vnet: String,
    },
    /// A device of the name of one of its VNets exists.
    #[error("a network device {device} exists, which a VNet of {name} would be called")]
    Device {
        /// The name.
        name: TenantName,
        /// The device.
        device: String,
    },
}

impl NameConflict {
    /// What to do about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Vnet { .. } => "choose a name that differs within its first six characters",
            Self::Reserved { .. } => "choose another name; the list is reserved_names in [numbering] of the site file",
            Self::DeviceStem { .. } | Self::Device { .. } => "choose another name",
        }
    }
}
