//! An alias beside other records of its name.

use super::super::{Out, Rule};
use super::written::{refused, within};
use crate::backends::powerdns::{Name, Refusal};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "cname-conflict",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "An alias (CNAME) was refused since its name holds other records, or the other way round: a name has either. What \
           stands there may be somebody's; it is not to be taken away for the alias alone.",
    reads: "the refusal, the name's records and the remarks on them",
    unlike: &[("name-points-outside", "the record was taken, and points at another's address")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for (call, refusal) in refused(facts) {
        let Refusal::Conflict { name, kind } = refusal else { continue };
        let owner = Name::new(&name);
        let head = facts.powerdns.zones.iter().rev().find(|head| head.rrsets.is_some() && within(&owner, &head.name));
        let sets = head.iter().flat_map(|head| head.rrsets.iter().flatten());
        let others: Vec<_> = sets.filter(|(own, other, _)| *own == owner && *other != kind).collect();
        let Some(head) = head.filter(|_| !others.is_empty()) else {
            let why = facts.calls.why(Api::PowerDns, "servers/*/zones/*");
            out.unknown_of(
                [Subject::new("name", &name)],
                format!("what {name} holds beside the {kind} that was refused"),
                why,
            );
            continue;
        };
        let holds: Vec<String> =
            others.iter().map(|(_, kind, values)| format!("{kind} {}", values.join(", "))).collect();
        let title = format!("{name} holds {}; the {kind} was refused, and nothing was changed.", holds.join(" and "));
        let mut finding = out
            .finding(Subject::new("name", &name), title)
            .affects([&name])
            .resting_on(&call.file)
            .from(head)
            .next("choose-other-alias", 1, format!("choose another name for the {kind}"))
            .next("replace-after-review", 2, format!("or replace what {name} holds, after asking whose it is"));
        for held in &holds {
            finding = finding.fact("name.holds", &name, held);
        }
        for (.., words) in head.remarks.iter().filter(|(own, ..)| *own == owner) {
            finding = finding.fact("record.remark", &name, words);
        }
        out.found(finding);
    }
}
