//! A workload does not answer for its address, while its way out is good.

use std::net::{IpAddr, Ipv4Addr};

use super::super::exits::{Exit, Tenant, exits};
use super::super::{Out, Rule};
use crate::diagnose::facts::cluster::Listed;
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "workload-down",
    layer: Layer::Workload,
    severity: Severity::Fault,
    says: "Nobody answers for a workload's address on its VNet, asked from the node itself. Whatever else is wrong, it starts \
           there. Without a program for such a question, the node's own last try tells, of guests that Proxmox VE lists.",
    reads: "address probes on VNets, neighbours, guests as the cluster lists them, the site file",
    unlike: &[
        ("tenant-forwarding-off", "the workload answers its gateway"),
        ("workload-stopped", "the guest is not running, and answers nobody for that reason"),
    ],
    explains: &[],
    judge,
};

/// States of a neighbour that answered.
const THERE: [&str; 3] = ["REACHABLE", "PERMANENT", "DELAY"];

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for exit in exits(facts) {
        for probe in &exit.node.arpings {
            let (dev, IpAddr::V4(ip), answered) = &probe.value else { continue };
            let Some(tenant) = on(&exit, dev, *ip) else { continue };
            let again = exit.node.arpings.iter().any(|p| p.1 == IpAddr::V4(*ip) && p.2);
            if *answered || again {
                out.pass(Subject::new("workload", ip.to_string()));
                continue;
            }
            let states = exit.node.neighbours.get(&(dev.clone(), IpAddr::V4(*ip))).and_then(|samples| samples.last());
            if states.is_some_and(|states| states.iter().any(|s| THERE.contains(&s.as_str()))) {
                continue;
            }
            let finding = finding(facts, &exit, tenant, (dev, *ip), out)
                .fact("probe.answered", exit.at(ip), "no")
                .from(probe)
                .not_tested("whether a guest with that address exists and runs");
            out.found(finding);
        }
        for (dev, ip, tenant) in failed(&exit) {
            let probed = exit.node.arpings.iter().any(|probe| probe.1 == IpAddr::V4(ip));
            if probed || guest(facts, ip).is_none() {
                continue;
            }
            let mut finding = finding(facts, &exit, tenant, (dev, ip), out).not_tested("whether it answers by now");
            finding.severity = Severity::Warning;
            out.found(finding);
        }
    }
}

fn on<'t>(exit: &'t Exit<'_>, dev: &str, ip: Ipv4Addr) -> Option<&'t Tenant<'t>> {
    exit.tenants.iter().find(|tenant| tenant.has_device(dev) && tenant.has(ip))
}

/// Addresses on VNets that the node asked for in vain, in each of its readings.
fn failed<'t>(exit: &'t Exit<'_>) -> Vec<(&'t str, Ipv4Addr, &'t Tenant<'t>)> {
    let silent = |samples: &[Sourced<Vec<String>>]| {
        samples.len() > 1 && samples.iter().all(|states| states.iter().any(|state| state == "FAILED"))
    };
    let of = |((dev, ip), samples): (&'t (String, IpAddr), &'t Vec<Sourced<Vec<String>>>)| match ip {
        IpAddr::V4(ip) if silent(samples) => Some((dev.as_str(), *ip, on(exit, dev, *ip)?)),
        _ => None,
    };
    exit.node.neighbours.iter().filter_map(of).collect()
}

/// Whether something asked for `vmid`'s address on its VNet, in vain.
pub(in crate::diagnose::rules) fn asked_in_vain(facts: &Facts, vmid: &str) -> bool {
    let own = |ip| guest(facts, ip).is_some_and(|guest| guest.vmid.to_string() == vmid);
    exits(facts).iter().any(|exit| failed(exit).iter().any(|(_, ip, _)| own(*ip)))
}

/// The guest that has `ip` by its number.
fn guest(facts: &Facts, ip: Ipv4Addr) -> Option<&Listed> {
    let numbering = &facts.site.as_ref()?.value.numbering;
    let address = |guest: &&Listed| {
        let (index, ordinal) = numbering.index_of_vmid(u32::try_from(guest.vmid).ok()?)?;
        numbering.workload_address(index, ordinal)
    };
    facts.cluster.guests.as_ref()?.value.iter().find(|guest| address(guest) == Some(ip))
}

fn finding(facts: &Facts, exit: &Exit<'_>, tenant: &Tenant<'_>, (dev, ip): (&str, Ipv4Addr), out: &Out<'_>) -> Finding {
    let title = format!("Nobody answers for {ip} on {dev}, tenant {}.", tenant.zone);
    let mut finding = out.finding(Subject::new("workload", ip.to_string()), title).affects([tenant.zone]).next(
        "look-at-guest",
        0,
        "look at the guest's console and network card",
    );
    let states = exit.node.neighbours.get(&(dev.to_owned(), IpAddr::V4(ip))).and_then(|samples| samples.last());
    if let Some(states) = states {
        finding = finding.fact("neighbour", exit.at(ip), states.join(" ")).from(states);
    }
    if let (Some(guest), Some(listed)) = (guest(facts, ip), &facts.cluster.guests) {
        let name = guest.name.clone().unwrap_or_default();
        finding = finding
            .fact("workload.state", guest.vmid.to_string(), &guest.status)
            .affects([guest.vmid.to_string()])
            .affects((!name.is_empty()).then_some(name))
            .from(listed);
    }
    finding
}
