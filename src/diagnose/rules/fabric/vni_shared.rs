//! One number, two zones or two VNets.

use std::collections::BTreeMap;

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::sdn::{View, Vnet};
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "vni-shared",
    layer: Layer::Fabric,
    severity: Severity::Fault,
    says: "Two zones have one VRF VNI, or two VNets of the overlay have one tag. The platform refuses that where it is made, but \
           not what was written to its files, restored, or applied on two sides of a fabric. On the nodes two VXLAN devices \
           want one number: one of them does not come up, or the two are one network.",
    reads: "zones and VNets",
    unlike: &[("vni-collision", "a VNet's tag is a zone's VRF VNI")],
    explains: &["l3vni-not-bound", "vnet-missing", "vnet-not-on-node", "tag-off-plan", "tenant-off-plan"],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    if let Some(zones) = facts.sdn.zones_in_force() {
        let mut by_number: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
        for zone in zones.iter().filter(|zone| zone.kind == "evpn") {
            by_number.entry(zone.vrf_vni.unwrap_or_default()).or_default().push(&zone.zone);
        }
        for (vni, names) in by_number.into_iter().filter(|(vni, names)| *vni > 0 && names.len() > 1) {
            let title = format!("Zones {} have one VRF VNI, {vni}.", names.join(" and "));
            let mut finding = out
                .finding(Subject::new("zone", names.first().copied().unwrap_or_default()), title)
                .affects(&names)
                .from(zones)
                .next("renumber-zone", 3, "give each zone the number of its own index");
            for name in names {
                finding = finding.fact("zone.vrf-vni", name, vni);
            }
            out.found(finding);
        }
    }
    tags(facts, out);
}

/// The kind of a zone as any list has it; `None` where none does.
fn kind<'a>(facts: &'a Facts, zone: &str) -> Option<&'a str> {
    let zones = facts.sdn.zones.values().flat_map(|zones| zones.iter()).filter(|one| one.zone == zone);
    zones.map(|zone| zone.kind.as_str()).find(|kind| !kind.is_empty())
}

/// Views are looked at one by one: a VNet that is to change its name is in two of them.
fn tags(facts: &Facts, out: &mut Out<'_>) {
    let views = [View::Running, View::Configured, View::Pending].into_iter();
    for vnets in views.filter_map(|view| facts.sdn.vnets.get(&view)) {
        let mut by_tag: BTreeMap<u32, Vec<&Vnet>> = BTreeMap::new();
        let mut unclear: BTreeMap<u32, &str> = BTreeMap::new();
        for vnet in vnets.iter() {
            let tag = vnet.tag.unwrap_or_default();
            match kind(facts, &vnet.zone) {
                Some("evpn" | "vxlan") => {}
                Some(_) => continue,
                None => drop(unclear.insert(tag, &vnet.zone)),
            }
            by_tag.entry(tag).or_default().push(vnet);
        }
        for (tag, all) in by_tag.into_iter().filter(|(tag, all)| *tag > 0 && all.len() > 1) {
            let sure = |vnet: &&&Vnet| kind(facts, &vnet.zone).is_some();
            let names: Vec<&str> = all.iter().filter(sure).map(|vnet| vnet.vnet.as_str()).collect();
            if let (Some(zone), true) = (unclear.get(&tag), names.len() < 2) {
                let what = format!("of what kind zone {zone} is, which shares tag {tag}");
                let sharing = all.iter().map(|vnet| Subject::new("zone", &vnet.zone));
                out.unknown_of(sharing, what, facts.pve.why("cluster/sdn/zones"));
                continue;
            }
            let title = format!("VNets {} have one tag, {tag}.", names.join(" and "));
            let whose = vnets.iter().filter(|vnet| names.contains(&vnet.vnet.as_str())).map(|vnet| &vnet.zone);
            let mut finding = out
                .finding(Subject::new("vnet", names.first().copied().unwrap_or_default()), title)
                .affects(whose.filter(|zone| !zone.is_empty()))
                .from(vnets)
                .next("next-free-tag", 2, "give one of them a free tag of its tenant's ten");
            for name in names {
                finding = finding.fact("vnet.tag", name, tag);
            }
            out.found(finding);
        }
    }
}
