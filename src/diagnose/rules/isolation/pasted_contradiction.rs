//! Pasted results that cannot all be true.

use super::super::{Out, Rule};
use super::matrix::{Config, Matrix, SenderKind, Traffic};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "pasted-contradiction",
    layer: Layer::Isolation,
    severity: Severity::Warning,
    says: "Pasted results say different things of one try, or a pasted result says that nothing got through where an exit node \
           delivers. What was measured stands; what was pasted decides nothing until it is run again.",
    reads: "pasted results, routes and lookups of exit nodes",
    unlike: &[("pasted-leak", "all pasted results agree that something got through")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    if facts.pasted.is_empty() {
        return;
    }
    let matrix = Matrix::of(facts);
    for (row, column, cell) in matrix.iter() {
        let what = match (&cell.traffic, cell.config) {
            (Traffic::Contradictory { what }, _) => what.clone(),
            (Traffic::Blocked, Config::Open) => format!("every leg timed out, and {}", cell.sentence),
            _ => continue,
        };
        let name = matrix.name(row, column);
        let (Some(sender), Some(target)) = (matrix.senders.get(row), matrix.targets.get(column)) else { continue };
        let kind = if sender.kind == SenderKind::Tenant { "zone" } else { "name" };
        let title = format!("Pasted results for {name} contradict each other or what was measured.");
        let mut finding = out
            .finding(Subject::new(kind, &sender.name), title)
            .fact("pasted.contradiction", name, what)
            .affects([&sender.name, &target.name])
            .next("run-again", 0, "run it again, and take the older result away");
        for given in facts.pasted.iter().filter(|p| sender.whence.is(&p.given.from)) {
            finding = finding.from(given);
        }
        out.found(finding);
    }
}
