//! A zone imports the routes of another one.

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::sdn::{Zone, list};
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "rt-import-foreign",
    layer: Layer::Fabric,
    severity: Severity::Fault,
    says: "A zone imports a route target that is another zone's: FRR makes it of the autonomous system and the VRF VNI. The other \
           tenant's networks then appear in this one's VRF, and nothing on the nodes separates the two any more, in this \
           direction at least.",
    reads: "zones, the controller's autonomous system",
    unlike: &[
        ("inter-tenant-leak", "no import is asked for, and the node routes across all the same"),
        ("rt-import-idle", "the target is no zone's"),
    ],
    explains: &["inter-tenant-leak"],
    judge,
};

/// Autonomous system and number of `n:n`.
pub(super) fn target(text: &str) -> Option<(u32, u32)> {
    let (system, number) = text.split_once(':')?;
    Some((system.parse().ok()?, number.parse().ok()?))
}

/// The zone whose routes carry `target`, if one of `zones` does. Where the system is not known, the number decides.
pub(super) fn owner(zones: &[Zone], asn: Option<u32>, (system, number): (u32, u32)) -> Option<&Zone> {
    let same = asn.is_none_or(|asn| asn == system);
    zones.iter().find(|zone| same && zone.kind == "evpn" && zone.vrf_vni == Some(number))
}

/// The autonomous system of the only EVPN controller; `None` where it is not known.
pub(super) fn system(facts: &Facts) -> Option<u32> {
    facts.sdn.controllers_in_force()?.iter().find(|controller| controller.kind == "evpn")?.asn
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some(zones) = facts.sdn.zones_in_force() else { return };
    let asn = system(facts);
    for zone in zones.iter().filter(|zone| zone.kind == "evpn" && zone.fields.contains_key("rt-import")) {
        for written in list(&zone.fields, "rt-import") {
            let other = target(&written).and_then(|target| owner(zones, asn, target));
            let Some(other) = other.filter(|other| other.zone != zone.zone) else { continue };
            let finding = out
                .finding(
                    Subject::new("zone", &zone.zone),
                    format!("Zone {} imports {written}, the routes of zone {}.", zone.zone, other.zone),
                )
                .fact("zone.rt-import", &zone.zone, &written)
                .fact("zone.vrf-vni", &other.zone, other.vrf_vni.unwrap_or_default())
                .affects([&zone.zone, &other.zone])
                .from(zones)
                .next(
                    "drop-import",
                    2,
                    format!("take {written} out of zone {}, look at the dry run, apply", zone.zone),
                );
            out.found(finding);
        }
    }
}
