//! The resolver does not answer.

use super::super::egress::dead_router;
use super::super::{Out, Rule};
use super::resolvers;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};
use crate::text::some_of;

/// The rule.
pub static RULE: Rule = Rule {
    id: "resolver-down",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "The resolver answers nothing, not even names of its own, or its service is stopped. A resolver that answers some \
           names and is silent about others is up: what is behind those names is slow or dead.",
    reads: "questions to the resolver's addresses, the word for its service",
    unlike: &[
        ("auth-down", "only names of some zones are silent, or end in SERVFAIL"),
        ("resolver-refuses-network", "it answers, and refuses the asker"),
        ("source-unreachable", "the router's API is silent, which takes nobody's names away"),
        ("gateway-unreachable", "the router answers nobody at all: this is a consequence"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    if let Some(service) = &facts.perimeter.service {
        match service.as_str() {
            "running" => out.pass(Subject::new("source", "resolver")),
            word => {
                // The router answers on each of its addresses: the one that workloads are given stands for it.
                let meant = facts.site.as_ref().and_then(|site| site.resolvers.as_ref()).map(|of| of.perimeter);
                let at = meant.map_or_else(|| resolvers(facts), |meant| vec![meant.to_string()]);
                let place = some_of(&at.iter().map(String::as_str).collect::<Vec<_>>());
                let which = if at.is_empty() { "the router".to_owned() } else { place };
                let finding = out
                    .finding(
                        Subject::new("source", "resolver"),
                        format!("The resolver's service on {which} is {word}."),
                    )
                    .fact("service.state", "resolver", word)
                    .affects(&at)
                    .affects(tenants(facts))
                    .from(service);
                out.found(complete(after_change(finding, facts)));
            }
        }
    }
    let stopped = facts.perimeter.service.as_ref().is_some_and(|word| word.as_str() != "running");
    for server in resolvers(facts) {
        let asked: Vec<_> = facts.dns.replies.iter().filter(|r| r.server == server).collect();
        if asked.is_empty() || stopped {
            continue;
        }
        if asked.iter().any(|r| !r.silent) {
            out.pass(Subject::new("server", &server));
            continue;
        }
        let mut finding = out
            .finding(Subject::new("server", &server), format!("The resolver {server} does not answer."))
            .fact("server.answers", &server, format!("0 of {}", asked.len()))
            // A router that answers nothing has no resolver either.
            .caused_by(dead_router(facts));
        for reply in asked {
            finding = finding.affects([reply.name.as_str()]).resting_on(&reply.file);
        }
        out.found(complete(finding));
    }
}

/// Tenants, whose workloads are given the router's resolver.
fn tenants(facts: &Facts) -> Vec<&str> {
    let zones = facts.sdn.zones_in_force().into_iter().flat_map(|zones| zones.iter());
    zones.filter(|zone| zone.kind == "evpn").map(|zone| zone.zone.as_str()).collect()
}

/// Every reconfigure stops and starts the service: one that came before may be why.
fn after_change(mut finding: Finding, facts: &Facts) -> Finding {
    let change = |path: &str| path.eq_ignore_ascii_case("unbound/service/reconfigure");
    for call in facts.calls.of(Api::Opnsense).filter(|call| call.failure.is_none() && change(&call.http.path)) {
        if !finding.facts.iter().any(|f| f.key == "service.stopped-after") {
            finding = finding.fact("service.stopped-after", "resolver", &call.http.path);
        }
        finding = finding.resting_on(&call.file);
    }
    finding
}

fn complete(finding: Finding) -> Finding {
    finding.next("start-resolver", 2, "start the resolver on the router, and see why it stopped")
}
