//! One number is a VNet's tag and a zone's VRF VNI.

use std::collections::BTreeSet;

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "vni-collision",
    layer: Layer::Fabric,
    severity: Severity::Fault,
    says: "A VNet's tag is also a zone's VRF VNI. The platform checks tags against tags and VRF VNIs against each other, not \
           across, and answers 200. On the nodes the VXLAN devices clash and routing across nodes fails.",
    reads: "zones, VNets, what was just created",
    unlike: &[],
    explains: &["l3vni-not-bound", "tag-off-plan", "tenant-off-plan"],
    judge,
};

/// A VNet and its tag: as listed, or as just created.
fn tags(facts: &Facts) -> Vec<(String, u32, bool)> {
    let listed = facts.sdn.vnets.values().flat_map(|list| list.iter());
    let mut found: Vec<_> = listed.filter_map(|vnet| Some((vnet.vnet.clone(), vnet.tag?, false))).collect();
    let created = facts.sdn.writes.iter().filter(|write| write.method == "POST" && write.path == "cluster/sdn/vnets");
    found.extend(
        created.filter_map(|write| Some((write.field("vnet")?.to_owned(), write.field("tag")?.parse().ok()?, true))),
    );
    found
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let tags = tags(facts);
    if tags.is_empty() {
        return;
    }
    if facts.sdn.zones.is_empty() {
        out.unknown("the VRF VNIs of the zones", facts.pve.why("cluster/sdn/zones"));
        return;
    }
    let zones: Vec<_> = facts.sdn.zones.values().flat_map(|list| list.iter().map(move |zone| (list, zone))).collect();
    let used: BTreeSet<u32> =
        zones.iter().filter_map(|(_, zone)| zone.vrf_vni).chain(tags.iter().map(|t| t.1)).collect();
    for (vnet, tag, created) in &tags {
        let holder = zones.iter().find(|(_, zone)| zone.vrf_vni == Some(*tag));
        let Some((list, zone)) = holder else {
            out.pass(Subject::new("vnet", vnet));
            continue;
        };
        let free = (tag.saturating_add(1)..).find(|candidate| !used.contains(candidate));
        let title = format!("Tag {tag} of VNet {vnet} is already the VRF VNI of zone {}.", zone.zone);
        let mut finding = out
            .finding(Subject::new("vnet", vnet), title)
            .fact("zone.vrf-vni", &zone.zone, tag)
            .fact("vnet.tag", vnet, tag)
            .fact("platform.refuses", "a tag that is a VRF VNI", "no")
            .affects([vnet, &zone.zone])
            .from(*list);
        for list in facts.sdn.vnets.values() {
            finding = finding.from(list);
        }
        for write in facts.sdn.writes.iter().filter(|write| *created && write.field("vnet") == Some(vnet)) {
            finding = finding.from(write);
        }
        if facts.sdn.vnets.is_empty() {
            out.unknown("the tags of the VNets", facts.pve.why("cluster/sdn/vnets"));
        }
        let text =
            free.map_or_else(|| "choose a free tag".to_owned(), |free| format!("take the next free tag, {free}"));
        out.found(finding.next("next-free-tag", 1, text));
    }
}
