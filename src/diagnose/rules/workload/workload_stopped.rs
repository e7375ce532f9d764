//! The guest is not running.

use std::collections::BTreeMap;

use super::super::egress::asked_in_vain;
use super::super::{Out, Rule};
use super::agents;
use crate::backends::proxmox::model::AgentState;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "workload-stopped",
    layer: Layer::Workload,
    severity: Severity::Fault,
    says: "The guest is not running, by the word of its own node. Everything that is asked of it fails for that reason.",
    reads: "the guest's state, what Proxmox VE says to a question for its agent, neighbours on its VNet",
    unlike: &[
        ("node-unreachable", "its node does not answer: the state is unknown, not stopped"),
        ("agent-silent", "it runs, and only the agent does not answer"),
    ],
    explains: &["agent-silent", "agent-process-lost", "workload-down"],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let mut stopped: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (vmid, call) in agents(facts, AgentState::VmStopped) {
        stopped.entry(vmid).or_default().push(&call.file);
    }
    for (vmid, power) in &facts.guests.power {
        match power.status.as_str() {
            "stopped" => stopped.entry(vmid).or_default().push(&power.file),
            "running" => out.pass(Subject::new("workload", vmid)),
            _ => {}
        }
    }
    for (vmid, files) in stopped {
        let name = facts.guests.config.get(vmid).and_then(|c| c.name.clone());
        let asked = agents(facts, AgentState::VmStopped).any(|(id, _)| id == vmid);
        let mut finding = out
            .finding(Subject::new("workload", vmid), format!("Guest {vmid} is stopped."))
            .fact("workload.state", vmid, "stopped")
            .affects([vmid])
            .affects(name)
            .next("start-workload", 1, format!("start guest {vmid}"));
        // That alone may be meant; it is a fault where something was asked of the guest.
        if !asked {
            let wanted = asked_in_vain(facts, vmid);
            finding.severity = if wanted { Severity::Warning } else { Severity::Info };
        }
        for file in files {
            finding = finding.resting_on(file);
        }
        out.found(finding);
    }
}
