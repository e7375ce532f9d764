//! A task gave up since another one held the VM's lock file.

use super::super::{Out, Rule};
use super::provisioning::{awaited, there};
use crate::backends::proxmox::Error;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "vm-lock-busy",
    layer: Layer::Workload,
    severity: Severity::Warning,
    says: "A task ended since another one held the lock file of the same VM or template for longer than it waits, which is \
           ten seconds. Nothing is broken and nothing was made: the same request works when that task has ended.",
    reads: "how the task ended, the tasks that run on the same VM, whether what it was to make is there",
    unlike: &[
        ("lock-held", "the VM's configuration names a lock: backup, migrate, snapshot"),
        ("store-full", "the task ended for want of room"),
    ],
    explains: &[],
    judge,
};

/// The VM of a lock file that could not be had: `can't lock file '/var/lock/qemu-server/lock-100.conf' - got timeout`.
fn locked(end: &str) -> Option<&str> {
    let file = end.strip_prefix("can't lock file '")?.split('\'').next()?;
    let vmid = file.rsplit('/').next()?.strip_prefix("lock-")?.strip_suffix(".conf")?;
    (end.ends_with("got timeout") && vmid.bytes().all(|b| b.is_ascii_digit())).then_some(vmid)
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for task in awaited(facts) {
        let Some(vmid) = task.end.as_deref().and_then(locked) else { continue };
        let holder = facts.pve.tasks.iter().find(|other| {
            other.end.is_none() && other.id == vmid && other.node == task.node && other.upid != task.upid
        });
        let by = holder.map_or_else(|| "another task".to_owned(), |holder| format!("{} {}", holder.kind, holder.id));
        let mut finding = out
            .finding(
                Subject::new("workload", vmid),
                format!("{} of {vmid} did not begin: {by} held its lock.", task.kind),
            )
            .fact("task.end", format!("{} {}", task.kind, task.id), "lock timeout")
            .affects([vmid])
            .from(task)
            .next(
                "retry-after-task",
                1,
                format!("when {by} has ended, send the same request again, with the same number"),
            );
        match holder {
            Some(holder) => finding = finding.fact("lock.held", vmid, &by).from(holder),
            None => {
                let why = facts.calls.why(Api::Proxmox, "nodes/*/tasks");
                out.unknown_of([Subject::new("workload", vmid)], format!("which task holds the lock of {vmid}"), why);
            }
        }
        // What it was to make: guests that were looked for beside it.
        let asked = facts.calls.of(Api::Proxmox).filter(|call| call.http.path.contains("/qemu/"));
        let mut others: Vec<&str> = asked
            .filter(|call| matches!(call.proxmox(), Some(Error::Absent { .. })))
            .map(|call| call.http.segment(3))
            .filter(|other| *other != vmid)
            .collect();
        others.extend(facts.guests.power.keys().map(String::as_str).filter(|other| *other != vmid));
        others.sort_unstable();
        others.dedup();
        let making = task.kind == "qmclone";
        let mut told = false;
        for other in others.into_iter().filter(|_| making) {
            if let Some((is_there, file)) = there(facts, other) {
                told = true;
                finding = finding.fact("workload.there", other, if is_there { "yes" } else { "no" }).resting_on(file);
            }
        }
        if making && !told {
            out.unknown("whether what the clone was to make is there", None);
        }
        out.found(finding);
    }
}
