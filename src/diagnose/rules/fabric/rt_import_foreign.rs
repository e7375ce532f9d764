//! A zone imports the routes of another one of this site. A target that no zone here has is `rt-import-idle`'s.

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::sdn::{Zone, list, text};
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "rt-import-foreign",
    layer: Layer::Fabric,
    severity: Severity::Fault,
    says: "A zone imports a route target that is another zone's: FRR makes it of the autonomous system of a zone's controller and its VRF VNI. The other \
           tenant's networks then appear in this one's VRF, and nothing on the nodes separates the two any more, in this \
           direction at least.",
    reads: "zones, the autonomous systems of their controllers",
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

/// Whose routes carry a target.
pub(super) enum Owner<'a> {
    /// This zone's.
    Zone(&'a Zone),
    /// No zone's that is listed.
    Nobody,
    /// This zone has the number, and the autonomous system of its controller is not known.
    Unclear(&'a Zone),
}

/// Whose routes carry `target`: the autonomous system is that of the zone's own controller, the number its VRF VNI.
pub(super) fn owner<'a>(facts: &Facts, zones: &'a [Zone], (system, number): (u32, u32)) -> Owner<'a> {
    let mut unclear = None;
    for zone in zones.iter().filter(|zone| zone.kind == "evpn" && zone.vrf_vni == Some(number)) {
        match own_system(facts, zone) {
            Some(own) if own == system => return Owner::Zone(zone),
            Some(_) => {}
            None => unclear = unclear.or(Some(zone)),
        }
    }
    unclear.map_or(Owner::Nobody, Owner::Unclear)
}

/// The autonomous system of the controller that the zone names; `None` where it is not known.
fn own_system(facts: &Facts, zone: &Zone) -> Option<u32> {
    let name = text(&zone.fields, "controller")?;
    facts.sdn.controllers_in_force()?.iter().find(|controller| controller.controller == name)?.asn
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some(zones) = facts.sdn.zones_in_force() else { return };
    for zone in zones.iter().filter(|zone| zone.kind == "evpn" && zone.fields.contains_key("rt-import")) {
        for written in list(&zone.fields, "rt-import") {
            let other = match target(&written).map(|target| owner(facts, zones, target)) {
                Some(Owner::Zone(other)) if other.zone != zone.zone => other,
                Some(Owner::Unclear(other)) if other.zone != zone.zone => {
                    let what = format!("the autonomous system of zone {}, whose number is in {written}", other.zone);
                    out.unknown(what, facts.pve.why("cluster/sdn/controllers"));
                    continue;
                }
                _ => continue,
            };
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
