//! Settings of cloud-init that are not on the guest's drive yet.

use std::collections::BTreeMap;

use super::super::{Out, Rule};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::provisioning::Waiting;
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "seed-pending",
    layer: Layer::Workload,
    severity: Severity::Warning,
    says: "Settings of cloud-init were changed, and the drive that the guest reads them from still holds the old ones. The \
           configuration shows the new values, the guest has the old ones until the drive is written anew and it boots from it.",
    reads: "the list of cloud-init's settings with what waits, the guest's configuration and its state",
    unlike: &[("workload-off-plan", "the configuration itself is not as the site's numbering has it")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let mut by_guest: BTreeMap<&str, Vec<&Sourced<Waiting>>> = BTreeMap::new();
    for waiting in &facts.provisioning.waiting {
        by_guest.entry(&waiting.vmid).or_default().push(waiting);
    }
    for seed in facts.provisioning.seeds.iter().filter(|seed| !by_guest.contains_key(seed.value.as_str())) {
        out.pass(Subject::new("workload", &seed.value));
    }
    for (vmid, all) in by_guest {
        let keys: Vec<&str> = all.iter().map(|waiting| waiting.key.as_str()).collect();
        let title = format!("Guest {vmid} still has the old {} on its cloud-init drive.", keys.join(", "));
        let mut finding = out
            .finding(Subject::new("workload", vmid), title)
            .affects([vmid])
            .not_tested("what the system in the guest uses now: its agent or its console tells");
        for waiting in all {
            let place = format!("{vmid}/{}", waiting.key);
            let now = waiting.now.as_deref().unwrap_or("set");
            let text = match &waiting.then {
                Some(then) => format!("{now} → {then}"),
                None => "will be removed".to_owned(),
            };
            finding = finding.fact("seed.waits", &place, text).fact("seed.written", &place, "no").from(waiting);
        }
        let running = facts.guests.power.get(vmid).map(|power| power.status == "running");
        finding = finding.next("regenerate-seed", 1, format!("write the cloud-init drive of {vmid} anew"));
        match running {
            Some(true) => {
                let text = format!("then stop {vmid} and start it: a restart from inside keeps the old drive");
                finding = finding.next("stop-start", 2, text);
            }
            Some(false) => finding = finding.next("start-workload", 1, format!("start {vmid}")),
            None => {
                let why = facts.calls.why(Api::Proxmox, "nodes/*/qemu/*/status/current");
                out.unknown_of([Subject::new("workload", vmid)], format!("whether guest {vmid} runs"), why);
            }
        }
        if let Some(config) = facts.guests.config.get(vmid) {
            finding = finding.from(config).affects(config.name.clone());
        }
        out.found(finding);
    }
}
