//! Two clocks that differ by more than a signature allows.

use jiff::SignedDuration;

use super::super::{Out, Rule};
use super::tried_keys;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "clock-skew",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "The clocks of this host and of the server differ by more than a signature allows, 300 seconds unless the client \
           says otherwise. PowerDNS does not say so: it refuses the update as if the key were wrong, and the key is right.",
    reads: "the date of an answer and this host's clock at that moment, updates that were refused",
    unlike: &[("update-refused", "the clocks agree, or the refusal is signed: the key was accepted")],
    explains: &["update-refused"],
    judge,
};

/// Seconds that a signature allows by default (RFC 8945 §10; nsupdate).
pub(super) const FUDGE: i64 = 300;
/// Seconds above which it is worth a word.
const NOTICE: i64 = 60;

/// How far the clocks of this host and of whoever told its own are apart, with the files that say so.
pub(super) fn differences(facts: &Facts) -> Vec<(i64, &'static str, Vec<String>)> {
    let mut all = Vec::new();
    for date in &facts.clocks.dates {
        let (here, file) = match (date.here, &facts.clocks.here, facts.clocks.noted.get("now")) {
            (Some(at), ..) => (at, None),
            (None, Some(at), _) | (None, None, Some(at)) => (at.value, Some(at.file.to_string())),
            _ => continue,
        };
        let apart = date.at.duration_since(here).as_secs().abs();
        all.push((apart, date.api.words(), std::iter::once(date.file.to_string()).chain(file).collect()));
    }
    all
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    tried_keys::clocks(facts, out);
    let refused: Vec<_> = facts.powerdns.updates.iter().filter(|u| u.refused.is_some() && u.unsigned).collect();
    if !refused.is_empty() && differences(facts).is_empty() {
        let known = facts.clocks.dates.is_empty();
        out.unknown(if known { "the clock of the server" } else { "the clock of this host" }, None);
    }
    for (apart, who, files) in differences(facts) {
        if apart <= NOTICE {
            out.pass(Subject::new("source", who));
            continue;
        }
        let shown = SignedDuration::from_secs(apart).as_secs();
        let mut finding = out
            .finding(Subject::new("source", who), format!("The clocks of this host and of {who} differ by {shown} s."))
            .fact("clock.difference", who, format!("{shown} s"))
            .fact("signature.allows", who, format!("{FUDGE} s"))
            .next(
                "fix-time-sync",
                0,
                "fix time synchronisation on the host that is off; a third clock tells which one",
            );
        for file in files {
            finding = finding.resting_on(&file);
        }
        if apart > FUDGE {
            for update in &refused {
                finding = finding.affects([&update.from]).resting_on(&update.file);
            }
        }
        if apart <= FUDGE || refused.is_empty() {
            finding.severity = Severity::Warning;
        }
        out.found(finding);
    }
}
