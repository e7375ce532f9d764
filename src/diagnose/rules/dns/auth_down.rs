//! The authoritative server does not answer.

use std::collections::BTreeMap;

use super::super::{Out, Rule};
use super::authorities;
use crate::backends::dns::Rcode;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "auth-down",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "The authoritative server answers nothing on its DNS port. The resolver is silent about its zones at first and says \
           SERVFAIL afterwards; all the tenants' names are gone together.",
    reads: "questions to servers that forwards name or that answered with authority before",
    unlike: &[
        ("resolver-down", "the resolver answers nothing, whatever the name"),
        ("zone-missing", "the server answers and refuses one zone"),
        ("dnssec-bogus", "the server answers"),
    ],
    explains: &["source-unreachable"],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let known = authorities(facts);
    let mut asked: BTreeMap<&str, (usize, usize, Vec<&str>)> = BTreeMap::new();
    for reply in facts.dns.replies.iter().filter(|r| known.contains(&r.server)) {
        let (silent, answered, files) = asked.entry(&reply.server).or_default();
        *(if reply.silent { silent } else { answered }) += 1;
        files.push(&reply.file);
    }
    for (server, (silent, answered, files)) in asked {
        if answered > 0 {
            out.pass(Subject::new("server", server));
            continue;
        }
        let served: Vec<&str> =
            super::rows(facts).filter(|row| row.server == server).map(|row| row.domain.as_str()).collect();
        let failing = facts.dns.resolved().filter(|r| r.is(Rcode::SERVFAIL)).map(|r| r.name.as_str());
        let mut finding = out
            .finding(Subject::new("server", server), format!("The authoritative server {server} does not answer."))
            .fact("server.answers", server, format!("0 of {silent}"))
            .affects(served.into_iter().chain(failing).collect::<Vec<_>>())
            .next("check-auth", 0, format!("look at {server}: is it up, does PowerDNS run, is port 53 open?"));
        for file in files {
            finding = finding.resting_on(file);
        }
        out.found(finding);
    }
    for reply in facts.dns.replies.iter().filter(|r| r.silent) {
        if !known.contains(&reply.server) && !super::resolvers(facts).contains(&reply.server) {
            out.unknown(format!("what {} is: it does not answer", reply.server), None);
        }
    }
}
