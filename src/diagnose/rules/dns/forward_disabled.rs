//! The forward of a domain is switched off.

use super::super::{Out, Rule};
use super::rows;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "forward-disabled",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "The row for a domain is there and switched off. The resolver asks elsewhere, does not take the domain for private \
           and validates it: names are missing or their addresses stripped.",
    reads: "the list of forwards",
    unlike: &[("forward-missing", "there is no row"), ("forward-wrong-type", "the row is on, and over TLS")],
    explains: &["rebind-filtered", "dnssec-bogus", "forward-missing"],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some(forwards) = &facts.perimeter.forwards else { return };
    for row in forwards.iter().filter(|row| !row.enabled && row.kind == "forward" && !row.domain.is_empty()) {
        let domain = &row.domain;
        if rows(facts).any(|other| other.enabled && other.domain == *domain) {
            continue;
        }
        let mut finding = out
            .finding(Subject::new("name", domain), format!("The forward for {domain} is switched off."))
            .fact("forward.enabled", domain, "no")
            .affects([domain])
            .from(forwards)
            .next("enable-forward", 2, format!("switch the forward for {domain} on, then reconfigure"));
        for reply in facts.dns.resolved().filter(|r| row.covers(r.name.as_str()) && !r.has_data()) {
            finding = finding.affects([reply.name.as_str()]).resting_on(&reply.file);
        }
        out.found(finding);
    }
}
