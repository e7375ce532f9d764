//! One flow is tracked twice under one key, since the split the platform installs matches no interface.

use super::super::{Out, Rule};
use crate::diagnose::facts::node::{Capture, Node, Packet};
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "conntrack-collision",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "A flow that crosses between the tables of the node by a pair of virtual interfaces is tracked on both sides under \
           one key. The platform splits the tracking for firewall bridges only (fwbr+), which a card without the firewall \
           does not have. Connections open, then the node lets a reset out with the guest's own address. Size has nothing \
           to do with it.",
    reads: "the conntrack zones of raw/PREROUTING with their counters, links, captured packets, network cards of guests",
    unlike: &[("transit-mtu", "large packets vanish without a reset")],
    explains: &[],
    judge,
};

/// Firewall bridges of cards.
const BRIDGE: &str = "fwbr";

/// A reset that leaves with another source than the flow it belongs to.
fn stray(capture: &Capture) -> Option<(&Packet, &Packet)> {
    let is = |packet: &Packet, flag: char| packet.flags.as_deref().is_some_and(|flags| flags.contains(flag));
    capture.packets.iter().filter(|p| is(p, 'R')).find_map(|reset| {
        let same = |open: &&Packet| {
            is(open, 'S')
                && open.dst == reset.dst
                && open.dport == reset.dport
                && open.sport == reset.sport
                && open.src != reset.src
        };
        Some((capture.packets.iter().find(same)?, reset))
    })
}

fn has_pair(node: &Node) -> bool {
    node.links.iter().flat_map(|links| links.iter()).any(|link| link.name.starts_with("xvrf_"))
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for (name, node) in facts.nodes.iter() {
        let stray = node.captures.iter().find_map(|capture| Some((capture, stray(capture)?)));
        let idle = node.ct_zones.as_ref().map(|zones| {
            let split = |z: &&crate::diagnose::facts::node::CtZone| z.interface.trim_end_matches('+') == BRIDGE;
            let mut zones = zones.iter().filter(split).peekable();
            zones.peek().is_some() && zones.all(|zone| zone.packets == Some(0))
        });
        let bridges = node.links.as_ref().map(|links| links.iter().any(|link| link.name.starts_with(BRIDGE)));
        let told = [stray.is_some(), idle == Some(true), bridges == Some(false) && has_pair(node)];
        match (stray, idle, bridges) {
            (Some(seen), Some(true), Some(false)) if has_pair(node) => found(facts, name, node, seen, out),
            _ if told.iter().filter(|sign| **sign).count() < 2 => {}
            (None, ..) if node.captures.is_empty() => {
                out.unknown(format!("a capture on {name} of a connection that is reset"), node.why_unread("tcpdump"));
            }
            (_, None, _) => out.unknown(format!("raw/PREROUTING of {name}"), node.why_unread("iptables")),
            (_, _, None) => out.unknown(format!("the links of {name}"), node.why_unread("link")),
            _ => {}
        }
    }
}

fn found(facts: &Facts, name: &str, node: &Node, seen: (&Sourced<Capture>, (&Packet, &Packet)), out: &mut Out<'_>) {
    let (capture, (open, reset)) = seen;
    let title =
        format!("{name} resets connections with the guest's own address {}: they are tracked twice.", reset.src);
    let mut finding = out
        .finding(Subject::new("node", name), title)
        .fact("ct-zone.packets", format!("{name}/{BRIDGE}+"), 0)
        .fact("links.fwbr", name, "none")
        .fact("reset.source", name, reset.src)
        .fact("flow.source", name, open.src)
        .from(capture);
    if let Some(zones) = &node.ct_zones {
        finding = finding.from(zones);
    }
    if let Some(links) = &node.links {
        finding = finding.from(links);
    }
    for nic in facts.pve.nics.iter().filter(|nic| nic.node == name && !nic.firewall) {
        finding = finding.fact("nic.firewall", format!("{}/{}", nic.vmid, nic.key), "off").from(nic);
        finding = finding.affects([nic.guest.as_ref().unwrap_or(&nic.vmid)]);
    }
    let pair: Vec<&str> =
        node.links.iter().flat_map(|l| l.iter()).map(|l| l.name.as_str()).filter(|l| l.starts_with("xvrf")).collect();
    let finding = finding
        .next(
            "nic-firewall-on",
            1,
            "switch the firewall flag of the guest's card on: its bridge then has a zone of its own",
        )
        .next("conntrack-zones-on-pair", 2, format!("or give {} conntrack zones of their own", pair.join(" and ")));
    out.found(finding);
}
