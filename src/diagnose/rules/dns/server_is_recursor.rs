//! The API is of a resolver, not of an authoritative server.

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "server-is-recursor",
    layer: Layer::Dns,
    severity: Severity::Warning,
    says: "What answers under this address is the recursor: it has the same API paths, and none of the site's zones.",
    reads: "the API's list of servers and what they call themselves",
    unlike: &[("server-id-wrong", "the server is authoritative and its id is another")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for server in &facts.powerdns.servers {
        let subject = Subject::new("server", &server.from);
        if server.daemon != "recursor" {
            out.pass(subject);
            continue;
        }
        let finding = out
            .finding(subject, format!("{} is a recursor, not an authoritative server.", server.from))
            .fact("server.daemon", &server.from, &server.daemon)
            .from(server)
            .next("use-authoritative", 0, "name the authoritative server's API in the site file");
        out.found(finding);
    }
}
