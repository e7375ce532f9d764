//! A forward over TLS to a server that speaks plain DNS.

use super::super::{Out, Rule};
use super::without;
use crate::backends::dns::Rcode;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::dns::Reply;
use crate::diagnose::facts::perimeter::resolver::Forward;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "forward-wrong-type",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "The row for a domain is DNS over TLS, and its server speaks plain DNS: every name of the domain ends in SERVFAIL. \
           Both kinds share one store, each list shows its own kind only, and the store's type is TLS unless the plain \
           form was used to make the row.",
    reads: "both lists of forwards, the resolver's answers for names of the domain",
    unlike: &[
        ("forward-missing", "neither list has a row"),
        ("forward-disabled", "the row is plain and switched off"),
        ("auth-down", "the server does not answer plain DNS either"),
        ("dnssec-bogus", "the same question with checking disabled is answered"),
    ],
    explains: &["rebind-filtered"],
    judge,
};

/// A row that cannot be meant: the port is that of plain DNS, the server answers plain DNS with authority, or names
/// fail by way of it for which the site's own server answers plain DNS.
fn is_wrong(row: &Forward, facts: &Facts) -> bool {
    let own = facts.site.as_ref().and_then(|site| site.powerdns.as_ref()).map(|dns| super::server_name(dns.dns));
    let answers = |reply: &Reply| facts.dns.at_source(reply).is_some_and(|r| Some(&r.server) == own.as_ref());
    let mut failing = facts.dns.resolved().filter(|r| r.is(Rcode::SERVFAIL) && row.covers(r.name.as_str()));
    let plain = facts.dns.authorities().contains(row.server.as_str()) || failing.any(answers);
    row.enabled && row.kind == "dot" && !row.domain.is_empty() && (row.port == Some(53) || plain)
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let failing: Vec<_> = facts.dns.resolved().filter(|r| r.is(Rcode::SERVFAIL)).collect();
    let Some(dots) = &facts.perimeter.dots else {
        // Only where names fail that no plain forward takes care of.
        if failing.iter().any(|r| super::forwarded(facts, r.name.as_str()) != Some(true)) {
            without(facts, out, super::DOTS, "the forwards of the resolver over TLS");
        }
        return;
    };
    for row in dots.iter().filter(|row| is_wrong(row, facts)) {
        let domain = &row.domain;
        let mut finding = out
            .finding(
                Subject::new("name", domain),
                format!("The forward for {domain} is DNS over TLS; {} speaks plain DNS.", row.server),
            )
            .fact("forward.type", domain, "dot")
            .fact("forward.server-speaks", domain, "plain DNS")
            .affects([domain])
            .from(dots);
        match &facts.perimeter.forwards {
            None => without(facts, out, super::FORWARDS, "the forwards of the resolver"),
            Some(plain) => {
                let listed = plain.iter().any(|other| other.domain == *domain);
                finding =
                    finding.fact("forward.plain-list", domain, if listed { "has it too" } else { "does not show it" });
                finding = finding.from(plain);
            }
        }
        for reply in failing.iter().filter(|r| row.covers(r.name.as_str())) {
            finding = finding.fact("answer.at-resolver", reply.name.as_str(), "SERVFAIL").resting_on(&reply.file);
        }
        let finding = finding.next(
            "replace-forward",
            2,
            format!("delete this row and add a plain forward for {domain} to {}, then reconfigure", row.server),
        );
        out.found(finding);
    }
}
