//! The guest has no agent device.

use super::super::{Out, Rule};
use super::{agents, called, reached};
use crate::backends::proxmox::model::AgentState;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "agent-option-off",
    layer: Layer::Workload,
    severity: Severity::Fault,
    says: "The guest's configuration has no agent device, so no agent can ever answer: waiting is pointless. The device \
           appears with a full stop and start, not with a reboot inside the guest.",
    reads: "what Proxmox VE says to a question for the agent",
    unlike: &[
        ("workload-stopped", "the guest is not running"),
        ("agent-silent", "the option is on and the agent does not answer"),
        ("privilege-missing", "the question was refused (403)"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for (vmid, call) in agents(facts, AgentState::NotConfigured) {
        let finding = out
            .finding(Subject::new("workload", vmid), format!("Guest {} has its agent option off.", called(facts, vmid)))
            .fact("agent.option", vmid, "off")
            .affects(reached(facts, vmid))
            .resting_on(&call.file)
            .next("enable-agent", 2, format!("set agent=1 on {vmid}, then stop and start it"))
            .not_tested("whether the guest has an agent installed");
        out.found(finding);
    }
}
