//! A guest was asked for, and no answer said what came of it.

use super::super::{Out, Rule};
use super::provisioning::{creations, listed};
use crate::backends::proxmox::Error;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::calls::{Call, Failure};
use crate::diagnose::facts::pve::Task;
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "answer-lost",
    layer: Layer::Workload,
    severity: Severity::Warning,
    says: "A request to make a guest ended without an answer of Proxmox VE's own: broken off, timed out, or 596 to 599. That \
           says nothing of what was done: the node may have begun it all the same. The task list and the guest tell, and only \
           they decide whether it is sent again.",
    reads: "how the request ended, tasks of that kind since, the guest that was to be made",
    unlike: &[
        ("node-unreachable", "the node could not even be connected to (595)"),
        ("vmid-taken", "Proxmox VE answered that the number is taken"),
    ],
    explains: &[],
    judge,
};

/// Whether the request may have been carried out although nobody said so.
fn is_open(call: &Call) -> bool {
    match &call.failure {
        Some(Failure::NoAnswer(_)) => true,
        Some(Failure::Proxmox(Error::NodeUnreachable { status, .. })) => *status >= 596,
        _ => false,
    }
}

/// Whether the task is of a list that was asked for from a moment on: of the request, not of any time before it.
fn is_since(facts: &Facts, task: &Sourced<Task>) -> bool {
    let asked = facts.calls.of(Api::Proxmox).find(|call| call.file == task.file);
    asked.is_some_and(|call| call.http.query.contains_key("since"))
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for (call, number, name) in creations(facts).filter(|(call, ..)| is_open(call)) {
        let (Some(vmid), true) = (number, call.http.path.ends_with("/clone")) else {
            out.unknown(format!("what came of {}", call.words()), call.failure.as_ref().map(Failure::words));
            continue;
        };
        let (node, source) = (call.http.segment(1), call.http.segment(3));
        let of = |task: &&Sourced<Task>| task.kind == "qmclone" && task.id == source && task.node == node;
        let tasks: Vec<&Sourced<Task>> = facts.pve.tasks.iter().filter(of).collect();
        let guest = listed(facts, &vmid);
        let ours = guest.and_then(|guest| guest.name.clone()).zip(name).map(|(there, sent)| there == sent);
        let why = |path: &str| facts.calls.why(Api::Proxmox, path);
        let task = match tasks.as_slice() {
            _ if ours == Some(false) => {
                out.unknown_of(
                    [Subject::new("workload", &vmid)],
                    format!("what came of the request for {vmid}: another guest has that number"),
                    None,
                );
                continue;
            }
            [task] => task,
            [] => {
                out.unknown_of(
                    [Subject::new("workload", &vmid)],
                    format!("the task that the request for {vmid} began, if any"),
                    why("nodes/*/tasks"),
                );
                continue;
            }
            several => {
                out.unknown_of(
                    [Subject::new("workload", &vmid)],
                    format!("which of {} clones of {source} was to make {vmid}", several.len()),
                    None,
                );
                continue;
            }
        };
        let done = ours == Some(true) && task.end.is_some() && !task.failed();
        if !done && !is_since(facts, task) {
            out.unknown_of(
                [Subject::new("workload", &vmid)],
                format!("whether the clone of {source} that was read was begun after the request"),
                None,
            );
            continue;
        }
        let (outcome, title) = match task.end.as_deref() {
            None => ("running", format!("The clone to {vmid} was begun and runs; its answer was lost.")),
            Some(_) if task.failed() => {
                ("failed", format!("The clone to {vmid} was begun and failed; its answer was lost."))
            }
            Some(_) if done => ("done", format!("The clone to {vmid} is done; only its answer was lost.")),
            Some(_) => {
                out.unknown_of(
                    [Subject::new("workload", &vmid)],
                    format!("whether guest {vmid} is there"),
                    why("cluster/resources"),
                );
                continue;
            }
        };
        let mut finding = out
            .finding(Subject::new("workload", &vmid), title)
            .fact("request.outcome", &vmid, outcome)
            .fact("task.end", format!("qmclone {source} on {node}"), task.end.as_deref().unwrap_or("runs"))
            .affects([&vmid])
            .resting_on(&call.file)
            .from(task);
        if let Some(all) = &facts.cluster.guests {
            let there = if guest.is_some() { "yes" } else { "not listed" };
            finding = finding.fact("workload.there", &vmid, there).from(all);
        }
        let finding = match outcome {
            "done" => {
                finding.next("continue-with", 1, format!("go on with guest {vmid}: it is the one that was asked for"))
            }
            "running" => finding.next("keep-watching", 0, "wait for the task that runs"),
            _ => finding.next("show-task", 0, "look at the task's log before anything is sent again"),
        };
        out.found(finding);
    }
}
