//! Objects wait to be applied, and an apply takes all of them.

use std::collections::BTreeSet;

use super::super::{Out, Rule};
use crate::diagnose::facts::journal::Open;
use crate::diagnose::facts::sdn::Pending;
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "sdn-pending",
    layer: Layer::Fabric,
    severity: Severity::Warning,
    says: "Objects of the SDN configuration wait to be applied. An apply commits everything that waits, by whomever; the platform \
           does not say who made a change. New objects may belong to the change at hand; changes of what others use are \
           to be looked at one by one. A rollback throws all of them away.",
    reads: "zones, VNets, subnets and controllers with what waits, what this session wrote, what open changes of this console staged, \
            the lock's refusal",
    unlike: &[
        ("sdn-no-effect", "marked as changed, without a difference"),
        ("node-lags", "nothing waits, a node is behind"),
    ],
    explains: &[],
    judge,
};

/// Whether this session's own writes name the object.
fn written_here(facts: &Facts, one: &Pending) -> bool {
    facts.sdn.writes.iter().any(|write| {
        write.path.split('/').any(|segment| segment == one.id) || write.field(one.kind) == Some(one.id.as_str())
    })
}

/// The open change of this console that staged all of `waits`.
fn staged_by<'f>(facts: &'f Facts, waits: &[&Sourced<Pending>]) -> Option<&'f Open> {
    facts.changes.as_ref()?.staging(waits.iter().map(|one| &one.value))
}

/// Who made a change: ours by what was written here, or by what an open change staged; else a guess, and marked as one.
fn origin(facts: &Facts, one: &Pending) -> String {
    let change = facts.changes.as_ref().and_then(|changes| changes.staging(std::iter::once(one)));
    match (written_here(facts, one), change, one.state.as_str()) {
        (true, ..) => "this session".to_owned(),
        (_, Some(change), _) => format!("change {}", change.id),
        (_, _, "new") => "this session?".to_owned(),
        _ => "not this session?".to_owned(),
    }
}

fn words(one: &Pending) -> String {
    let set = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    let change = |c: &crate::diagnose::facts::sdn::Change| format!("{}: {} -> {}", c.field, set(&c.old), set(&c.new));
    let changes: Vec<String> = one.changes.iter().filter(|change| change.is_effective()).map(change).collect();
    format!("{} ({})", one.state, changes.join("; "))
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let waits: Vec<&Sourced<Pending>> = facts.sdn.pending.iter().filter(|one| one.is_effective()).collect();
    for (kind, what) in [("zone", "zones"), ("vnet", "VNets")] {
        let some = !facts.sdn.pending_read.is_empty() && (!waits.is_empty() || facts.sdn.lock_refused.is_some());
        if some && !facts.sdn.pending_read.contains_key(kind) {
            out.unknown(format!("which {what} wait to be applied"), facts.pve.why("cluster/sdn"));
        }
    }
    if waits.is_empty() {
        match (&facts.sdn.lock_refused, facts.sdn.pending_read.is_empty()) {
            (Some(_), _) => out.unknown("what waits to be applied", facts.pve.why("cluster/sdn")),
            (None, false) => out.pass(Subject::new("source", "sdn")),
            (None, true) => {}
        }
        return;
    }
    let finding = finding(facts, &waits, out);
    out.found(finding);
}

fn objects(count: usize) -> String {
    if count == 1 { "1 object".to_owned() } else { format!("{count} objects") }
}

fn finding(facts: &Facts, waits: &[&Sourced<Pending>], out: &Out<'_>) -> Finding {
    let staged = staged_by(facts, waits);
    let foreign: Vec<_> = waits.iter().filter(|one| origin(facts, one).starts_with("not")).collect();
    let name = |one: &Pending| format!("{} {}", one.kind, one.id);
    let title = match foreign.first() {
        Some(one) if foreign.len() == 1 => {
            format!("A change of {} waits, and nothing says who made it: the next apply puts it in force.", name(one))
        }
        Some(one) => format!(
            "Changes of {} and {} more wait, and nothing says who made them: the next apply puts them in force.",
            name(one),
            foreign.len().saturating_sub(1)
        ),
        None if staged.is_some() => {
            let change = staged.map_or("", |change| change.id.as_str());
            format!("{} of SDN that change {change} staged wait to be applied.", objects(waits.len()))
        }
        None if waits.len() == 1 => "An object of SDN waits to be applied.".to_owned(),
        None => format!("{} objects of SDN wait to be applied.", waits.len()),
    };
    let cause = staged.map(|change| ("change-unfinished", Subject::new("name", &change.id)));
    let mut finding = out.finding(Subject::new("source", "sdn"), title).caused_by(cause);
    let mut zones = BTreeSet::new();
    for one in waits {
        finding = finding
            .fact("sdn.pending", name(one), words(one))
            .fact("sdn.pending-origin", name(one), origin(facts, one))
            .from(one);
        let lost = one.changes.iter().find(|c| c.field == "exitnodes" && c.new.is_none() && c.old.is_some());
        if lost.is_some() && one.kind == "zone" {
            finding = finding.fact("zone.would-lose", &one.id, "its exit nodes");
        }
        zones.extend(one.zone.clone());
    }
    if let Some(refused) = &facts.sdn.lock_refused {
        finding = finding.fact("sdn.lock", "cluster", &refused.value).from(refused);
    }
    let who: BTreeSet<String> = foreign.iter().map(|one| one.zone.clone().unwrap_or_else(|| name(one))).collect();
    let who: Vec<String> = who.into_iter().collect();
    finding = finding.affects(zones).next("stop-and-ask", 0, "stop, and ask whose change it is");
    if who.is_empty() {
        return finding.next("look-at-dry-run", 0, "look at the dry run of each node before an apply");
    }
    // What waits and cannot be right is taken out first.
    if super::mtu_nonsense::waiting(facts).next().is_some() {
        return finding;
    }
    finding.next(
        "apply-all-named",
        3,
        format!("or apply all of it, after explicit consent that names {}", who.join(", ")),
    )
}
