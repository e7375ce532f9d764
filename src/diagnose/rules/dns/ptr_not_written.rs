//! A reverse record that was asked for with the address, and was not written.

use serde_json::Value;

use super::super::{Out, Rule};
use super::written::held;
use crate::backends::dns::DnsName;
use crate::backends::powerdns::Name;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "ptr-not-written",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "An address was written with `set-ptr`, and its reverse record is not there. Servers since 4.3 take the word and do \
           nothing about it: the success says nothing of the reverse zone.",
    reads: "what was sent and taken, the reverse zone, the server's version",
    unlike: &[("ptr-mismatch", "there is a reverse record, and it names another host")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let taken = facts.calls.of(Api::PowerDns).filter(|call| call.writes() && call.failure.is_none());
    for call in taken {
        for (name, _, records) in call.rrsets() {
            let asked = records.iter().filter(|record| record.get("set-ptr").and_then(Value::as_bool) == Some(true));
            for address in asked.filter_map(|record| record.get("content")?.as_str()) {
                let Ok(ip) = address.parse() else { continue };
                let reverse = Name::new(DnsName::reverse(ip).as_str());
                let Some((zone, values)) = held(facts, &reverse, "PTR") else {
                    let why = facts.calls.why(Api::PowerDns, "servers/*/zones/*");
                    out.unknown_of([Subject::new("name", address)], format!("the reverse record of {address}"), why);
                    continue;
                };
                if !values.is_empty() {
                    out.pass(Subject::new("name", &name));
                    continue;
                }
                let in_zone = zone.name.as_str().trim_end_matches('.');
                let title = format!("{address} has no reverse record, though it was asked for with {name}.");
                let mut finding = out
                    .finding(Subject::new("name", &name), title)
                    .fact("ptr.there", address, "no")
                    .affects([name.as_str(), address])
                    .resting_on(&call.file)
                    .from(zone)
                    .next("add-ptr", 1, format!("write the reverse record of {address} in {in_zone}, naming {name}"));
                let server = facts.powerdns.servers.iter().find(|server| server.from == call.from);
                match server.and_then(|server| Some((server, server.version.as_deref()?))) {
                    Some((server, version)) => {
                        finding = finding.fact("server.ignores", format!("PowerDNS {version}"), "set-ptr").from(server);
                    }
                    None => out.unknown("the version of PowerDNS, which tells whether it knows set-ptr", None),
                }
                out.found(finding);
            }
        }
    }
}
