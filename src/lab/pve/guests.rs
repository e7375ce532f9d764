//! Changes of machines: which request is whose, and what all of them look at first (facts/proxmox.md §10).

use serde_json::{Value, json};

use super::form::{self, Rule};
use super::jobs::{Job, ms};
use super::{Answer, Call, Done, apply, clone, power, settings};
use crate::lab::acting::Act;
use crate::lab::state::{Guest, World};

/// A machine that a request names.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) node: &'a str,
    pub(super) vmid: &'a str,
    pub(super) number: u32,
}

pub(super) fn route(call: &Call<'_>, method: &str, node: &str, path: &[&str]) -> Option<Done> {
    let (vmid, rest) = path.split_first()?;
    let target = || Target::of(node, vmid);
    Some(match (method, rest) {
        ("POST", ["clone"]) => target().and_then(|target| clone::clone(call, target)),
        ("PUT", ["config"]) => target().and_then(|target| settings::put(call, target)),
        ("POST", ["config"]) => target().and_then(|target| settings::post(call, target)),
        ("PUT", ["resize"]) => target().and_then(|target| settings::resize(call, target)),
        ("PUT", ["cloudinit"]) => target().and_then(|target| regenerate(call, target)),
        ("POST", ["status", "start"]) => target().and_then(|target| power::start(call, target)),
        ("POST", ["status", "stop"]) => target().and_then(|target| power::stop(call, target)),
        ("POST", ["status", "shutdown"]) => target().and_then(|target| power::shutdown(call, target)),
        ("POST", ["status", "reboot"]) => target().and_then(|target| power::reboot(call, target)),
        ("POST", ["status", "reset"]) => target().and_then(|target| power::reset(call, target)),
        ("DELETE", []) => target().and_then(|target| destroy(call, target)),
        _ => return None,
    })
}

impl<'a> Target<'a> {
    fn of(node: &'a str, vmid: &'a str) -> Result<Self, Answer> {
        match Rule::Int(100, 999_999_999).check("vmid", vmid) {
            Ok(()) => Ok(Self { node, vmid, number: vmid.parse().unwrap_or_default() }),
            Err(text) => Err(Answer::parameter(json!({ "vmid": text }))),
        }
    }

    /// Refuses unless the caller holds a privilege on it, and unless its node can be asked.
    pub(super) fn enter(&self, call: &Call<'_>, privilege: &str) -> Result<(), Answer> {
        apply::need(call, &format!("/vms/{}", self.vmid), privilege)?;
        form::agrees(call, &[("node", self.node), ("vmid", self.vmid)])?;
        call.node(self.node).map(|_| ())
    }

    /// Its configuration, or what is said where there is none.
    pub(super) fn guest<'w>(&self, world: &'w World) -> Result<&'w Guest, String> {
        world.guests.get(&self.number).filter(|guest| guest.node == self.node).ok_or_else(|| {
            format!("Configuration file 'nodes/{}/qemu-server/{}.conf' does not exist", self.node, self.vmid)
        })
    }

    /// The same of a machine that nothing locks.
    pub(super) fn unlocked<'w>(&self, world: &'w World) -> Result<&'w Guest, String> {
        let guest = self.guest(world)?;
        match guest.text("lock") {
            Some(lock) => Err(format!("VM is locked ({lock})")),
            None => Ok(guest),
        }
    }
}

/// Refuses while the cluster cannot agree.
pub(super) fn quorum(call: &Call<'_>) -> Result<(), Answer> {
    if call.world.quorate { Ok(()) } else { Err(Answer::failed("cluster not ready - no quorum?")) }
}

/// Changes a machine that is still there.
pub(super) fn with(world: &mut World, vmid: u32, change: impl FnOnce(&mut Guest)) {
    if let Some(guest) = world.guests.get_mut(&vmid) {
        change(guest);
    }
}

/// `PUT cloudinit`: the drive is written anew, of which nothing can be seen here.
fn regenerate(call: &Call<'_>, target: Target<'_>) -> Done {
    target.enter(call, "VM.Config.Cloudinit")?;
    form::check(call, &[])?;
    target.unlocked(call.world).map_err(|text| Answer::failed(&text))?;
    Ok((Value::Null, Act::default()))
}

/// `DELETE /nodes/{node}/qemu/{vmid}`.
fn destroy(call: &Call<'_>, target: Target<'_>) -> Done {
    target.enter(call, "VM.Allocate")?;
    let switches = ["destroy-unreferenced-disks", "purge", "skiplock"].map(|name| (name, Rule::Bool, false));
    form::check(call, &switches)?;
    let guest = target.guest(call.world).map_err(|text| Answer::failed(&text))?;
    quorum(call)?;
    let vmid = target.vmid;
    if guest.text("protection").as_deref() == Some("1") {
        return Err(Answer::failed(&format!("can't remove VM {vmid} - protection mode enabled")));
    }
    if guest.started.is_some() {
        return Err(Answer::failed(&format!("VM {vmid} is running - destroy failed")));
    }
    let mut act = Act::default();
    let job = Job::begin(call, &mut act, target.node, "qmdestroy", vmid);
    let upid = json!(job.upid());
    if let Err(text) = target.unlocked(call.world) {
        job.fails(&mut act, &text);
        return Ok((upid, act));
    }
    let number = target.number;
    act.after(ms::DESTROY, move |world, now| {
        world.guests.remove(&number);
        world.boot.deliveries.remove(&number);
        job.end(world, now, "OK");
    });
    Ok((upid, act))
}
