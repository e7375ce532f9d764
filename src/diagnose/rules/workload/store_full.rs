//! A store without room.

use super::super::{Out, Rule};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::provisioning::Store;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "store-full",
    layer: Layer::Workload,
    severity: Severity::Fault,
    says: "A store has no room to write in, by its own word: what is available counts, and not what there is in all less what \
           is used. A plan that writes there fails in the middle, whatever room another store has.",
    reads: "what each store says is available, the stores that a plan names, requests that were sent",
    unlike: &[("vm-lock-busy", "a task gave up for another reason")],
    explains: &[],
    judge,
};

/// Stores that a step names: `clone 9000 -> 5012 on local-lvm`, `write snippet snip:snippets/5012.yaml`.
fn names(step: &str, store: &str) -> bool {
    step.split_whitespace()
        .any(|word| word == store || word.strip_prefix(store).is_some_and(|rest| rest.starts_with(':')))
}

/// Words of a step that name a store by their form, `STORE:what`.
fn stores(step: &str) -> impl Iterator<Item = &str> {
    step.split_whitespace().filter_map(|word| word.split_once(':')).map(|(store, _)| store)
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let known = &facts.provisioning.stores;
    for store in known.iter() {
        match store.available.filter(|_| store.active != Some(false)) {
            None => out.unknown(format!("how much room {} on {} has", store.storage, store.node), None),
            Some(0) => {
                let finding = full(facts, store, out).from(store);
                out.found(finding);
            }
            Some(_) => out.pass(Subject::new("storage", &store.storage)),
        }
    }
    let Some(plan) = &facts.provisioning.steps else { return };
    let mut unread: Vec<&str> = plan.value.iter().flat_map(|step| stores(step)).collect();
    unread.retain(|name| !known.iter().any(|store| store.storage == *name));
    for name in unread {
        let why = facts.calls.why(Api::Proxmox, &format!("nodes/*/storage/{name}/status"));
        out.unknown(format!("how much room {name} has"), why);
    }
}

fn full(facts: &Facts, store: &Store, out: &Out<'_>) -> crate::diagnose::finding::Finding {
    let name = &store.storage;
    let mut finding = out
        .finding(Subject::new("storage", name), format!("{name} on {} has no room left.", store.node))
        .fact("storage.available", name, "0 bytes")
        .next("free-space", 2, format!("free space on {name} first"))
        .affects([name]);
    if let Some((used, total)) = store.used.zip(store.total) {
        finding = finding.fact("storage.used-below-total", name, if used < total { "yes" } else { "no" });
    }
    let Some(plan) = &facts.provisioning.steps else { return finding };
    let sent = facts.calls.of(Api::Proxmox).filter(|call| call.writes()).count();
    for (number, step) in plan.value.iter().enumerate().filter(|(_, step)| names(step, name)) {
        finding = finding.fact("plan.needs", name, format!("step {}: {step}", number + 1));
    }
    finding.fact("plan.sent", "requests", if sent == 0 { "none".to_owned() } else { sent.to_string() }).from(plan)
}
