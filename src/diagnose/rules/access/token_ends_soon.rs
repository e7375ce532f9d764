//! A token whose end is near.

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "token-ends-soon",
    layer: Layer::Access,
    severity: Severity::Warning,
    says: "An API token of Proxmox VE has an end date within two weeks. From then on nothing of it is accepted, and all that only \
           Proxmox VE knows is unknown. A token's end can be read by who may change users; where it was not read, nothing is said.",
    reads: "the user's tokens with their end, and when they were read",
    unlike: &[("token-expired", "the end is past, and a request was refused for it")],
    explains: &[],
    judge,
};

/// Seconds before its end from which a token is told.
const SOON: i64 = 14 * 86_400;

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some(now) = facts.read_at.map(jiff::Timestamp::as_second) else { return };
    for token in &facts.access.tokens {
        // 0 is no end; of one that is past, the refusal tells.
        let end = token.expire.and_then(|end| i64::try_from(end).ok()).filter(|end| *end > 0);
        let left = end.map_or(i64::MAX, |end| end.saturating_sub(now));
        if !(0..SOON).contains(&left) {
            out.pass(Subject::new("token", &token.id));
            continue;
        }
        let day = end.and_then(|end| jiff::Timestamp::from_second(end).ok());
        let day = day.map(|at| at.strftime("%Y-%m-%d").to_string()).unwrap_or_default();
        let when = match left / 86_400 {
            0 => "within a day".to_owned(),
            1 => "in one day".to_owned(),
            days => format!("in {days} days"),
        };
        let finding = out
            .finding(Subject::new("token", &token.id), format!("Token {} ends {when}, on {day}.", token.id))
            .fact("token.ends", &token.id, &day)
            .affects([&token.id])
            .from(token)
            .next("new-token", 2, format!("ask for a later end of {}, or for a new token", token.id));
        out.found(finding);
    }
}
