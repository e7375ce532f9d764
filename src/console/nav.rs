//! Where things are: what an object is called, whose it is, and which screen deals with it.

use std::sync::Arc;

use crate::inventory::{Inventory, ObjectId};

/// The tenant an object belongs to.
#[must_use]
pub fn tenant_of(inv: &Inventory, id: &ObjectId) -> Option<Arc<str>> {
    match id {
        ObjectId::Tenant(t) | ObjectId::Vrf(t, _) | ObjectId::VrfFact(t, _, _) => Some(Arc::clone(t)),
        ObjectId::Vnet(v) => inv.vnets.iter().find(|row| row.vnet == *v)?.tenant.clone(),
        ObjectId::Workload(vmid) => Some(Arc::clone(&inv.workloads.iter().find(|w| w.vmid == *vmid)?.tenant)),
        ObjectId::Pending(kind, id) => {
            let pending = inv.fabric.pending.as_ref().ok()?;
            pending.iter().find(|p| p.kind == *kind && p.id == *id)?.tenant.clone()
        }
        _ => None,
    }
}
