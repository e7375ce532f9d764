//! A name was sent without its final dot.

use super::super::{Out, Rule};
use super::written::refused;
use crate::backends::powerdns::Refusal;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "name-not-canonical",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "A name was sent to PowerDNS without its final dot, and the whole request was refused. The server completes no name: \
           what is meant is the name as it stands, with a dot behind it.",
    reads: "the refusal and the name it quotes",
    unlike: &[("update-refused", "a dynamic update was refused, for its key or its source")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for (call, refusal) in refused(facts) {
        let Refusal::NotCanonical { name } = refusal else { continue };
        let finding = out
            .finding(
                Subject::new("name", &name),
                format!("{name} was sent without its final dot; nothing was changed."),
            )
            .fact("name.refused", &name, "no final dot")
            .affects([&name])
            .resting_on(&call.file)
            .next("send-final-dot", 1, format!("send {name}."));
        out.found(finding);
    }
}
