//! Validation fails.

use super::super::{Out, Rule};
use super::zone_of;
use crate::backends::dns::Rcode;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "dnssec-bogus",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "The resolver validates, the parent zone is signed, and the zone is neither signed nor delegated there: SERVFAIL, \
           while the same question with checking disabled is answered. An enabled plain forward exempts its domain.",
    reads: "the resolver's answer with and without checking",
    unlike: &[
        ("forward-wrong-type", "checking disabled fails as well, and the row is over TLS"),
        ("zone-missing", "checking disabled fails as well: the server refuses the zone"),
        ("auth-down", "checking disabled fails as well: the server does not answer"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for reply in facts.dns.resolved().filter(|r| r.is(Rcode::SERVFAIL)) {
        let name = reply.name.as_str();
        let same = |r: &&crate::diagnose::facts::dns::Reply| {
            r.unchecked && r.server == reply.server && r.name == reply.name && r.kinds == reply.kinds
        };
        let Some(unchecked) = facts.dns.replies.iter().find(same) else {
            out.unknown_of(
                [Subject::new("name", name)],
                format!("the resolver's answer for {name} with checking disabled"),
                None,
            );
            continue;
        };
        if !unchecked.has_data() {
            continue;
        }
        let zone = zone_of(facts, name);
        let mut finding = out
            .finding(Subject::new("name", &zone), format!("The resolver fails to validate {zone}."))
            .fact("answer.checked", name, "SERVFAIL")
            .fact("answer.unchecked", name, unchecked.values().join(" "))
            .affects([name])
            .resting_on(&reply.file)
            .resting_on(&unchecked.file)
            .next(
                "exempt-domain",
                2,
                format!("list {zone} as an insecure domain, or give it an enabled plain forward"),
            );
        for code in &reply.extended {
            finding = finding.fact("answer.extended-error", name, code);
        }
        out.found(finding);
    }
}
