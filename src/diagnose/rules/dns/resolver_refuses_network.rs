//! The resolver's access lists leave a network out.

use std::net::IpAddr;

use ipnet::IpNet;

use super::super::{Out, Rule};
use crate::backends::dns::Rcode;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::dns::Reply;
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "resolver-refuses-network",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "The resolver refuses questions from a network that none of its access lists allows. What counts is the source it \
           sees: the workload's own address, or the exit node's where the subnet is translated. That the console is \
           answered says nothing about workloads.",
    reads: "answers to the same question asked from several places, access lists and their default, SNAT of the subnet",
    unlike: &[
        ("wrong-workload-resolver", "an authoritative server is asked, which refuses foreign names"),
        ("zone-missing", "an authoritative server refuses one zone"),
        ("resolver-down", "nothing answers"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let authorities = facts.dns.authorities();
    let asked = |r: &&Reply| !authorities.contains(r.server.as_str());
    for reply in facts.dns.replies.iter().filter(asked) {
        let Some(from) = reply.asked_from.as_ref().and_then(|from| from.parse::<IpAddr>().ok()) else { continue };
        if reply.is(Rcode::REFUSED) {
            one(facts, reply, from, out);
        }
    }
    // An access list was read, and nobody asked from where it matters.
    let subnets = facts.sdn.subnets.values().flat_map(|all| all.value.iter());
    for subnet in subnets.filter(|_| facts.perimeter.acl.is_some()) {
        let from_there = facts.dns.replies.iter().filter_map(|r| r.asked_from.as_ref()?.parse::<IpAddr>().ok());
        if !from_there.into_iter().any(|from| subnet.cidr.contains(&from)) {
            out.unknown(format!("what the resolver answers to {}", subnet.cidr), None);
        }
    }
}

fn one(facts: &Facts, reply: &Reply, from: IpAddr, out: &mut Out<'_>) {
    let finding = out
        .finding(Subject::new("server", &reply.server), format!("The resolver {} refuses {from}.", reply.server))
        .resting_on(&reply.file);
    let Some((finding, subnet)) = source(finding, facts, from, out) else { return };
    let Some(acl) = &facts.perimeter.acl else {
        out.unknown("the access lists of the resolver", facts.calls.why(Api::Opnsense, "unbound/settings/searchacl"));
        return;
    };
    let on = acl.iter().filter(|entry| entry.enabled);
    let (allows, refuses): (Vec<_>, Vec<_>) = on.partition(|entry| entry.action.starts_with("allow"));
    let holds = |nets: &[IpNet]| nets.iter().any(|net| net.contains(&from));
    if allows.iter().any(|entry| holds(&entry.networks)) && !refuses.iter().any(|entry| holds(&entry.networks)) {
        out.unknown(format!("why the resolver refuses {from}, which an access list allows"), None);
        return;
    }
    let allowed: Vec<String> = allows.iter().flat_map(|entry| &entry.networks).map(ToString::to_string).collect();
    let mut finding = finding.fact("acl.allows", from.to_string(), "no").from(acl);
    for net in &allowed {
        finding = finding.fact("acl.allowed", &reply.server, net);
    }
    match facts.perimeter.resolver.as_ref().and_then(|s| Some((s, s.default_action.as_ref()?))) {
        Some((settings, action)) => finding = finding.fact("acl.default", &reply.server, action).from(settings),
        None => out.unknown(
            "what the resolver does with who is in no access list",
            facts.calls.why(Api::Opnsense, "unbound/settings/get"),
        ),
    }
    let others = facts.dns.replies.iter().filter(|r| r.server == reply.server && r.is(Rcode::NOERROR));
    for other in others {
        if let Some(place) = &other.asked_from {
            finding = finding.fact("resolver.answers", place, "yes").resting_on(&other.file);
        }
    }
    let net = subnet.map_or_else(|| from.to_string(), |net| net.to_string());
    let finding =
        finding.affects([&net]).next("allow-network", 2, format!("allow {net} in an access list of the resolver"));
    out.found(finding);
}

/// Which source the resolver sees: translation changes it.
fn source(finding: Finding, facts: &Facts, from: IpAddr, out: &mut Out<'_>) -> Option<(Finding, Option<IpNet>)> {
    let mut around = facts.sdn.subnets.values().flat_map(|all| all.value.iter().map(move |s| (all, s)));
    match around.find(|(_, subnet)| subnet.cidr.contains(&from)) {
        None => {
            out.unknown(format!("whether {from} is translated on its way to the resolver"), None);
            None
        }
        Some((_, subnet)) if subnet.snat => {
            out.unknown(format!("which address of the exit node the resolver sees for {}", subnet.cidr), None);
            None
        }
        Some((all, subnet)) => Some((
            finding
                .fact("subnet.snat", subnet.cidr.to_string(), "off")
                .fact("resolver.sees", from.to_string(), from)
                .from(all),
            Some(subnet.cidr),
        )),
    }
}
