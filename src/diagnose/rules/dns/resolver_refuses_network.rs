//! The resolver's access lists leave a network out.

use std::net::IpAddr;

use ipnet::IpNet;

use super::super::{Out, Rule};
use crate::backends::dns::Rcode;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::dns::Reply;
use crate::diagnose::facts::sdn::Subnet;
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "resolver-refuses-network",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "The resolver refuses questions from a network that none of its access lists allows; of several the most specific \
           decides. What counts is the source it \
           sees: the workload's own address, or the exit node's where the subnet is translated. That the console is \
           answered says nothing about workloads.",
    reads: "answers to the same question asked from several places, access lists and their default, SNAT of the subnet, NAT \
            rules of the exit node or the site file",
    unlike: &[
        ("wrong-workload-resolver", "an authoritative server is asked, which refuses foreign names"),
        ("zone-missing", "an authoritative server refuses one zone"),
        ("resolver-down", "nothing answers"),
    ],
    explains: &[],
    judge,
};

/// A tenant's subnet that is asked from, and the source that the resolver sees; `None` = it cannot be told.
struct Place<'a> {
    list: &'a Sourced<Vec<Subnet>>,
    subnet: &'a Subnet,
    sees: Option<IpAddr>,
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let authorities = facts.dns.authorities();
    let asked: Vec<&Reply> =
        facts.dns.replies.iter().filter(|reply| !authorities.contains(reply.server.as_str())).collect();
    for reply in asked.iter().filter(|reply| reply.is(Rcode::REFUSED)) {
        let Some(from) = reply.asked_from.as_deref() else { continue };
        match place(facts, from) {
            Some(place) => refused(facts, reply, from, &place, out),
            // A name that is no tenant's VRF, and no address: nobody's network.
            None if from.parse::<IpAddr>().is_err() => {}
            None => out.unknown(format!("whether {from} is translated on its way to the resolver"), None),
        }
    }
    // An access list was read: it allows a network, or somebody asked from there, or that is unknown.
    let all = facts.sdn.subnets.values().flat_map(|list| list.value.iter().map(move |subnet| (list, subnet)));
    for (list, subnet) in all.filter(|_| facts.perimeter.acl.is_some()) {
        let place = Place { list, subnet, sees: seen(facts, subnet, None) };
        let there = |reply: &&&Reply| {
            let of = reply.asked_from.as_deref().and_then(|from| self::place(facts, from));
            of.is_some_and(|of| of.subnet.cidr == subnet.cidr)
        };
        let own = Subject::new("subnet", subnet.cidr.to_string());
        match asked.iter().find(there) {
            Some(reply) if reply.is(Rcode::REFUSED) || reply.silent => {}
            Some(_) => out.pass(own),
            None if allowed(facts, &place) => out.pass(own),
            None => out.unknown_of(
                [Subject::new("subnet", subnet.cidr.to_string())],
                format!("what the resolver answers to {}", subnet.cidr),
                None,
            ),
        }
    }
}

/// The subnet that a question came from: of its address, or of the tenant whose VRF it was asked in.
fn place<'a>(facts: &'a Facts, from: &str) -> Option<Place<'a>> {
    let address = from.parse::<IpAddr>().ok();
    let zone = from.strip_prefix("vrf_");
    let of = |subnet: &Subnet| match (address, zone) {
        (Some(ip), _) => subnet.cidr.contains(&ip),
        (None, zone) => zone == Some(subnet.zone.as_str()),
    };
    let mut all = facts.sdn.subnets.values().flat_map(|list| list.value.iter().map(move |subnet| (list, subnet)));
    let (list, subnet) = all.find(|(_, subnet)| of(subnet))?;
    Some(Place { list, subnet, sees: seen(facts, subnet, address) })
}

/// The source that the resolver sees: translation changes it, to what the exit node's rules say, or where they were not
/// read to what the site says of its one exit node.
fn seen(facts: &Facts, subnet: &Subnet, address: Option<IpAddr>) -> Option<IpAddr> {
    if !subnet.snat {
        return address.or_else(|| subnet.cidr.hosts().next());
    }
    let rules = facts.nodes.iter().filter_map(|(_, node)| node.snat_rules()).flatten();
    let of = rules.filter(|rule| rule.source.is_some_and(|source| subnet.cidr.contains(&IpNet::V4(source))));
    let mut to: Vec<IpAddr> = of.filter_map(|rule| rule.to_source.map(IpAddr::V4)).collect();
    if to.is_empty() {
        let exits = facts.site.iter().flat_map(|site| &site.value.exit_nodes);
        to.extend(exits.map(|exit| IpAddr::V4(exit.transit_address)));
    }
    to.sort_unstable();
    to.dedup();
    match to.as_slice() {
        [one] => Some(*one),
        _ => None,
    }
}

/// Whether lists and default let the source of `place` ask. The most specific network decides; where two lists that
/// disagree name the same one, it is not allowed.
fn allowed(facts: &Facts, place: &Place<'_>) -> bool {
    let (Some(acl), Some(sees)) = (&facts.perimeter.acl, place.sees) else { return false };
    let most_specific = |allow: bool| {
        let of = acl.iter().filter(|list| list.enabled && list.action.starts_with("allow") == allow);
        let holding = of.flat_map(|list| &list.networks).filter(|net| net.contains(&sees));
        holding.map(IpNet::prefix_len).max()
    };
    let default = facts.perimeter.resolver.as_ref().and_then(|settings| settings.default_action.as_deref());
    match (most_specific(true), most_specific(false)) {
        (None, None) => default == Some("allow"),
        // Nothing is less than any prefix.
        (allowing, refusing) => allowing > refusing,
    }
}

fn refused(facts: &Facts, reply: &Reply, from: &str, place: &Place<'_>, out: &mut Out<'_>) {
    let cidr = place.subnet.cidr;
    let Some(sees) = place.sees else {
        out.unknown_of(
            [Subject::new("subnet", cidr.to_string())],
            format!("which address of the exit node the resolver sees for {cidr}"),
            None,
        );
        return;
    };
    let Some(acl) = &facts.perimeter.acl else {
        out.unknown("the access lists of the resolver", facts.calls.why(Api::Opnsense, "unbound/settings/searchacl"));
        return;
    };
    if allowed(facts, place) {
        out.unknown(format!("why the resolver refuses {from}, which its access lists allow"), None);
        return;
    }
    // What has to be allowed is what the resolver sees.
    let net = if place.subnet.snat { sees.to_string() } else { cidr.to_string() };
    let mut finding = out
        .finding(Subject::new("server", &reply.server), format!("The resolver {} refuses {from}.", reply.server))
        .resting_on(&reply.file)
        .fact("subnet.snat", cidr.to_string(), if place.subnet.snat { "on" } else { "off" })
        .fact("resolver.sees", from, sees)
        .from(place.list)
        .fact("acl.allows", sees.to_string(), "no")
        .from(acl);
    for list in acl.iter().filter(|list| list.enabled && list.action.starts_with("allow")) {
        for net in &list.networks {
            finding = finding.fact("acl.allowed", &reply.server, net);
        }
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
    let finding = finding.affects([&cidr.to_string(), &place.subnet.zone]).next(
        "allow-network",
        2,
        format!("allow {net} in an access list of the resolver"),
    );
    out.found(finding);
}
