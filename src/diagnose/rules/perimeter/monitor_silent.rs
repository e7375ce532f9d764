//! A gateway counts as down only since its monitor is not answered.

use super::super::{Out, Rule};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::cluster::Member;
use crate::diagnose::facts::perimeter::routing::Gateway;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "gateway-monitor-silent",
    layer: Layer::Perimeter,
    severity: Severity::Fault,
    says: "A gateway is marked down since nobody answers its ping monitor, while the next hop is there: its hardware address \
           is known and its node is online. The monitor is wrong, not the node; as long as it is, the path is taken away.",
    reads: "gateways with their monitoring, the router's neighbours, the cluster's nodes and their firewalls",
    unlike: &[
        ("gateway-down", "the next hop has no hardware address, or somebody forced the gateway down"),
        ("node-unreachable", "the cluster does not reach the node either"),
    ],
    explains: &["gateway-down"],
    judge,
};

/// Marked down by its monitor.
pub(super) fn is_down(gateway: &Gateway) -> bool {
    gateway.status == "down"
}

/// Nodes the gateway may be: by address, by a part of its name, or else all of them.
fn candidates<'a>(gateway: &Gateway, members: &'a [Member]) -> Vec<&'a Member> {
    let by_address: Vec<_> = members.iter().filter(|m| m.ip.is_some() && m.ip == gateway.address).collect();
    let named =
        |m: &&Member| gateway.name.split(|c: char| !c.is_alphanumeric()).any(|p| p.eq_ignore_ascii_case(&m.node));
    let by_name: Vec<_> = members.iter().filter(named).collect();
    match (by_address.is_empty(), by_name.is_empty()) {
        (false, _) => by_address,
        (true, false) => by_name,
        (true, true) => members.iter().collect(),
    }
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some(gateways) = &facts.perimeter.gateways else { return };
    for gateway in gateways.iter() {
        let name = &gateway.name;
        if !is_down(gateway) {
            if gateway.status == "none" {
                out.pass(Subject::new("source", name));
            }
            continue;
        }
        let (Some(address), Some(arp)) = (gateway.address, &facts.perimeter.arp) else {
            out.unknown(
                format!("whether the next hop of {name} has a hardware address"),
                facts.calls.why(Api::Opnsense, "diagnostics/interface/*"),
            );
            continue;
        };
        // Nobody there: another rule's.
        let Some(mac) = arp.iter().find(|n| n.ip == address).and_then(|n| n.mac.as_ref()) else { continue };
        let Some(members) = facts.cluster.members() else {
            out.unknown(format!("whether the node behind {name} is online"), facts.calls.why(Api::Proxmox, "nodes"));
            continue;
        };
        let nodes = candidates(gateway, &members);
        if nodes.is_empty() || nodes.iter().any(|m| m.online != Some(true)) {
            out.unknown(format!("whether the node behind {name} is online"), Some("not all candidates are".to_owned()));
            continue;
        }
        let monitor = gateway.monitor.unwrap_or(address).to_string();
        let mut finding = out
            .finding(
                Subject::new("source", name),
                format!(
                    "{name} counts as down, and its next hop is there: only the monitor {monitor} is not answered."
                ),
            )
            .fact("gateway.monitor", name, "not answered")
            .fact("neighbour.mac", address.to_string(), mac)
            .affects([name])
            .from(gateways)
            .from(arp)
            .from(&members);
        let mut on = "the node".to_owned();
        if let [one] = nodes.as_slice() {
            on.clone_from(&one.node);
        }
        for member in nodes {
            finding = finding.fact("node.status", &member.node, "online");
            for firewall in facts.cluster.firewall.iter().filter(|f| f.value.0 == member.node) {
                let state = if firewall.value.1 { "on" } else { "off" };
                finding = finding.fact("node.firewall", &member.node, state).from(firewall);
            }
        }
        let finding = finding
            .next("allow-ping", 2, format!("let {on} answer pings from the router's address on that segment"))
            .next("monitor-off", 2, format!("or turn monitoring off for {name}, or give it another monitor address"));
        out.found(finding);
    }
}
