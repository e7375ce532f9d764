//! A request in a spelling that access lists of this version do not know.

use super::super::{Out, Rule};
use super::respelt;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "endpoint-renamed",
    layer: Layer::Access,
    severity: Severity::Fault,
    says: "OPNsense answers one endpoint under several spellings, and its access lists know one of them: the other is 403 for \
           every user but those who may do everything. The rights are as they should be. From 25.7 on the spelling is \
           snake_case.",
    reads: "answers to the same endpoint in both spellings",
    unlike: &[("privilege-missing", "the endpoint is refused in every spelling")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for call in &facts.calls.all {
        let Some(answered) = respelt(facts, call) else { continue };
        let (old, new) = (&call.http.path, &answered.http.path);
        let finding = out
            .finding(Subject::new("request", old), format!("{old} is refused, and {new} is answered to the same user."))
            .fact("endpoint.refused", old, "HTTP 403")
            .fact("endpoint.answered", new, "yes")
            .affects([old])
            .resting_on(&call.file)
            .resting_on(&answered.file)
            .next("use-other-spelling", 0, format!("ask for {new} on this version"));
        out.found(finding);
    }
}
