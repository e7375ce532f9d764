//! Workloads: the VMs of tenants.

use std::net::Ipv4Addr;
use std::sync::Arc;

use jiff::Timestamp;

use super::{Class, FieldDiff, Mark, WorkloadNames};
use crate::inventory::source::Seen;

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
    pub status: Arc<str>,
    /// Class of the status.
    pub class: Class,
    /// Lock.
    pub lock: Option<Arc<str>>,
    /// Derived address.
    pub derived_address: Option<Ipv4Addr>,
    /// Configured address (`ipconfig0`).
    pub address: Seen<Option<Arc<str>>>,
    /// MAC of net0.
    pub mac: Seen<Option<Arc<str>>>,
    /// Bridge of net0.
    pub bridge: Seen<Option<Arc<str>>>,
    /// Cloud-init resolver.
    pub nameserver: Seen<Option<Arc<str>>>,
    /// SMBIOS UUID: the instance.
    pub uuid: Seen<Option<Arc<str>>>,
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
    /// Its names at the authority.
    pub names: WorkloadNames,
    /// How far its configuration came.
    pub checkin: Seen<Mark>,
}

impl Workload {
    /// The address it has: the configured one, the derived one where its configuration says none.
    ///
    /// # Errors
    /// Why its configuration is not known.
    pub fn own_address(&self) -> Seen<Option<Ipv4Addr>> {
        let configured = self.address.as_ref().map_err(Clone::clone)?.as_deref();
        Ok(configured.and_then(|text| text.split('/').next()?.parse().ok()).or(self.derived_address))
    }
}
