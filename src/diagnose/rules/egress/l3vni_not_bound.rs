//! The VRF's VNI is not a layer-3 VNI, so prefix routes are not exported.

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::node::Node;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "l3vni-not-bound",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "A zone's VRF VNI is not bound to its VRF on a node: it is absent, or listed as layer 2 like any VNet's. Guests of \
           one subnet talk across nodes, but no prefix route is exported, and nothing reaches another subnet or the \
           internet across nodes. That VNIs are listed at all says nothing.",
    reads: "zones, `show evpn vni`, `show bgp l2vpn evpn vni`",
    unlike: &[("frr-down", "FRR does not run at all")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for (name, node) in facts.nodes.iter().filter(|(_, node)| node.evpn_vnis.is_some() || node.bgp_vnis.is_some()) {
        let Some(zones) = facts.sdn.zones_in_force() else {
            out.unknown("the VRF VNIs of the zones", facts.pve.why("cluster/sdn/zones"));
            continue;
        };
        let here = |nodes: &[String]| nodes.is_empty() || nodes.iter().any(|node| node == name);
        for zone in zones.iter().filter(|zone| zone.kind == "evpn" && here(&zone.nodes)) {
            let Some(vni) = zone.vrf_vni else { continue };
            let subject = Subject::new("zone", &zone.zone);
            match seen(node, vni) {
                Some("L3") => out.pass(subject),
                None => out.unknown_of(
                    [Subject::new("zone", &zone.zone)],
                    format!("the VNIs of {name}"),
                    node.why_unread("vtysh"),
                ),
                Some(kind) => {
                    let title = format!("VNI {vni} of zone {} is not bound to its VRF on {name} ({kind}).", zone.zone);
                    let mut finding = out
                        .finding(subject, title)
                        .fact("zone.vrf-vni", &zone.zone, vni)
                        .fact("evpn.vni-type", format!("{name}/{vni}"), kind)
                        .fact("evpn.exports-prefixes", format!("{name}/{}", zone.zone), "no")
                        .affects([&zone.zone])
                        .from(zones)
                        .next(
                            "show-missing-section",
                            0,
                            format!("show what is missing on {name}: vrf vrf_{} / vni {vni} / exit-vrf", zone.zone),
                        )
                        .command("vtysh -c 'show running-config'");
                    if let Some(counts) = &node.bgp_vnis {
                        finding = finding.fact("evpn.l3-vnis", name, counts.l3).from(counts);
                    }
                    if let Some(vnis) = &node.evpn_vnis {
                        finding = finding.from(vnis);
                    }
                    out.found(finding);
                }
            }
        }
    }
}

/// As what the VNI is known; `None` where that cannot be told.
fn seen(node: &Node, vni: u32) -> Option<&'static str> {
    if let Some(vnis) = &node.evpn_vnis {
        return Some(match vnis.iter().find(|one| one.vni == vni) {
            Some(one) if one.l3 => "L3",
            Some(_) => "L2",
            None => "absent",
        });
    }
    match node.bgp_vnis.as_ref()?.l3 {
        0 => Some("no L3 VNI at all"),
        _ => None,
    }
}
