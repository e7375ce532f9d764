//! A size that nothing can be sent with waits to be applied.

use super::super::{Out, Rule};
use crate::diagnose::facts::sdn::Pending;
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "zone-mtu-nonsense",
    layer: Layer::Fabric,
    severity: Severity::Fault,
    says: "A zone's MTU waits to be changed to less than every host takes (576 bytes, RFC 791): an apply gives it to every \
           interface of the zone. 0 is not \"automatic\"; without a value the platform chooses one.",
    reads: "zones with what waits, dry runs",
    unlike: &[("zone-mtu", "the size can be used, and does not fit the underlay")],
    explains: &["sdn-pending"],
    judge,
};

/// What every host takes.
const LEAST: u32 = 576;

/// The zones that wait for such a size, and the size.
pub(super) fn waiting(facts: &Facts) -> impl Iterator<Item = (&Sourced<Pending>, &str)> {
    let zones = facts.sdn.pending.iter().filter(|one| one.kind == "zone");
    zones.filter_map(|one| {
        let mtu = one.changes.iter().find(|change| change.field == "mtu")?.new.as_deref()?;
        mtu.parse::<u32>().map_or(true, |mtu| mtu < LEAST).then_some((one, mtu))
    })
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for (waits, mtu) in waiting(facts) {
        let zone = &waits.id;
        let title =
            format!("Zone {zone} waits to be given MTU {mtu}: an apply would give it to every interface of the zone.");
        let mut finding = out
            .finding(Subject::new("zone", zone), title)
            .fact("pending.mtu", zone, mtu)
            .fact("mtu.reaches", zone, "every interface of the zone")
            .affects([zone])
            .from(waits)
            .next(
                "remove-pending-value",
                2,
                format!("take the MTU of {zone} out of what waits before anything is applied"),
            );
        let line = format!("+mtu {mtu}");
        for (node, run) in &facts.sdn.dry_runs {
            let lines = run.interfaces.iter().flat_map(|diff| diff.lines());
            let count = lines
                .filter(|have| have.split_whitespace().collect::<Vec<_>>().join(" ").replace("+ ", "+") == line)
                .count();
            if count > 0 {
                finding = finding.fact("dry-run.sets", node, format!("mtu {mtu} on {count}")).from(run);
            }
        }
        if facts.sdn.dry_runs.is_empty() {
            out.unknown_of([Subject::new("zone", zone)], format!("which interfaces get the MTU of {zone}"), None);
        }
        out.found(finding);
    }
    let runs = facts.sdn.dry_runs.values().filter(|run| run.interfaces.is_some());
    if !facts.sdn.pending_read.contains_key("zone") && runs.count() > 0 {
        out.unknown("which zones wait to be applied", None);
    }
}
