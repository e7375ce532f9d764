//! SNAT is asked for in a zone that names no exit node.

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "snat-without-exit-node",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "A subnet asks for SNAT, but its zone names no exit node. Only exit nodes get the translation rule and originate \
           a default route, so nothing performs it and every internet destination is lost. Applying the same \
           configuration again changes nothing.",
    reads: "the zones as applied, the subnets of their VNets; routes of each node's VRF confirm it",
    unlike: &[("snat-missing", "the zone names an exit node and the rule is missing on it")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let zones = facts.sdn.zones_in_force();
    for subnets in facts.sdn.subnets.values() {
        for subnet in subnets.iter().filter(|s| s.snat) {
            let Some(zones) = zones else {
                out.unknown_of(
                    [Subject::new("zone", &subnet.zone)],
                    format!("the exit nodes of zone {}", subnet.zone),
                    None,
                );
                continue;
            };
            let Some(zone) = zones.iter().find(|z| z.zone == subnet.zone && z.kind == "evpn") else { continue };
            let subject = Subject::new("zone", &zone.zone);
            if !zone.exit_nodes.is_empty() {
                out.pass(subject);
                continue;
            }
            let mut finding = out
                .finding(
                    subject,
                    format!(
                        "SNAT is asked for in {}, but zone {} names no exit node: nothing performs it.",
                        subnet.cidr, zone.zone
                    ),
                )
                .fact("zone.exit-nodes", &zone.zone, "none")
                .fact("subnet.snat", subnet.cidr.to_string(), "on")
                .fact("snat.performed-by", subnet.cidr.to_string(), "nobody")
                .affects([&zone.zone])
                .from(zones)
                .from(subnets)
                .next(
                    "set-exit-nodes",
                    3,
                    format!("name the exit node(s) of zone {}, look at the dry run, apply", zone.zone),
                );
            for ((_, of), routes) in &facts.sdn.ip_vrf {
                if *of == zone.zone {
                    finding = finding.from(routes);
                }
            }
            out.found(finding);
        }
    }
}
