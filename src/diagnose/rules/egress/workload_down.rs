//! A workload does not answer for its address, while its way out is good.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use super::super::exits::{Exit, Tenant, exits};
use super::super::{Out, Rule};
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "workload-down",
    layer: Layer::Workload,
    severity: Severity::Fault,
    says: "Nobody answers for a workload's address on its VNet, asked from the node itself. Whatever else is wrong, it starts \
           there.",
    reads: "address probes on VNets, pings of workloads from their VRF, neighbours",
    unlike: &[
        ("tenant-forwarding-off", "the workload answers its gateway"),
        ("workload-stopped", "the machine is off, and nobody is looked for"),
    ],
    explains: &[],
    judge,
};

/// What probes of one address came to.
struct Looked<'a> {
    dev: &'a str,
    /// It was asked for itself, not pinged: silence is an answer.
    by_address: bool,
    answered: bool,
    sources: Vec<Sourced<()>>,
}

/// States of a neighbour that was asked for and did not answer.
const SILENT: [&str; 2] = ["FAILED", "INCOMPLETE"];
/// Of one that has answered within the half minute.
const ANSWERED: [&str; 2] = ["REACHABLE", "PERMANENT"];

/// Every address of `tenant` that was looked for: by itself on a VNet, or by a ping from the VRF.
fn looked<'a>(exit: &Exit<'a>, tenant: &Tenant<'a>) -> BTreeMap<Ipv4Addr, Looked<'a>> {
    let mut all: BTreeMap<Ipv4Addr, Looked<'a>> = BTreeMap::new();
    let mut add = |ip, dev, by_address: bool, answered: bool, file: &std::sync::Arc<str>| {
        let one = all.entry(ip).or_insert(Looked { dev, by_address, answered, sources: Vec::new() });
        one.by_address |= by_address;
        one.answered |= answered;
        one.sources.push(Sourced { value: (), file: std::sync::Arc::clone(file) });
    };
    for probe in &exit.node.arpings {
        let (dev, ip, answered) = &probe.value;
        if let IpAddr::V4(ip) = ip
            && tenant.has_device(dev)
            && tenant.has(*ip)
        {
            add(*ip, dev.as_str(), true, *answered, &probe.file);
        }
    }
    let pinged = exit.node.pings.iter().filter(|p| p.vrf.as_deref() == Some(tenant.vrf.as_str()) && p.sent > 0);
    for ping in pinged.filter(|p| exit.node.owns(p.dst) == Some(false)) {
        if let Some((subnet, _)) = tenant.subnets.iter().find(|(_, net)| net.contains(&ping.dst)) {
            add(ping.dst, subnet.vnet.as_str(), false, ping.received > 0, &ping.file);
        }
    }
    all
}

/// Why a workload of `tenant` that was to be looked for was not.
fn not_looked(exit: &Exit<'_>, tenant: &Tenant<'_>) -> Option<String> {
    let of_tenant = |what: &str| {
        let ip = what.split_whitespace().last().and_then(|word| word.parse::<Ipv4Addr>().ok());
        what.contains(&tenant.vrf) && ip.is_some_and(|ip| tenant.has(ip))
    };
    let pings = exit.node.unread.iter().find(|unread| unread.what.contains("ping") && of_tenant(&unread.what));
    let round = exit.node.unread.iter().find(|unread| unread.what.starts_with("deevnet-exit-node probe path"));
    pings.or(round).map(|unread| format!("{}: {}", unread.what, unread.why))
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for exit in exits(facts) {
        for tenant in &exit.tenants {
            for (ip, looked) in looked(&exit, tenant) {
                one(&exit, tenant, ip, &looked, out);
            }
            if let Some(why) = not_looked(&exit, tenant) {
                out.unknown(format!("whether workloads of {} answer on {}", tenant.zone, exit.name), Some(why));
            }
        }
    }
}

fn one(exit: &Exit<'_>, tenant: &Tenant<'_>, ip: Ipv4Addr, looked: &Looked<'_>, out: &mut Out<'_>) {
    let subject = Subject::new("workload", ip.to_string());
    let states = exit.node.neighbours.get(&(looked.dev.to_owned(), IpAddr::V4(ip))).and_then(|samples| samples.last());
    let is = |of: &[&str]| states.is_some_and(|states| states.iter().any(|state| of.contains(&state.as_str())));
    if looked.answered || is(&ANSWERED) {
        out.pass(subject);
        return;
    }
    if !is(&SILENT) && (!looked.by_address || is(&["DELAY"])) {
        // A ping alone may be filtered by the guest, or lost to a full table before anybody was asked.
        let why = states.map(|states| format!("no ping was answered, and its neighbour entry is {}", states.join(" ")));
        out.unknown(format!("whether {ip} answers on {} of {}", looked.dev, exit.name), why);
        return;
    }
    let title = format!("Nobody answers for {ip} on {}, tenant {}.", looked.dev, tenant.zone);
    let mut finding = out
        .finding(subject, title)
        .fact("probe.answered", exit.at(ip), "no")
        .affects([tenant.zone])
        .next("look-at-guest", 0, "look at the guest's console and network card")
        .not_tested("whether a guest with that address exists and runs");
    for source in &looked.sources {
        finding = finding.from(source);
    }
    if let Some(states) = states {
        finding = finding.fact("neighbour", exit.at(ip), states.join(" ")).from(states);
    }
    out.found(finding);
}
