//! A workload does not answer for its address, while its way out is good.

use std::net::IpAddr;

use super::super::exits::exits;
use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "workload-down",
    layer: Layer::Workload,
    severity: Severity::Fault,
    says: "Nobody answers for a workload's address on its VNet, asked from the node itself. Whatever else is wrong, it starts \
           there.",
    reads: "address probes on VNets, neighbours",
    unlike: &[("tenant-forwarding-off", "the workload answers its gateway")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for exit in exits(facts) {
        for probe in &exit.node.arpings {
            let (dev, IpAddr::V4(ip), answered) = &probe.value else { continue };
            let Some(tenant) = exit.tenants.iter().find(|tenant| tenant.has_device(dev) && tenant.has(*ip)) else {
                continue;
            };
            let again = exit.node.arpings.iter().any(|p| p.1 == IpAddr::V4(*ip) && p.2);
            if *answered || again {
                out.pass(Subject::new("workload", ip.to_string()));
                continue;
            }
            let states = exit.node.neighbours.get(&(dev.clone(), IpAddr::V4(*ip))).and_then(|samples| samples.last());
            if states
                .is_some_and(|states| states.iter().any(|s| ["REACHABLE", "PERMANENT", "DELAY"].contains(&s.as_str())))
            {
                continue;
            }
            let title = format!("Nobody answers for {ip} on {dev}, tenant {}.", tenant.zone);
            let mut finding = out
                .finding(Subject::new("workload", ip.to_string()), title)
                .fact("probe.answered", exit.at(ip), "no")
                .affects([tenant.zone])
                .from(probe)
                .next("look-at-guest", 0, "look at the guest's console and network card")
                .not_tested("whether a guest with that address exists and runs");
            if let Some(states) = states {
                finding = finding.fact("neighbour", exit.at(ip), states.join(" ")).from(states);
            }
            out.found(finding);
        }
    }
}
