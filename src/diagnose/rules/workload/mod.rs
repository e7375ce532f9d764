//! Virtual machines and their agents.

mod agent_option_off;
mod agent_process_lost;
mod agent_silent;
mod answer_lost;
mod config_moved;
mod flag_form;
mod no_way_in;
mod provisioning;
mod seed_pending;
mod sshkeys_encoding;
mod store_full;
mod task_runs_on;
mod task_warned;
mod vm_lock_busy;
mod vmid_other_cluster;
mod vmid_reused;
mod vmid_taken;
mod workload_off_plan;
mod workload_stopped;

use super::Rule;
use crate::backends::proxmox::Error;
use crate::backends::proxmox::model::AgentState;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::calls::Call;

/// Rules of this layer: first what no start helps, then those whose faults explain others.
pub(super) static RULES: &[&Rule] = &[
    &agent_option_off::RULE,
    &workload_stopped::RULE,
    &agent_silent::RULE,
    &agent_process_lost::RULE,
    &workload_off_plan::RULE,
    &vmid_reused::RULE,
    &vmid_other_cluster::RULE,
    &vmid_taken::RULE,
    &answer_lost::RULE,
    &vm_lock_busy::RULE,
    &store_full::RULE,
    &config_moved::RULE,
    &flag_form::RULE,
    &no_way_in::RULE,
    &sshkeys_encoding::RULE,
    &seed_pending::RULE,
    &task_runs_on::RULE,
    &task_warned::RULE,
];

/// Guests whose agent could not be asked, for the reason `state`.
fn agents(facts: &Facts, state: AgentState) -> impl Iterator<Item = (&str, &Call)> {
    let asked = facts.calls.of(Api::Proxmox).filter(|call| call.http.path.contains("/agent/"));
    asked
        .filter(move |call| matches!(call.proxmox(), Some(Error::Agent(said)) if *said == state))
        .map(|call| (call.http.segment(3), call))
}
