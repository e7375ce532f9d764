//! A machine without the records that are the platform's to write.

use std::net::IpAddr;

use super::super::plan::machines;
use super::super::{Out, Rule};
use crate::backends::dns::{DnsName, Rcode, RecordType};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::dns::Reply;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "workload-name-missing",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "The authoritative server has no address for a tenant's machine, another one, or no reverse record of its address. \
           The platform writes both when it makes the machine; making DNS anew brings the zones back and not these.",
    reads: "the authoritative server's answers about the machines' own names and addresses, the site's numbering",
    unlike: &[
        ("zone-missing", "the whole zone is not there"),
        ("ptr-mismatch", "the reverse record is there, and names somebody else"),
        ("negative-cached", "the authoritative server has the record, the resolver has not yet"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let authorities = facts.dns.authorities();
    let told = |name: &DnsName, kind: RecordType| -> Option<&Reply> {
        let said = |r: &&Reply| r.name == *name && r.asks(kind) && authorities.contains(r.server.as_str());
        // What the server has no zone for is another rule's.
        facts.dns.replies.iter().filter(said).find(|r| r.is(Rcode::NOERROR) || r.is(Rcode::NXDOMAIN))
    };
    for machine in machines(facts) {
        let Some(address) = machine.tenant.site.numbering.workload_address(machine.tenant.index, machine.ordinal)
        else {
            continue;
        };
        let Some(label) = machine.config.name.as_deref().and_then(|name| machine.tenant.label(name)) else { continue };
        let Ok(name) = format!("{label}.{}", machine.tenant.forward_zone()).parse::<DnsName>() else { continue };
        let forward = told(&name, RecordType::A);
        let pointer = DnsName::reverse(IpAddr::V4(address));
        let reverse = told(&pointer, RecordType::PTR);
        let mut wrong = Vec::new();
        if let Some(reply) = forward
            && !reply.addresses().any(|have| have == IpAddr::V4(address))
        {
            let have: Vec<String> = reply.addresses().map(|have| have.to_string()).collect();
            let have = if have.is_empty() { "none".to_owned() } else { have.join(", ") };
            wrong.push(("name.address", name.as_str().to_owned(), format!("{have}, derived {address}"), reply));
        }
        if let Some(reply) = reverse.filter(|reply| reply.values().is_empty()) {
            wrong.push(("ptr.names", address.to_string(), "none".to_owned(), reply));
        }
        let (what, tenant) = (name.as_str(), &machine.tenant.zone.zone);
        let Some((_, of, is, _)) = wrong.first() else {
            if forward.is_some() && reverse.is_some() {
                out.pass(Subject::new("name", what));
            }
            continue;
        };
        let title = format!("The records of {} are not as they are to be: {of} has {is}.", machine.name());
        let mut finding =
            out.finding(Subject::new("name", what), title).affects([what, tenant.as_str()]).from(machine.config);
        for (key, of, is, reply) in &wrong {
            finding = finding.fact(key, of, is).resting_on(&reply.file);
        }
        out.found(finding.next(
            "write-records",
            1,
            format!("write the address and the reverse record of {what} again"),
        ));
    }
}
