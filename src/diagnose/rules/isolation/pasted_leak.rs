//! Somebody ran it and got through.

use super::super::{Out, Rule};
use super::matrix::{Matrix, SenderKind, Traffic};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "pasted-leak",
    layer: Layer::Isolation,
    severity: Severity::Fault,
    says: "A result that somebody pasted shows that traffic got through where it must not: something answered, or refused. It \
           is that person's word; routes and rules may say otherwise, and traffic is what counts.",
    reads: "pasted results, subnets of all zones, segments of the perimeter",
    unlike: &[
        ("inter-tenant-leak", "routes of an exit node say that it delivers"),
        ("pasted-contradiction", "another pasted result says that it timed out"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    if facts.pasted.is_empty() {
        return;
    }
    let matrix = Matrix::of(facts);
    for (row, column, cell) in matrix.iter() {
        let (Some(sender), Some(target)) = (matrix.senders.get(row), matrix.targets.get(column)) else { continue };
        let kind = if sender.kind == SenderKind::Tenant { "zone" } else { "name" };
        let subject = Subject::new(kind, &sender.name);
        match &cell.traffic {
            Traffic::Blocked => out.pass(subject),
            Traffic::Open { what } => {
                let title =
                    format!("Traffic from {} got through to {}, as a pasted result shows.", sender.name, target.name);
                let mut finding = out
                    .finding(subject, title)
                    .fact("pasted.result", matrix.name(row, column), what)
                    .fact("routes.and.rules", matrix.name(row, column), cell.config.word())
                    .affects([&sender.name, &target.name]);
                for given in facts.pasted.iter().filter(|p| sender.whence.is(&p.given.from)) {
                    let words = format!("{} by {}, {}", given.given.from, given.given.by, given.given.at);
                    finding = finding.fact("pasted.from", matrix.name(row, column), words).from(given);
                }
                out.found(finding.next(
                    "find-way",
                    0,
                    "run it again with a capture on the exit node, and find which way it takes",
                ));
            }
            _ => {}
        }
    }
}
