//! Something answers with another certificate than the pinned one.

use super::super::{Out, Rule};
use super::source_unreachable::PINNED;
use super::{no_answer, source};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity};

/// The rule.
pub static RULE: Rule = Rule {
    id: "pin-mismatch",
    layer: Layer::Access,
    severity: Severity::Fault,
    says: "The server shows another certificate than the one whose fingerprint is pinned: it was renewed, or somebody else \
           answers. Nothing is sent to it. The service is not down.",
    reads: "requests that ended in the TLS handshake, and what the client said",
    unlike: &[
        ("ca-unknown", "a CA is trusted, not a pin, and the issuer is another"),
        ("source-unreachable", "nothing answers"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for call in facts.calls.all.iter().filter(|call| no_answer(call).is_some_and(|why| why.contains(PINNED))) {
        let api = call.http.api;
        let finding = out
            .finding(source(api), format!("{} shows another certificate than the pinned one.", api.words()))
            .fact("certificate.pin", api.words(), "differs")
            .resting_on(&call.file)
            .next(
                "compare-fingerprint",
                0,
                "compare with the fingerprint shown on the server itself; re-pin only if they agree",
            );
        out.unknown(format!("everything that {} tells", api.words()), Some("its certificate is another".to_owned()));
        out.found(finding);
    }
}
