//! A task did what it was to do, and had something to say.

use super::super::{Out, Rule};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::pve::Log;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "task-warned",
    layer: Layer::Workload,
    severity: Severity::Warning,
    says: "A task on a guest ended with warnings: it did what it was to do, and its log says what is not as it should be. It \
           is neither a failure nor clean.",
    reads: "how the task ended, its log, the guest's state",
    unlike: &[("workload-stopped", "the guest does not run"), ("task-runs-on", "the task has not ended")],
    explains: &[],
    judge,
};

/// A log line that warns, without its mark.
fn warning(line: &str) -> Option<&str> {
    ["WARN: ", "WARNING: ", "warning: "].iter().find_map(|mark| line.trim().strip_prefix(mark))
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let mut seen: Vec<(String, String)> = Vec::new();
    let ends = super::provisioning::awaited(facts)
        .filter_map(|task| Some((&task.kind, &task.id, task.end.as_deref()?.strip_prefix("WARNINGS: ")?, &task.file)));
    // A log ends with the same words.
    let last = |log: &Log| Some(log.lines.last()?.strip_prefix("TASK WARNINGS: ")?.to_owned());
    let logs = facts.pve.logs.iter().filter(|log| log.kind.starts_with("qm"));
    let logs: Vec<_> = logs.filter_map(|log| Some((&log.kind, &log.id, last(log)?, &log.file))).collect();
    let all = ends.chain(logs.iter().map(|(kind, id, n, file)| (*kind, *id, n.as_str(), *file)));
    for (kind, id, number, file) in all {
        let name = (kind.clone(), id.clone());
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        let task = format!("{kind} {id}");
        let mut finding = out
            .finding(Subject::new("workload", id), format!("{task} is done, with {number} warning(s)."))
            .fact("task.end", &task, format!("done, warnings: {number}"))
            .affects([id])
            .resting_on(file)
            .next("show-warning", 0, format!("show the log of {task}"));
        let log = facts.pve.logs.iter().find(|log| log.kind == *kind && log.id == *id);
        let told: Vec<&str> = log.iter().flat_map(|log| &log.lines).filter_map(|line| warning(line)).collect();
        match log {
            Some(log) if !told.is_empty() => {
                finding =
                    told.iter().fold(finding.from(log), |finding, text| finding.fact("task.warning", &task, text));
            }
            _ => out.unknown_of(
                [Subject::new("workload", id)],
                format!("what {task} warns of"),
                facts.calls.why(Api::Proxmox, "nodes/*/tasks/*/log"),
            ),
        }
        match facts.guests.power.get(id) {
            Some(power) => finding = finding.fact("workload.state", id, &power.status).from(power),
            None => {
                let why = facts.calls.why(Api::Proxmox, "nodes/*/qemu/*/status/current");
                out.unknown_of([Subject::new("workload", id)], format!("whether guest {id} runs"), why);
            }
        }
        out.found(finding);
    }
}
