//! A request of ours that had no body.

use super::super::{Out, Rule};
use super::source;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity};

/// The rule.
pub static RULE: Rule = Rule {
    id: "request-without-body",
    layer: Layer::Access,
    severity: Severity::Fault,
    says: "The server asks for the length of a body that was never sent: a defect of the client, not of rights or keys. \
           OPNsense wants a body, `{}` at least, with every POST.",
    reads: "answers 411",
    unlike: &[("privilege-missing", "the request was understood and refused: 403")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for call in facts.calls.all.iter().filter(|call| call.http.ended.status == 411) {
        let finding = out
            .finding(source(call.http.api), format!("{} had no body.", call.words()))
            .fact("request.body", &call.http.path, "none")
            .next("send-body", 0, "send a body with every POST, an empty object at least")
            .resting_on(&call.file);
        out.found(finding);
    }
}
