//! The plans that operators ask for: what a tenant, a workload, a name or the fabric needs, as ordered steps. A file each.
//!
//! Numbers and names come from the site alone; what has to be chosen by looking (a VMID, a template, an index) is chosen
//! here, before the plan is shown, and is part of it from then on.

pub mod delete;
pub mod egress;
pub mod forward;
pub mod names;
pub mod network;
pub mod onboard;
pub mod record;
pub mod sdn;
pub mod table;
pub mod tsig;
pub mod workload;
