//! Tasks that are begun here: their numbers, their beginning and their end (facts/proxmox.md §9).

use crate::lab::acting::Act;
use crate::lab::state::{Task, World};

use super::Call;

/// Milliseconds that things take by the lab's clock.
pub(super) mod ms {
    /// What fails or ends at once.
    pub(in crate::lab::pve) const SHORT: i64 = 120;
    /// A change of a machine's configuration.
    pub(in crate::lab::pve) const CONFIG: i64 = 250;
    /// A disk that grows.
    pub(in crate::lab::pve) const RESIZE: i64 = 300;
    /// A machine's process that comes or goes.
    pub(in crate::lab::pve) const POWER: i64 = 500;
    /// A system that shuts down.
    pub(in crate::lab::pve) const SHUTDOWN: i64 = 900;
    /// A machine that is removed with its disks.
    pub(in crate::lab::pve) const DESTROY: i64 = 500;
    /// A clone that shares its template's disk.
    pub(in crate::lab::pve) const LINKED: i64 = 500;
    /// A clone with a disk of its own.
    pub(in crate::lab::pve) const FULL: i64 = 1800;
    /// The reload of one node.
    pub(in crate::lab::pve) const RELOAD: i64 = 700;
    /// From a machine's start until its agent answers.
    pub(in crate::lab::pve) const BOOT: i64 = 2500;
    /// From a machine's start until its configuration runs.
    pub(in crate::lab::pve) const CHECK_IN: i64 = 4000;
}

/// A task that runs.
#[derive(Clone)]
pub(super) struct Job {
    upid: String,
}

/// The next number of a task.
fn upid(world: &World, now: i64, node: &str, kind: &str, id: &str, user: &str) -> String {
    let pid = 0x6000 + world.tasks.len();
    let ticks = now.saturating_sub(world.booted).saturating_mul(100).max(0);
    format!("UPID:{node}:{pid:08X}:{ticks:08X}:{now:08X}:{kind}:{id}:{user}:")
}

fn running(upid: &str) -> Task {
    Task { upid: upid.to_owned(), ended: None, status: String::new(), log: Vec::new(), saved: false }
}

impl Job {
    /// Begins a task of the caller at once.
    pub(super) fn begin(call: &Call<'_>, act: &mut Act, node: &str, kind: &str, id: &str) -> Self {
        let upid = upid(call.world, call.now, node, kind, id, call.user);
        let task = running(&upid);
        act.now(move |world, _| world.tasks.push(task.clone()));
        Self { upid }
    }

    /// Its number.
    pub(super) fn upid(&self) -> &str {
        &self.upid
    }

    /// Adds a line to its log.
    pub(super) fn log(&self, world: &mut World, line: &str) {
        if let Some(task) = world.tasks.iter_mut().find(|task| task.upid == self.upid) {
            task.log.push(line.to_owned());
        }
    }

    /// Ends it with a status.
    pub(super) fn end(&self, world: &mut World, now: i64, status: &str) {
        if let Some(task) = world.tasks.iter_mut().find(|task| task.upid == self.upid) {
            end(task, now, status);
        }
    }

    /// Ends it a little later, having done nothing.
    pub(super) fn fails(&self, act: &mut Act, status: &str) {
        self.fails_after(act, ms::SHORT, status);
    }

    /// The same after so many milliseconds.
    pub(super) fn fails_after(&self, act: &mut Act, ms: i64, status: &str) {
        let (job, status) = (self.clone(), status.to_owned());
        act.after(ms, move |world, now| job.end(world, now, &status));
    }
}

fn end(task: &mut Task, now: i64, status: &str) {
    task.ended = Some(now);
    status.clone_into(&mut task.status);
    task.saved = true;
}

/// Begins the reload of a node, which is root's.
pub(super) fn begin_reload(world: &mut World, now: i64, node: &str) {
    let upid = upid(world, now, node, "srvreload", "networking", "root@pam");
    world.tasks.push(running(&upid));
}

/// Ends the youngest reload of a node that runs.
pub(super) fn end_reload(world: &mut World, now: i64, node: &str, log: Vec<String>, status: &str) {
    let own = format!("UPID:{node}:");
    let runs = |task: &&mut Task| {
        task.ended.is_none() && task.upid.starts_with(&own) && task.upid.contains(":srvreload:networking:")
    };
    if let Some(task) = world.tasks.iter_mut().rev().find(runs) {
        task.log = log;
        end(task, now, status);
    }
}
