//! A reverse record that names somebody else.

use super::super::{Out, Rule};
use crate::backends::dns::{DnsName, RecordType};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::dns::Reply;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "ptr-mismatch",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "A name has an address whose reverse record names another host: left over from an earlier owner of the address, or \
           written by hand.",
    reads: "addresses of a name and the reverse records of those addresses, from servers that have data",
    unlike: &[
        ("builtin-reverse-zone", "the resolver has no reverse record, and the authoritative server has the right one"),
        ("negative-cached", "there is no reverse record yet"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let (authorities, resolvers) = (facts.dns.authorities(), facts.dns.resolvers());
    // Of a name that both tell the authority's word counts.
    let trusted = |reply: &&Reply| {
        let by_authority = |r: &Reply| r.name == reply.name && authorities.contains(r.server.as_str());
        authorities.contains(reply.server.as_str())
            || (resolvers.contains(reply.server.as_str()) && !facts.dns.replies.iter().any(by_authority))
    };
    let told: Vec<&Reply> = facts.dns.replies.iter().filter(|r| r.has_data() && !r.unchecked).filter(trusted).collect();
    for forward in told.iter().filter(|r| r.asks(RecordType::A) || r.asks(RecordType::AAAA)) {
        for address in forward.addresses() {
            let reverse = DnsName::reverse(address);
            let Some(back) = told.iter().find(|r| r.asks(RecordType::PTR) && r.name == reverse) else { continue };
            let name = forward.name.as_str();
            let values = back.values();
            if values.iter().any(|value| value == name) {
                out.pass(Subject::new("name", name));
                continue;
            }
            let mut finding = out
                .finding(
                    Subject::new("name", reverse.as_str()),
                    format!("{address} is {name}, and its reverse record names {}.", values.join(", ")),
                )
                .fact("name.address", name, address)
                .affects([name])
                .resting_on(&forward.file)
                .resting_on(&back.file)
                .next("correct-ptr", 1, format!("write the reverse record of {address} again, naming {name}"));
            for value in values {
                finding = finding.fact("ptr.names", address.to_string(), value);
            }
            out.found(finding);
        }
    }
}
