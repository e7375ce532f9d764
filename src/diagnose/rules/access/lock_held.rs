//! Somebody else is changing the same thing.

use super::super::{Out, Rule};
use crate::backends::proxmox::Error;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::guests::Power;
use crate::diagnose::facts::journal::Open;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "lock-held",
    layer: Layer::Access,
    severity: Severity::Warning,
    says: "Somebody else holds the lock: the SDN lock, which has no owner and no end, the lock of one VM, or a file that is \
           busy for the moment. Nothing is broken, and nothing is to be forced before one knows whose it is.",
    reads: "refusals that name a lock, and the lock that a guest's state shows",
    unlike: &[
        ("no-quorum", "the lock cannot be had since the cluster has no majority"),
        ("privilege-missing", "the refusal names a privilege (403)"),
    ],
    explains: &[],
    judge,
};

/// The SDN lock: which requests were refused for it, and whether each carried a token. The words of the refusal are the same.
fn sdn(facts: &Facts, out: &mut Out<'_>) {
    let refused = facts.calls.of(Api::Proxmox).filter(|call| matches!(call.proxmox(), Some(Error::SdnLocked { .. })));
    let refused: Vec<_> = refused.collect();
    if refused.is_empty() {
        return;
    }
    let stale = refused.iter().any(|call| call.form().contains_key("lock-token"));
    let title = if stale {
        "The SDN configuration is locked, and not by the lock that a request named."
    } else {
        "The SDN configuration is locked, and this session does not hold the lock."
    };
    let mut finding = out
        .finding(Subject::new("source", "SDN"), title)
        .fact("lock.held", "SDN", "sdn")
        .next("find-lock-holder", 0, "look at the running tasks: whose change is under way?")
        .next("wait-for-lock", 0, "wait for it to end, then try once more")
        .next(
            "free-lock",
            3,
            "or free the lock by force, when its holder is known to be gone: a change that still runs is cut in half",
        );
    // Proxmox does not tell; the console's own journal tells of the changes that were made from here.
    let held = |change: &&Open| change.lock.is_some() && change.certain;
    finding = match facts.changes.iter().flat_map(|read| &read.open).find(held) {
        Some(change) => {
            let cause = ("change-unfinished", Subject::new("name", &change.id));
            finding.fact("lock.holder", "SDN", &change.id).caused_by(Some(cause))
        }
        None => finding.not_tested("who holds it and since when: the answer does not say"),
    };
    for (number, call) in (1..).zip(&refused) {
        let token = if call.form().contains_key("lock-token") { "not the current one" } else { "none" };
        finding =
            finding.fact("request.lock-token", format!("{} #{number}", call.words()), token).resting_on(&call.file);
    }
    out.found(finding);
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    sdn(facts, out);
    for call in facts.calls.of(Api::Proxmox) {
        let Some(error) = call.proxmox() else { continue };
        let (kind, name, lock) = match error {
            Error::VmLocked { lock } => ("workload", call.http.segment(3).to_owned(), lock.clone()),
            Error::Busy { lock, .. } => ("source", lock.clone(), lock.clone()),
            _ => continue,
        };
        let finding = out
            .finding(Subject::new(kind, &name), format!("{name} is locked ({lock}) by somebody else."))
            .fact("lock.held", &name, &lock)
            .resting_on(&call.file)
            .next("find-lock-holder", 0, "look at the running tasks: whose change is under way?")
            .next("wait-for-lock", 0, "wait for it to end, then try once more");
        out.found(finding);
    }
    // What the guest's own state shows. A suspended guest is held by nobody.
    let held = |power: &Power| power.lock.clone().filter(|lock| lock != "suspended");
    for (vmid, power) in &facts.guests.power {
        let Some(lock) = held(power) else { continue };
        let name = facts.guests.config.get(vmid).and_then(|config| config.name.clone());
        let finding = out
            .finding(Subject::new("workload", vmid), format!("Guest {vmid} is locked ({lock})."))
            .fact("lock.held", vmid, &lock)
            .affects([vmid])
            .affects(name)
            .from(power)
            .next("find-lock-holder", 0, "look at the running tasks: whose change is under way?")
            .next("wait-for-lock", 0, "wait for it to end; nothing else can be done to the guest until then");
        out.found(finding);
    }
}
