//! The plans that operators ask for: what a tenant, a workload, a name or the fabric needs, as ordered steps. A file each.
//!
//! Numbers and names come from the site alone; what has to be chosen by looking (a VMID, a template, an index) is chosen
//! here, before the plan is shown, and is part of it from then on.

pub mod forward;
pub mod names;
pub mod record;
pub mod tsig;
