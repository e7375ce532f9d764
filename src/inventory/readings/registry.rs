//! What was read of the registry.

use std::sync::Arc;

use jiff::Timestamp;

use crate::backends::registry::{Egress, Tenant};
use crate::inventory::source::Seen;

/// One cycle of reading the registry.
#[derive(Debug, Clone)]
pub struct RegistryReading {
    /// When.
    pub at: Timestamp,
    /// Registered tenants.
    pub tenants: Arc<[Tenant]>,
    /// VRFs that are given a way out.
    pub egress: Seen<Arc<[Egress]>>,
    /// Requests made so far.
    pub requests: u64,
}
