//! A token the user does not have.

use super::super::{Out, Rule};
use super::{refused_logins, rest_on};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "token-unknown",
    layer: Layer::Access,
    severity: Severity::Fault,
    says: "The user is known and has no token of that name: the name is misspelt, or the token was removed.",
    reads: "answers 401 that name a token and its user",
    unlike: &[
        ("token-expired", "the token is there and past its end"),
        ("credentials-rejected", "its secret is wrong"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for (call, reason) in refused_logins(facts).filter(|(_, reason)| reason.starts_with("no such token")) {
        let mut names = reason.split('\'').skip(1).step_by(2);
        let (Some(token), user) = (names.next(), names.next().unwrap_or("the user")) else { continue };
        let finding = out
            .finding(Subject::new("token", format!("{user}!{token}")), format!("{user} has no token named {token}."))
            .fact("token.state", format!("{user}!{token}"), "no such token")
            .next("fix-token-name", 0, format!("correct the token's name; {user} has none named {token}"));
        let finding = rest_on(finding, [call], out);
        out.found(finding);
    }
}
