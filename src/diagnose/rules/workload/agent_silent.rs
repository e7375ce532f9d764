//! The agent is configured and does not answer.

use super::super::{Out, Rule};
use super::{agents, called, reached, span};
use crate::backends::proxmox::model::AgentState;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "agent-silent",
    layer: Layer::Workload,
    severity: Severity::Fault,
    says: "The guest runs and its agent option is on, but nobody answers: it is still booting, or the agent is not installed \
           or not started. How long ago it was started tells which is likelier.",
    reads: "what Proxmox VE says to a question for the agent, the guest's configuration and its uptime",
    unlike: &[
        ("agent-option-off", "there is no agent device: no wait helps"),
        ("workload-stopped", "the guest is not running"),
        ("privilege-missing", "the question was refused (403)"),
    ],
    explains: &[],
    judge,
};

/// Seconds after its start within which a guest may still be booting.
const BOOT: u64 = 180;

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for (vmid, call) in agents(facts, AgentState::NotRunning) {
        let power = facts.guests.power.get(vmid);
        let uptime = power.and_then(|power| power.uptime);
        let since = uptime.map_or_else(String::new, |s| format!(", {} after its start", span(s)));
        let who = called(facts, vmid);
        let mut finding = out
            .finding(Subject::new("workload", vmid), format!("The agent of guest {who} does not answer{since}."))
            // Proxmox VE says so only of a guest that runs with the option on.
            .fact("agent.option", vmid, "on")
            .fact("agent.answers", vmid, "no")
            .affects(reached(facts, vmid))
            .resting_on(&call.file);
        if let Some(config) = facts.guests.config.get(vmid) {
            finding = finding.from(config);
        }
        match (power, uptime) {
            (Some(power), Some(seconds)) => {
                finding = finding.fact("workload.uptime", vmid, span(seconds)).from(power);
            }
            _ => out.unknown_of(
                [Subject::new("workload", vmid)],
                format!("how long guest {vmid} has been up"),
                facts.calls.why(Api::Proxmox, "nodes/*/qemu/*/status/current"),
            ),
        }
        let wait = if uptime.is_none_or(|s| s < BOOT) { "wait for the boot to end, then" } else { "do not wait:" };
        let finding = finding.next(
            "wait-for-agent",
            0,
            format!("{wait} check that the image of {vmid} has the agent's package and starts it"),
        );
        out.found(finding);
    }
    // Configured and running, and nobody asked.
    for (vmid, config) in facts.guests.config.iter().filter(|(_, config)| config.agent) {
        let running = facts.guests.power.get(vmid).is_some_and(|p| p.status == "running");
        let asked = facts.calls.of(Api::Proxmox).any(|c| c.http.path.contains("/agent/") && c.http.segment(3) == vmid);
        if running && !asked {
            let name = config.name.as_deref().unwrap_or(vmid);
            out.unknown_of([Subject::new("workload", vmid)], format!("whether the agent of {name} answers"), None);
        }
    }
}
