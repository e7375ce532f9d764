//! Packets of a zone do not fit the underlay once they are wrapped.

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::sdn::text;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "zone-mtu",
    layer: Layer::Fabric,
    severity: Severity::Warning,
    says: "A zone's MTU and the 50 bytes of VXLAN do not fit the interface of the underlay: large packets between nodes vanish. \
           With one node nothing is wrapped yet, and it breaks when a second one joins.",
    reads: "zones, fabrics with the interfaces of their members, MTUs of those interfaces",
    unlike: &[("transit-mtu", "the way out is too small, not the way between nodes")],
    explains: &[],
    judge,
};

/// Bytes that VXLAN adds to a packet.
const WRAP: u32 = 50;
/// A VNet's MTU where the zone sets none (`facts/proxmox.md` §8).
const DEFAULT: u32 = 1450;

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let (Some(zones), Some(fabrics)) = (facts.sdn.zones_in_force(), facts.sdn.fabrics_in_force()) else { return };
    for member in fabrics.nodes.iter().filter(|member| !member.interfaces.is_empty()) {
        let node = facts.nodes.get(&member.node);
        for interface in &member.interfaces {
            let at = format!("{}/{interface}", member.node);
            let Some((limit, links)) = node.and_then(|node| Some((node.link(interface)?.mtu?, node.links.as_ref()?)))
            else {
                // The node's own reading failed, or was not asked for.
                if let Some(why) = node.and_then(|node| node.unreachable.as_ref()) {
                    out.unknown(format!("the MTU of {at}"), Some(why.value.clone()));
                }
                continue;
            };
            let size = |fields| text(fields, "mtu").and_then(|mtu| mtu.parse().ok()).unwrap_or(DEFAULT);
            let here =
                zones.iter().filter(|z| z.kind == "evpn" && (z.nodes.is_empty() || z.nodes.contains(&member.node)));
            let large: Vec<_> =
                here.filter(|zone| size(&zone.fields).saturating_add(WRAP) > limit).map(|z| z.zone.as_str()).collect();
            if large.is_empty() {
                out.pass(Subject::new("node", &member.node));
                continue;
            }
            let mut finding = out
                .finding(
                    Subject::new("node", &member.node),
                    format!("{at} takes {limit} bytes, less than {} need with the {WRAP} of VXLAN.", large.join(", ")),
                )
                .fact("link.mtu", &at, limit)
                .affects(&large)
                .from(zones)
                .from(fabrics)
                .from(links)
                .next("raise-underlay-mtu", 2, format!("raise the MTU of {at}, or lower that of the zones"));
            for zone in zones.iter().filter(|zone| large.contains(&zone.zone.as_str())) {
                finding = finding.fact("zone.mtu", &zone.zone, size(&zone.fields));
            }
            if fabrics.nodes.iter().filter(|other| other.fabric == member.fabric).count() > 1 {
                finding.severity = Severity::Fault;
            }
            out.found(finding);
        }
    }
}
