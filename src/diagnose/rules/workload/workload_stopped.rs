//! The guest is not running.

use std::collections::BTreeMap;

use super::super::egress::asked_in_vain;
use super::super::{Out, Rule};
use super::{agents, called, name, reached};
use crate::backends::proxmox::model::AgentState;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "workload-stopped",
    layer: Layer::Workload,
    severity: Severity::Fault,
    says: "The guest is not running, by the word of its own node. Everything that is asked of it fails for that reason. One \
           that is to start with its node is to run, as all that the platform builds; one that is not (`onboot` off) may be \
           stopped on purpose, which is an *info* as long as nothing is asked of it.",
    reads: "the guest's state and its configuration, what Proxmox VE says to a question for its agent, neighbours on its VNet",
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
        let asked = agents(facts, AgentState::VmStopped).any(|(id, _)| id == vmid);
        let config = facts.guests.config.get(vmid);
        let who = called(facts, vmid);
        let title = match config.map(|config| config.onboot) {
            Some(true) => format!("Guest {who} is stopped, and is to start with its node."),
            Some(false) if !asked => format!("Guest {who} is stopped, and is not to start with its node."),
            _ => format!("Guest {who} is stopped."),
        };
        let mut finding = out
            .finding(Subject::new("workload", vmid), title)
            .fact("workload.state", vmid, "stopped")
            .affects(reached(facts, vmid))
            .affects(name(facts, vmid))
            .next("start-workload", 1, format!("start guest {vmid}"));
        if let Some(config) = config {
            finding = finding.fact("workload.onboot", vmid, if config.onboot { "on" } else { "off" }).from(config);
        }
        match config.map(|config| config.onboot) {
            // Something was asked of it, or it is to run.
            _ if asked => {}
            Some(true) => {}
            Some(false) => finding.severity = Severity::Info,
            None => {
                let wanted = asked_in_vain(facts, vmid);
                finding.severity = if wanted { Severity::Warning } else { Severity::Info };
                finding = finding.not_tested("whether it is to run: its configuration was not read");
            }
        }
        for file in files {
            finding = finding.resting_on(file);
        }
        out.found(finding);
    }
}
