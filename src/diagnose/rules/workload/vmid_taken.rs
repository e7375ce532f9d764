//! The number that a guest was to get is another's.

use super::super::{Out, Rule};
use super::provisioning::{creations, listed};
use crate::backends::proxmox::Error;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "vmid-taken",
    layer: Layer::Workload,
    severity: Severity::Fault,
    says: "A guest could not be made since its number was taken in between: the next free number is a proposal and held for \
           nobody. \"Already exists\" is no success here: what is there is another's, and nothing of it is to be touched.",
    reads: "the refusal and the number that was sent, the guest that the cluster lists under it",
    unlike: &[
        ("vmid-other-cluster", "the number was asked of another cluster"),
        ("answer-lost", "an earlier request of one's own made it"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for (call, number, name) in creations(facts) {
        if !matches!(call.proxmox(), Some(Error::Exists { .. })) {
            continue;
        }
        let Some(vmid) = number else {
            out.unknown("the number that was sent with the request for a guest", None);
            continue;
        };
        let Some(owner) = listed(facts, &vmid) else {
            out.unknown_of(
                [Subject::new("workload", &vmid)],
                format!("whose guest {vmid} is"),
                facts.calls.why(Api::Proxmox, "cluster/resources"),
            );
            continue;
        };
        let Some(theirs) = owner.name.clone().filter(|_| name.is_some()) else {
            out.unknown_of(
                [Subject::new("workload", &vmid)],
                format!("whether guest {vmid} is the one that was asked for: a name is missing"),
                None,
            );
            continue;
        };
        if name.as_deref() == Some(theirs.as_str()) {
            out.unknown_of(
                [Subject::new("workload", &vmid)],
                format!("whether guest {vmid} {theirs} was made by an earlier request"),
                None,
            );
            continue;
        }
        let of = owner.pool.as_deref().map_or_else(String::new, |pool| format!(" of {pool}"));
        let mut finding = out
            .finding(
                Subject::new("workload", &vmid),
                format!("Number {vmid} is {theirs}{of}; the request made nothing."),
            )
            .fact("guest.name", &vmid, &theirs)
            .fact("request.made", &vmid, "nothing")
            .affects(name)
            .resting_on(&call.file)
            .next("take-next-vmid", 1, "send the request again with the next free number");
        if let Some(pool) = &owner.pool {
            finding = finding.fact("guest.pool", &vmid, pool);
        }
        if let Some(all) = &facts.cluster.guests {
            finding = finding.from(all);
        }
        out.found(finding);
    }
}
