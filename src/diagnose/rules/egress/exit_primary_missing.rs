//! Several exit nodes translate, and none of them is the primary one.

use std::collections::BTreeMap;

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::sdn::Zone;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "exit-primary-missing",
    layer: Layer::Egress,
    severity: Severity::Warning,
    says: "A zone with SNAT names several exit nodes and no primary one. Each translates to its own address, and equal \
           defaults spread the flows: any flow whose packets move between them breaks. The order of the list is no \
           priority.",
    reads: "zones, subnets; the exit nodes' NAT rules show the addresses",
    unlike: &[("exit-nodes-loop", "the exit nodes send traffic to each other")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some(zones) = facts.sdn.zones_in_force() else { return };
    for zone in zones.iter().filter(|zone| zone.kind == "evpn" && zone.exit_nodes.len() > 1) {
        let subnets: Vec<_> = facts.sdn.subnets_in_force().filter(|(_, subnet)| subnet.zone == zone.zone).collect();
        let rules = sources(facts, zone);
        let asked = subnets.iter().any(|(_, subnet)| subnet.snat);
        if zone.primary.is_some() {
            out.pass(Subject::new("zone", &zone.zone));
            continue;
        }
        if subnets.is_empty() && rules.len() < 2 {
            out.unknown_of(
                [Subject::new("zone", &zone.zone)],
                format!("the subnets of zone {}", zone.zone),
                facts.pve.why("cluster/sdn/vnets"),
            );
            continue;
        }
        if !subnets.is_empty() && !asked {
            continue;
        }
        let mut exits = zone.exit_nodes.clone();
        exits.sort_unstable();
        let title = format!("Zone {} translates on {} exit nodes and names no primary one.", zone.zone, exits.len());
        let mut finding = out
            .finding(Subject::new("zone", &zone.zone), title)
            .fact("zone.exit-nodes", &zone.zone, exits.join(", "))
            .fact("zone.primary", &zone.zone, "none")
            .affects([&zone.zone])
            .from(zones)
            .next("set-primary", 2, format!("set exitnodes-primary of zone {}, look at the dry run, apply", zone.zone));
        for (list, subnet) in subnets.iter().filter(|(_, subnet)| subnet.snat) {
            finding = finding.fact("subnet.snat", subnet.cidr.to_string(), "on").from(*list);
        }
        for (node, to) in rules {
            finding = finding.fact("snat.source", node, to);
            for rules in facts.nodes.get(node).iter().flat_map(|node| node.snat.values()) {
                finding = finding.from(rules);
            }
        }
        out.found(finding);
    }
}

/// To which address each exit node translates.
fn sources<'a>(facts: &'a Facts, zone: &'a Zone) -> BTreeMap<&'a str, String> {
    let of = |name: &'a String| {
        let to = facts.nodes.get(name)?.snat_rules()?.find_map(|rule| rule.to_source)?;
        Some((name.as_str(), to.to_string()))
    };
    zone.exit_nodes.iter().filter_map(of).collect()
}
