//! A task that somebody waited for and that has not ended.

use super::super::{Out, Rule};
use super::provisioning::awaited;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "task-runs-on",
    layer: Layer::Workload,
    severity: Severity::Warning,
    says: "A task on a guest has not ended, however long somebody waited for it: it is neither done nor failed. Whether a \
           guest was restarted meanwhile shows in its uptime, which begins anew then; one that went on is the same system.",
    reads: "the state of the task, the guest's uptime as it was read before and after",
    unlike: &[
        ("task-warned", "the task ended"),
        ("vm-lock-busy", "the task waits for another one's lock, and gave up"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for task in awaited(facts) {
        let ended = facts.pve.tasks.iter().any(|other| other.upid == task.upid && other.end.is_some());
        if task.end.is_some() || ended {
            continue;
        }
        let (id, name) = (&task.id, format!("{} {}", task.kind, task.id));
        let finding = out
            .finding(Subject::new("workload", id), format!("{name} still runs: it is neither done nor failed."))
            .fact("task.state", &name, "running")
            .affects([id])
            .from(task)
            .next(
                "keep-watching",
                0,
                format!("go on watching {name}; the console takes it up again later by its number"),
            );
        let finding = if matches!(task.kind.as_str(), "qmreboot" | "qmreset") {
            uptime(facts, id, finding, out)
        } else {
            finding
        };
        out.found(finding);
    }
}

/// Whether the guest is the same system as before.
fn uptime(facts: &Facts, id: &str, finding: Finding, out: &mut Out<'_>) -> Finding {
    let read = facts.guests.uptimes.get(id).map(Vec::as_slice).unwrap_or_default();
    let [before, .., after] = read else {
        let why = facts.calls.why(Api::Proxmox, "nodes/*/qemu/*/status/current");
        out.unknown_of(
            [Subject::new("workload", id)],
            format!("whether guest {id} was restarted: its uptime before and after"),
            why,
        );
        return finding;
    };
    let anew = after.value < before.value;
    let rose = format!("{} → {}", before.value, after.value);
    let finding = finding.fact("workload.uptime", id, rose).from(before).from(after);
    if anew {
        return finding.fact("workload.restarted", id, "yes");
    }
    let watched = after.value - before.value;
    finding.fact("workload.restarted", id, "not yet").fact("task.watched", id, format!("{watched} s"))
}
