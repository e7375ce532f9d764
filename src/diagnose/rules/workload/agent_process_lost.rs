//! A command was started in the guest, and the agent has forgotten it.

use super::super::{Out, Rule};
use super::{called, reached};
use crate::backends::proxmox::Error;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::calls::Failure;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "agent-process-lost",
    layer: Layer::Workload,
    severity: Severity::Fault,
    says: "A command was started by way of the guest agent, and the agent does not know its process any more: it was \
           restarted, for instance upgraded by that very command, or the result was fetched before, which works only once. \
           Whether the command finished, and how, is unknown: neither failed nor done.",
    reads: "the start of the process, the questions for its end, and whether the agent answers anything else",
    unlike: &[("agent-silent", "the agent answers nothing"), ("workload-stopped", "the guest is not running")],
    explains: &[],
    judge,
};

/// Older agents know no such parameter value.
fn forgotten(error: &Error) -> bool {
    match error {
        Error::AgentProcessGone { .. } => true,
        Error::AgentRefused { text } => text.to_ascii_lowercase().contains("invalid parameter 'pid'"),
        _ => false,
    }
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let asked = facts.calls.of(Api::Proxmox).filter(|c| c.http.asks(Api::Proxmox, "nodes/*/qemu/*/agent/exec-status"));
    let mut lost = Vec::new();
    for call in asked.filter(|call| call.proxmox().is_some_and(forgotten)) {
        let vmid = call.http.segment(3);
        let Some(pid) = call.http.query.get("pid") else { continue };
        lost.push((vmid, pid.as_str()));
        let process = facts.guests.processes.iter().find(|p| p.vmid == vmid && p.pid.to_string() == *pid);
        // Its end was told before, and is told once only.
        if process.is_some_and(|p| p.ended.is_some()) {
            out.pass(Subject::new("workload", vmid));
            continue;
        }
        let mut finding = out
            .finding(
                Subject::new("workload", vmid),
                format!(
                    "The agent of {} forgot process {pid}: whether its command finished is unknown.",
                    called(facts, vmid)
                ),
            )
            .fact("process.known", pid, "no")
            .fact("process.outcome", pid, "unknown")
            .affects(reached(facts, vmid))
            .resting_on(&call.file);
        match facts.guests.answering.get(vmid) {
            Some(answers) => finding = finding.fact("agent.answers", vmid, "yes").from(answers),
            None => out.unknown_of(
                [Subject::new("workload", vmid)],
                format!("whether the agent of {vmid} answers"),
                facts.calls.why(Api::Proxmox, "nodes/*/qemu/*/agent/info"),
            ),
        }
        if let Some(process) = process {
            finding = finding.resting_on(&process.file);
        }
        let finding = finding
            .next("verify-by-effect", 0, "look for what the command was to bring about, before anything is run again")
            .not_tested("the effect of the command: a file, a service, a check-in");
        out.unknown_of(
            [Subject::new("workload", vmid)],
            format!("how process {pid} in {vmid} ended"),
            call.failure.as_ref().map(Failure::words),
        );
        out.found(finding);
    }
    for process in facts.guests.processes.iter().filter(|p| p.ended.is_none()) {
        let pid = process.pid.to_string();
        if !lost.contains(&(process.vmid.as_str(), pid.as_str())) {
            out.unknown_of(
                [Subject::new("workload", &process.vmid)],
                format!("how process {pid} in {} ended", process.vmid),
                None,
            );
        }
    }
}
