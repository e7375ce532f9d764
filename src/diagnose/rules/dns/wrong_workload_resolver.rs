//! A workload that asks the authoritative server for everything.

use super::super::{Out, Rule};
use super::{authorities, resolvers};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "wrong-workload-resolver",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "A workload's configured name server is the authoritative server: it resolves names of its own zones and gets \
           REFUSED for everything else. The resolver at the perimeter is meant.",
    reads: "the name servers in the guest's configuration, and which servers are authoritative",
    unlike: &[
        ("resolver-refuses-network", "the resolver is asked, and refuses the network"),
        ("forward-missing", "foreign names resolve, and the tenant's do not"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let (authorities, resolvers) = (authorities(facts), resolvers(facts));
    for (vmid, config) in facts.guests.config.iter().filter(|(_, config)| !config.nameservers.is_empty()) {
        let name = config.name.as_deref().unwrap_or(vmid);
        let wrong: Vec<&String> = config.nameservers.iter().filter(|s| authorities.contains(s)).collect();
        if wrong.is_empty() || config.nameservers.iter().any(|s| resolvers.contains(s)) {
            if wrong.is_empty() && authorities.is_empty() {
                out.unknown("which server is the authoritative one", None);
            } else {
                out.pass(Subject::new("workload", name));
            }
            continue;
        }
        let mut finding = out
            .finding(
                Subject::new("workload", name),
                format!("{name} asks the authoritative server for every name, and gets its own zones only."),
            )
            .affects([name])
            .from(config)
            .next("set-nameserver", 2, format!("set the resolver as name server of {name}, then stop and start it"));
        for server in wrong {
            finding = finding.fact("workload.nameserver", name, server);
        }
        out.found(finding);
    }
}
