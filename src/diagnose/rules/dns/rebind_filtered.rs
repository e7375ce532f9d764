//! The resolver removes private addresses from an answer.

use std::net::IpAddr;

use super::super::{Out, Rule};
use super::{authority_of, forwarded, rows_for, without, zone_of};
use crate::backends::dns::{Rcode, RecordType};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::dns::Reply;
use crate::diagnose::facts::perimeter::resolver::under;
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "rebind-filtered",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "The resolver strips private addresses from answers of domains that are not listed as private: what is left is \
           NOERROR with nothing in it and no SOA. The record is there. An enabled plain forward for the domain lists it by \
           itself; one over TLS, a disabled one, or a parent's delegation does not.",
    reads: "the resolver's answer, the authoritative server's, private addresses and domains in the settings, forwards",
    unlike: &[
        ("forward-missing", "NXDOMAIN with the SOA of a parent"),
        ("forward-disabled", "a row for the domain is there and switched off"),
        ("forward-wrong-type", "the row for the domain is over TLS"),
        ("negative-cached", "the empty answer carries the SOA of the zone"),
    ],
    explains: &[],
    judge,
};

/// NOERROR with nothing, not even an SOA, and without authority: facts/dns.md §0.4.
fn fingerprint(reply: &Reply) -> bool {
    let address = reply.asks(RecordType::A) || reply.asks(RecordType::AAAA);
    address
        && reply.is(Rcode::NOERROR)
        && reply.addresses().next().is_none()
        && reply.authority.is_empty()
        && reply.flag(|f| f.aa) == Some(false)
}

fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_private() || v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_unique_local() || v6.is_unicast_link_local(),
    }
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for reply in facts.dns.resolved().filter(|r| fingerprint(r)) {
        let name = reply.name.as_str();
        // Another rule names the row that keeps the domain from being listed.
        if rows_for(facts, name).any(|row| !row.enabled || row.kind != "forward") {
            continue;
        }
        let Some(source) = facts.dns.at_source(reply) else {
            out.unknown_of(
                [Subject::new("name", name)],
                format!("what the authoritative server answers for {name}"),
                None,
            );
            continue;
        };
        let Some(address) = source.addresses().find(|a| is_private(*a)) else { continue };
        let finding = out
            .finding(
                Subject::new("name", name),
                format!("The resolver strips {address} from its answer for {name}: rebinding protection."),
            )
            .fact("answer.at-source", name, address)
            .fact("answer.at-resolver", name, "empty")
            .resting_on(&reply.file)
            .resting_on(&source.file);
        let finding = settings(finding, facts, name, address, out);
        let zone = zone_of(facts, name);
        let to = authority_of(facts, Some(source), &zone).unwrap_or_default();
        let finding = finding
            .affects([&zone])
            .next("add-forward", 2, format!("add a plain forward for {zone} to {to}, then reconfigure"))
            .next("add-private-domain", 2, format!("or list {zone} as a private domain of the resolver"));
        out.found(finding);
    }
    let authorities = facts.dns.authorities();
    for source in facts.dns.replies.iter().filter(|r| authorities.contains(r.server.as_str())) {
        let asked = facts.dns.replies.iter().any(|r| r.name == source.name && r.server != source.server);
        if !asked && source.addresses().any(is_private) && forwarded(facts, source.name.as_str()) == Some(false) {
            out.unknown_of(
                [Subject::new("name", source.name.as_str())],
                format!("the resolver's answer for {}", source.name),
                None,
            );
        }
    }
}

/// What the settings say of the address and of the domain.
fn settings(mut finding: Finding, facts: &Facts, name: &str, address: IpAddr, out: &mut Out<'_>) -> Finding {
    let zone = zone_of(facts, name);
    match &facts.perimeter.resolver {
        None => out.unknown("the settings of the resolver", facts.calls.why(Api::Opnsense, "unbound/settings/get")),
        Some(settings) => {
            finding = finding.from(settings);
            let within = settings.private_addresses.iter().flatten().find(|net| net.contains(&address));
            if let Some(net) = within {
                finding = finding.fact("private-address.strips", address.to_string(), net);
            }
            if let Some(domains) = &settings.private_domains {
                let listed = domains.iter().any(|domain| under(name, domain));
                finding = finding.fact("private-domain", &zone, if listed { "listed" } else { "not listed" });
            }
        }
    }
    match forwarded(facts, name) {
        Some(true) => finding = finding.fact("forward", &zone, "there, and not in force"),
        Some(false) => finding = finding.fact("forward", &zone, "none"),
        None => without(facts, out, super::FORWARDS, "the forwards of the resolver"),
    }
    match &facts.perimeter.forwards {
        Some(forwards) => finding.from(forwards),
        None => finding,
    }
}
