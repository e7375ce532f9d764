//! A VNet whose tag is not of its tenant's band.

use super::super::{Out, Rule};
use super::plan;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};
use crate::site::numbering::TenantIndex;

/// The rule.
pub static RULE: Rule = Rule {
    id: "tag-off-plan",
    layer: Layer::Fabric,
    severity: Severity::Warning,
    says: "A VNet of a tenant has a tag outside the ten that its index gives. It works today and takes a number that belongs to \
           another tenant, who will want it, or to nobody, so that a second site can have the same.",
    reads: "VNets, zones, the site file's numbering",
    unlike: &[
        ("zone-unexplained", "the zone itself is not in the plan"),
        ("vni-shared", "two VNets have one tag already"),
    ],
    explains: &["tenant-off-plan"],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some((site, plan)) = plan::plan(facts) else { return };
    let zones = plan::placed(facts, plan);
    let Some(vnets) = facts.sdn.vnets_in_force() else {
        let why = facts.pve.why("cluster/sdn/vnets");
        if !zones.is_empty() && (why.is_some() || plan::looked(facts)) {
            out.unknown("the VNets and their tags", why);
        }
        return;
    };
    for vnet in vnets.iter() {
        let Some((_, index)) = zones.iter().find(|(zone, _)| zone.zone == vnet.zone) else { continue };
        let Some(tag) = vnet.tag else {
            out.unknown_of([Subject::new("zone", &vnet.zone)], format!("the tag of VNet {}", vnet.vnet), None);
            continue;
        };
        let owner = plan.index_of_tag(tag).map(|(owner, _)| owner);
        if owner == Some(*index) {
            out.pass(Subject::new("vnet", &vnet.vnet));
            continue;
        }
        let whose = owner.map_or_else(|| "nobody's".to_owned(), |owner: TenantIndex| format!("index {owner}'s"));
        let title = format!("Tag {tag} of VNet {} is {whose}; its zone {} has index {index}.", vnet.vnet, vnet.zone);
        let band = format!("{} to {}", plan.vnet_vni_base_of(*index), plan.vnet_vni_last_of(*index));
        let finding = out
            .finding(Subject::new("vnet", &vnet.vnet), title)
            .fact("vnet.tag", &vnet.vnet, tag)
            .fact("plan.tags", &vnet.zone, band)
            .fact("zone.index", &vnet.zone, index)
            .affects([&vnet.zone])
            .from(vnets)
            .from(site)
            .next(
                "renumber-vnet",
                2,
                format!("give {} a tag of its tenant's ten, by the code that makes it", vnet.vnet),
            );
        out.found(finding);
    }
}
