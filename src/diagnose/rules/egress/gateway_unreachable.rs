//! The transit gateway does not answer.

use std::net::{IpAddr, Ipv4Addr};

use super::super::access::dead;
use super::super::exits::{Exit, exits};
use super::super::{Out, Rule};
use super::uplink_down;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Key, Layer, Severity};

/// The rule.
pub static RULE: Rule = Rule {
    id: "gateway-unreachable",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "The transit gateway, the perimeter's address on the transit segment, does not answer for its address. All tenants \
           of the exit node are cut off; translation rules still count, since they count before that.",
    reads: "neighbours on the transit interface, probes to the gateway, the site file",
    unlike: &[
        ("uplink-down", "the link itself has no carrier"),
        ("vrf-default-wrong-gateway", "the default points at another address"),
        ("perimeter-drop", "the gateway answers, and what is beyond it does not"),
        ("source-unreachable", "the router's API is silent, which stops no packet: with this it is a consequence"),
    ],
    explains: &["perimeter-drop"],
    judge,
};

/// Whether probes to the gateway were answered: `None` where none was sent.
fn answered(exit: &Exit<'_>, gateway: Ipv4Addr) -> Option<bool> {
    let pings = exit.node.pings.iter().filter(|p| p.dst == gateway && p.vrf.is_none() && p.sent > 0);
    let pings = pings.map(|p| p.received > 0);
    let arpings = exit.node.arpings.iter().filter(|a| a.1 == IpAddr::V4(gateway)).map(|a| a.2);
    pings.chain(arpings).reduce(|a, b| a || b)
}

fn silent(states: &[String]) -> bool {
    states.iter().any(|state| state == "FAILED" || state == "INCOMPLETE")
}

/// The outage of a router that answers neither its API nor, over a link with a carrier, on the transit segment.
pub(in super::super) fn dead_router(facts: &Facts) -> Option<Key> {
    let gone = |exit: &Exit<'_>| {
        let site = exit.site?;
        let at = (site.transit_interface.clone(), IpAddr::V4(site.transit_gateway));
        let last = exit.node.neighbours.get(&at)?.last()?;
        let silent = silent(&last.value) && answered(exit, site.transit_gateway) != Some(true);
        (silent && uplink_down::is_down(exit) == Some(false)).then(|| (RULE.id, exit.subject()))
    };
    dead(facts).contains_key(&Api::Opnsense).then(|| exits(facts).iter().find_map(gone))?
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for exit in exits(facts) {
        let Some(site) = exit.site else { continue };
        let (transit, gateway) = (&site.transit_interface, site.transit_gateway);
        let samples = exit.node.neighbours.get(&(transit.clone(), IpAddr::V4(gateway)));
        let samples = samples.map_or(&[][..], Vec::as_slice);
        let probed = answered(&exit, gateway);
        let Some(last) = samples.last() else {
            if probed != Some(true) {
                exit.unknown(out, &format!("the neighbour {gateway}"), "neigh");
            }
            continue;
        };
        // Tenants' traffic keeps the entry of a gateway that answers alive; one that is asked for the first time at this
        // very moment is told by a probe that is answered.
        match (silent(&last.value), probed) {
            (false, _) | (_, Some(true)) => out.pass(exit.subject()),
            (true, _) => {
                let title = format!("The transit gateway {gateway} does not answer {} on {transit}.", exit.name);
                let mut finding = out
                    .finding(exit.subject(), title)
                    .fact("neighbour", exit.at(gateway), last.join(" "))
                    .affects(exit.zones())
                    .from(last)
                    .next(
                        "check-perimeter-transit",
                        0,
                        "look whether the perimeter is up on the transit segment (address, VLAN)",
                    );
                if let Some(answered) = probed {
                    finding = finding.fact("probe.answered", exit.at(gateway), if answered { "yes" } else { "no" });
                }
                out.found(finding);
            }
        }
    }
}
