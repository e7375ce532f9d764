//! A token past its end.

use super::super::{Out, Rule};
use super::{quoted, refused_logins, rest_on};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "token-expired",
    layer: Layer::Access,
    severity: Severity::Fault,
    says: "The API token is past its end date. Tokens have no life of two hours as tickets do, but may carry a date.",
    reads: "answers 401 that name a token as expired",
    unlike: &[
        ("ticket-expired", "the answer names the ticket of a login"),
        ("token-unknown", "the user has no token of that name"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for (call, reason) in refused_logins(facts) {
        let Some(token) = quoted(reason).filter(|_| reason.ends_with("access expired")) else { continue };
        let finding = out
            .finding(Subject::new("token", token), format!("Token {token} is past its end date."))
            .fact("token.state", token, "expired")
            .next("new-token", 2, format!("ask for a new token, or for a later end of {token}"));
        let finding = rest_on(finding, [call], out);
        out.found(finding);
    }
}
