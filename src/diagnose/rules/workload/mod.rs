//! Virtual machines and their agents.

mod agent_option_off;
mod agent_process_lost;
mod agent_silent;
mod answer_lost;
mod checkins;
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
use crate::diagnose::finding::Subject;
use crate::diagnose::scope::tenant_of;

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
    &checkins::REPLAY,
    &checkins::FOREIGN,
    &checkins::FAILED,
    &checkins::EXPIRED,
    &checkins::OTHER,
    &checkins::LATE,
    &checkins::STUCK,
    &checkins::BEHIND,
    &checkins::ALONE,
    &checkins::COLD,
    &checkins::SILENT,
];

/// A guest in words: its name and its number, as far as they were read.
fn called(facts: &Facts, vmid: &str) -> String {
    name(facts, vmid).map_or_else(|| vmid.to_owned(), |name| format!("{name} ({vmid})"))
}

/// Whom something of a guest reaches: itself, by its number, and its tenant. Its name would be the same guest once more.
fn reached<'f>(facts: &'f Facts, vmid: &'f str) -> impl Iterator<Item = &'f str> {
    std::iter::once(vmid).chain(tenant_of(facts, &Subject::new("workload", vmid)))
}

fn name<'f>(facts: &'f Facts, vmid: &str) -> Option<&'f str> {
    let configured = facts.guests.config.get(vmid).and_then(|config| config.name.as_deref());
    configured.or_else(|| {
        let mut listed = facts.cluster.guests.iter().flat_map(|all| all.value.iter());
        listed.find(|guest| guest.vmid.to_string() == vmid)?.name.as_deref()
    })
}

/// A time in its largest whole unit: `40 s`, `3 min`, `5 h`, `9 days`.
fn span(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// Guests whose agent could not be asked, for the reason `state`.
fn agents(facts: &Facts, state: AgentState) -> impl Iterator<Item = (&str, &Call)> {
    let asked = facts.calls.of(Api::Proxmox).filter(|call| call.http.path.contains("/agent/"));
    asked
        .filter(move |call| matches!(call.proxmox(), Some(Error::Agent(said)) if *said == state))
        .map(|call| (call.http.segment(3), call))
}
