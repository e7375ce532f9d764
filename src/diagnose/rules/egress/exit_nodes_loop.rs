//! Exit nodes learn the default that others announce, and send traffic to each other.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::node::Trace;
use crate::diagnose::facts::sdn::VrfRoute;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "exit-nodes-loop",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "An exit node holds a default learnt by BGP in a tenant's VRF. Exit nodes have to refuse the default that others \
           announce; with two that do not, packets go to and fro until their time is over. Seen after upgrades, where the \
           filter uses a match that another release of FRR does not honour.",
    reads: "zones, routes of the VRF on exit nodes, paths from a workload",
    unlike: &[("exit-primary-missing", "flows are spread, each exit node sends them out")],
    explains: &[],
    judge,
};

/// The next hop of a default learnt by BGP.
fn learnt(routes: &[VrfRoute]) -> Option<&str> {
    let default = routes.iter().find(|route| route.ip == "0.0.0.0/0" && route.protocol == "bgp")?;
    default.nexthops.first().map(String::as_str)
}

/// Two hops that follow each other again and again.
fn alternating(trace: &Trace) -> Option<BTreeSet<Ipv4Addr>> {
    let hops: Vec<Ipv4Addr> = trace.hops.iter().flatten().copied().collect();
    hops.windows(4).find_map(|window| match window {
        [a, b, c, d] if a == c && b == d && a != b => Some([*a, *b].into()),
        _ => None,
    })
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let loops: Vec<_> =
        facts.nodes.iter().flat_map(|(name, node)| node.traces.iter().map(move |t| (name, t))).collect();
    let loops: Vec<_> =
        loops.into_iter().filter_map(|(name, trace)| Some((name, trace, alternating(trace)?))).collect();
    let Some(zones) = facts.sdn.zones_in_force() else {
        if !loops.is_empty() {
            out.unknown("the exit nodes of the zones", facts.pve.why("cluster/sdn/zones"));
        }
        return;
    };
    for zone in zones.iter().filter(|zone| zone.kind == "evpn" && zone.exit_nodes.len() > 1) {
        let mut defaults = Vec::new();
        for exit in &zone.exit_nodes {
            match facts.sdn.ip_vrf.get(&(exit.clone(), zone.zone.clone())) {
                Some(routes) => defaults.extend(learnt(routes).map(|hop| (exit, hop, routes))),
                None if !facts.sdn.ip_vrf.is_empty() => {
                    let why = facts.pve.why(&format!("nodes/{exit}/sdn/zones/{}/ip-vrf", zone.zone));
                    out.unknown_of(
                        [Subject::new("zone", &zone.zone)],
                        format!("the routes of zone {} on {exit}", zone.zone),
                        why,
                    );
                }
                None => {}
            }
        }
        if defaults.is_empty() {
            continue;
        }
        let mut exits = zone.exit_nodes.clone();
        exits.sort_unstable();
        let title = format!("Exit nodes of zone {} send its traffic to each other: {}.", zone.zone, exits.join(", "));
        let mut finding = out
            .finding(Subject::new("zone", &zone.zone), title)
            .fact("zone.exit-nodes", &zone.zone, exits.join(", "))
            .affects([&zone.zone])
            .from(zones)
            .next("single-exit-node", 2, format!("name one exit node for zone {} until the cause is gone", zone.zone))
            .next("check-versions", 0, "compare the releases of FRR and libpve-network-perl on the exit nodes")
            .command("dpkg -l frr libpve-network-perl");
        for (exit, hop, routes) in defaults {
            finding =
                finding.fact("vrf.default", format!("{exit}/{}", zone.zone), format!("bgp, to {hop}")).from(routes);
        }
        for (host, trace, hops) in &loops {
            let hops: Vec<String> = hops.iter().map(ToString::to_string).collect();
            finding = finding.fact("trace.alternates", *host, hops.join(", ")).from(*trace);
        }
        out.found(finding);
    }
}
