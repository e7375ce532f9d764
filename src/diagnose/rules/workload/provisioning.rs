//! What rules about making and changing guests share.

use crate::backends::proxmox::Error;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::Sourced;
use crate::diagnose::facts::calls::Call;
use crate::diagnose::facts::cluster::Listed;
use crate::diagnose::facts::pve::Task;

/// Requests to make a guest: a clone, or a new one. Each with the number and the name that were sent.
pub fn creations(facts: &Facts) -> impl Iterator<Item = (&Call, Option<String>, Option<String>)> {
    let makes = |call: &&Call| {
        call.http.method == "POST"
            && (call.http.asks(Api::Proxmox, "nodes/*/qemu/*/clone") || call.http.asks(Api::Proxmox, "nodes/*/qemu"))
    };
    facts.calls.of(Api::Proxmox).filter(makes).map(|call| {
        let form = call.form();
        let number = form.get("newid").or_else(|| form.get("vmid")).cloned();
        (call, number, form.get("name").cloned())
    })
}

/// Requests to change a guest's settings.
pub fn settings(facts: &Facts) -> impl Iterator<Item = &Call> {
    let sets = |call: &&Call| call.writes() && call.http.asks(Api::Proxmox, "nodes/*/qemu/*/config");
    facts.calls.of(Api::Proxmox).filter(sets)
}

/// A guest as the cluster lists it.
pub fn listed<'a>(facts: &'a Facts, vmid: &str) -> Option<&'a Listed> {
    facts.cluster.guests.as_ref()?.value.iter().find(|guest| guest.vmid.to_string() == vmid)
}

/// Tasks of guests that were asked for by themselves: somebody waited for them.
pub fn awaited(facts: &Facts) -> impl Iterator<Item = &Sourced<Task>> {
    facts.pve.tasks.iter().filter(|task| task.asked && task.kind.starts_with("qm"))
}

/// Whether a guest is there, by what was read of it: `None` where nothing tells.
pub fn there<'a>(facts: &'a Facts, vmid: &str) -> Option<(bool, &'a str)> {
    if let Some(power) = facts.guests.power.get(vmid) {
        return Some((true, &power.file));
    }
    let of = |call: &&Call| call.http.method == "GET" && call.http.path.starts_with("nodes/");
    let absent = facts.calls.of(Api::Proxmox).filter(of).find(|call| {
        call.http.path.contains(&format!("/qemu/{vmid}/")) && matches!(call.proxmox(), Some(Error::Absent { .. }))
    });
    absent.map(|call| (false, &*call.file))
}
