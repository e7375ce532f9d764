//! Objects are marked as changed, and nothing would change.

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "sdn-no-effect",
    layer: Layer::Fabric,
    severity: Severity::Info,
    says: "An object is marked as changed although its values are the same: a 0 that is compared with 0, or a list of nodes in \
           another order. Lists of nodes are sets and are printed in no fixed order. It is no drift.",
    reads: "what waits, several readings of the zones, dry runs",
    unlike: &[("sdn-pending", "a value would change")],
    explains: &[],
    judge,
};

/// Lists that are sets.
const SETS: [&str; 2] = ["exitnodes", "nodes"];

/// Zones whose lists differ between readings in order alone: zone and field.
fn reordered(facts: &Facts) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    let readings = &facts.sdn.zone_readings;
    for ((view, earlier), (_, later)) in readings.iter().zip(readings.iter().skip(1)).filter(|(a, b)| a.0 == b.0) {
        let _ = view;
        for zone in earlier.iter() {
            let Some(again) = later.iter().find(|z| z.zone == zone.zone) else { continue };
            for (field, a, b) in [(SETS[0], &zone.exit_nodes, &again.exit_nodes), (SETS[1], &zone.nodes, &again.nodes)]
            {
                let sorted = |list: &[String]| {
                    let mut list = list.to_vec();
                    list.sort_unstable();
                    list
                };
                if a != b && sorted(a) == sorted(b) {
                    found.push((zone.zone.clone(), field));
                }
            }
        }
    }
    found
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let idle: Vec<_> = facts.sdn.pending.iter().filter(|one| !one.is_effective()).collect();
    let reordered = reordered(facts);
    if idle.is_empty() && reordered.is_empty() {
        return;
    }
    let mut finding = out.finding(
        Subject::new("source", "sdn"),
        "Objects of SDN are marked as changed or printed in another order, and nothing would change.",
    );
    for (zone, field) in &reordered {
        finding = finding.fact("list.order", format!("{zone} {field}"), "differs, same set");
    }
    for (_, reading) in &facts.sdn.zone_readings {
        if !reordered.is_empty() {
            finding = finding.from(reading);
        }
    }
    for one in idle {
        for change in &one.changes {
            let set = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
            let value = format!("{} -> {}, no change", set(&change.old), set(&change.new));
            finding = finding.fact("sdn.pending-effect", format!("{} {} {}", one.kind, one.id, change.field), value);
        }
        finding = finding.from(one);
    }
    let finding = proof(facts, finding, out).next("ignore", 0, "leave it").next(
        "apply-once",
        3,
        "or clear the marks by one apply that changes nothing, after a look at the dry runs",
    );
    out.found(finding);
}

/// Empty dry runs prove it.
fn proof(facts: &Facts, mut finding: Finding, out: &mut Out<'_>) -> Finding {
    if facts.sdn.dry_runs.is_empty() {
        out.unknown("dry runs of the nodes", facts.pve.why("cluster/sdn/dry-run"));
    }
    for (node, run) in &facts.sdn.dry_runs {
        let empty = run.frr.is_none() && run.interfaces.is_none();
        finding = finding.fact("dry-run", node, if empty { "empty" } else { "not empty" }).from(run);
    }
    finding
}
