//! A zone imports a route target that nobody has.

use super::super::{Out, Rule};
use super::rt_import_foreign::{Owner, owner, target};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::sdn::list;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "rt-import-idle",
    layer: Layer::Fabric,
    severity: Severity::Info,
    says: "A zone imports a route target that none of the zones here has. It imports nothing now; the tenant who gets that number \
           later is joined with this one without anybody asking for it.",
    reads: "zones, the autonomous systems of their controllers",
    unlike: &[("rt-import-foreign", "the target is a zone's, and its routes come in")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some(zones) = facts.sdn.zones_in_force() else { return };
    for zone in zones.iter().filter(|zone| zone.kind == "evpn") {
        for written in list(&zone.fields, "rt-import") {
            // Where the system is not known the other rule says so.
            if target(&written).is_some_and(|target| !matches!(owner(facts, zones, target), Owner::Nobody)) {
                continue;
            }
            let finding = out
                .finding(
                    Subject::new("zone", &zone.zone),
                    format!("Zone {} imports {written}, which no zone here has.", zone.zone),
                )
                .fact("zone.rt-import", &zone.zone, &written)
                .affects([&zone.zone])
                .from(zones)
                .next("ask-whose", 0, "find out what the import is for")
                .not_tested("whether another fabric announces it");
            out.found(finding);
        }
    }
}
