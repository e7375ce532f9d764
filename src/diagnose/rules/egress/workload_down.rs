//! A workload does not answer for its address, while its way out is good.

use std::collections::BTreeMap;
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
           there. Without such a question the node's own last try tells, of guests that Proxmox VE lists: a *warning*, since \
           that is past. Of a guest that is stopped on purpose nothing is said.",
    reads: "address probes on VNets, pings of workloads from their VRF, neighbours, guests as the cluster lists them, the \
            site file",
    unlike: &[
        ("tenant-forwarding-off", "the workload answers its gateway"),
        ("workload-stopped", "the guest is not running, and answers nobody for that reason"),
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
            let looked = looked(&exit, tenant);
            for (ip, looked) in &looked {
                one(facts, (&exit, tenant), *ip, looked, out);
            }
            if let Some(why) = not_looked(&exit, tenant) {
                out.unknown_of(
                    [Subject::new("zone", tenant.zone)],
                    format!("whether workloads of {} answer on {}", tenant.zone, exit.name),
                    Some(why),
                );
            }
            for (dev, ip) in failed(&exit, tenant) {
                if looked.contains_key(&ip) || guest(facts, ip).is_none_or(|guest| on_purpose(facts, guest)) {
                    continue;
                }
                let mut finding =
                    finding(facts, (&exit, tenant), (dev, ip), out).not_tested("whether it answers by now");
                finding.severity = Severity::Warning;
                out.found(finding);
            }
        }
    }
}

/// Addresses of `tenant` that the node asked for in vain, in each of its readings.
fn failed<'t>(exit: &'t Exit<'_>, tenant: &'t Tenant<'_>) -> Vec<(&'t str, Ipv4Addr)> {
    let silent = |samples: &[Sourced<Vec<String>>]| {
        samples.len() > 1 && samples.iter().all(|states| states.iter().any(|state| state == "FAILED"))
    };
    let of = |((dev, ip), samples): (&'t (String, IpAddr), &'t Vec<Sourced<Vec<String>>>)| match ip {
        IpAddr::V4(ip) if silent(samples) && tenant.has_device(dev) && tenant.has(*ip) => Some((dev.as_str(), *ip)),
        _ => None,
    };
    exit.node.neighbours.iter().filter_map(of).collect()
}

/// Whether `guest` is stopped and not to start with its node.
fn on_purpose(facts: &Facts, guest: &Listed) -> bool {
    let config = facts.guests.config.get(&guest.vmid.to_string());
    guest.status == "stopped" && config.is_some_and(|config| !config.onboot)
}

/// Whether something asked for `vmid`'s address on its VNet, in vain.
pub(in crate::diagnose::rules) fn asked_in_vain(facts: &Facts, vmid: &str) -> bool {
    let own = |ip| guest(facts, ip).is_some_and(|guest| guest.vmid.to_string() == vmid);
    exits(facts).iter().any(|exit| exit.tenants.iter().any(|t| failed(exit, t).iter().any(|(_, ip)| own(*ip))))
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

fn one(facts: &Facts, (exit, tenant): (&Exit<'_>, &Tenant<'_>), ip: Ipv4Addr, looked: &Looked<'_>, out: &mut Out<'_>) {
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
        out.unknown_of(
            [Subject::new("zone", tenant.zone)],
            format!("whether {ip} answers on {} of {}", looked.dev, exit.name),
            why,
        );
        return;
    }
    let mut finding = finding(facts, (exit, tenant), (looked.dev, ip), out)
        .fact("probe.answered", exit.at(ip), "no")
        .not_tested("whether a guest with that address exists and runs");
    for source in &looked.sources {
        finding = finding.from(source);
    }
    out.found(finding);
}

fn finding(
    facts: &Facts,
    (exit, tenant): (&Exit<'_>, &Tenant<'_>),
    (dev, ip): (&str, Ipv4Addr),
    out: &Out<'_>,
) -> Finding {
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
