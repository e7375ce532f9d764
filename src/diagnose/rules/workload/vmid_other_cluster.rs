//! A number that was asked of another cluster than the one the guest is to be made on.

use super::super::{Out, Rule};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "vmid-other-cluster",
    layer: Layer::Workload,
    severity: Severity::Fault,
    says: "A plan takes a free number from one cluster and makes the guest on another, where that number says nothing: it may \
           be somebody's. Nothing is to be sent; the right cluster is to be asked.",
    reads: "the plan, which cluster answered with the number, the guests of the cluster it is to be made on",
    unlike: &[("vmid-taken", "the right cluster was asked, and somebody was quicker")],
    explains: &[],
    judge,
};

/// The cluster of a place `cluster/node`.
fn cluster(from: &str) -> &str {
    from.split('/').next().unwrap_or(from)
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for plan in facts.provisioning.numbered.iter() {
        let (on, vmid, asked) = (&plan.on, &plan.vmid, &plan.asked);
        if on == asked {
            out.pass(Subject::new("workload", vmid));
            continue;
        }
        let mut finding = out
            .finding(
                Subject::new("workload", vmid),
                format!("Number {vmid} was asked of {asked}, and the guest is to be made on {on}."),
            )
            .fact("vmid.asked-of", vmid, asked)
            .fact("guest.to-be-on", vmid, on)
            .affects([on])
            .from(plan)
            .next("ask-target-cluster", 0, format!("ask {on} for a free number"));
        let answer = facts.provisioning.numbers.iter().find(|n| n.vmid == *vmid && cluster(&n.from) == asked);
        if let Some(answer) = answer {
            finding = finding.from(answer);
        }
        let there =
            facts.cluster.guests.as_ref().filter(|all| all.value.iter().any(|guest| cluster(&guest.from) == on));
        match there {
            Some(all) => {
                let taken = all.value.iter().find(|guest| guest.vmid.to_string() == *vmid);
                let name = taken.map_or("nobody's", |guest| guest.name.as_deref().unwrap_or("a guest without a name"));
                finding = finding.fact("guest.name", format!("{on}/{vmid}"), name).from(all);
            }
            None => {
                let why = facts.calls.why(Api::Proxmox, "cluster/resources");
                out.unknown_of([Subject::new("workload", vmid)], format!("whether {on} has a guest {vmid}"), why);
            }
        }
        out.found(finding);
    }
}
