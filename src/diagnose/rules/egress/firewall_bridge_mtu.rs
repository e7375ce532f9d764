//! The bridge that a card's firewall inserts has a smaller MTU than the card and its VNet.

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::node::{Link, Node};
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "firewall-bridge-mtu",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "With the firewall on, a bridge and a pair of interfaces stand between a guest's card and its VNet. On some releases \
           they keep an MTU of 1500 whatever the VNet has, and large frames of that card vanish there. The underlay is not \
           involved.",
    reads: "MTUs of the card's interfaces and of the VNet, the card's configuration",
    unlike: &[("transit-mtu", "everybody's large packets vanish, beyond the transit interface")],
    explains: &[],
    judge,
};

/// Number of guest and card in `tapNiM`.
fn card(tap: &str) -> Option<(u64, u64)> {
    let (guest, card) = tap.strip_prefix("tap")?.split_once('i')?;
    Some((guest.parse().ok()?, card.parse().ok()?))
}

/// Interfaces between the card and the VNet, in the order of a packet on its way out.
fn between(node: &Node, guest: u64, card: u64) -> Vec<&Link> {
    let names = [format!("fwbr{guest}i{card}"), format!("fwln{guest}i{card}"), format!("fwpr{guest}p{card}")];
    names.iter().filter_map(|name| node.link(name)).collect()
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for nic in facts.pve.nics.iter().filter(|nic| nic.firewall && nic.mtu.is_some()) {
        if facts.nodes.get(&nic.node).is_none_or(|node| node.links.is_none()) {
            out.unknown_of(
                [Subject::new("workload", &nic.vmid)],
                format!("MTUs of the interfaces of {}/{} on {}", nic.vmid, nic.key, nic.node),
                None,
            );
        }
    }
    for (name, node) in facts.nodes.iter() {
        let taps = node.links.iter().flat_map(|links| links.iter()).filter_map(|tap| Some((tap, card(&tap.name)?)));
        for (tap, (guest, card)) in taps {
            let Some(mtu) = tap.mtu else { continue };
            let small: Vec<&Link> =
                between(node, guest, card).into_iter().filter(|l| l.mtu.is_some_and(|m| m < mtu)).collect();
            let Some(first) = small.first() else { continue };
            let nic = facts
                .pve
                .nics
                .iter()
                .find(|nic| nic.node == name && nic.vmid == guest.to_string() && nic.key == format!("net{card}"));
            let vnet = nic.and_then(|nic| node.link(&nic.bridge));
            // Where the VNet itself is as small, the card is merely set too high.
            if vnet.and_then(|vnet| vnet.mtu).is_some_and(|vnet| small.iter().all(|l| l.mtu.is_some_and(|m| m >= vnet)))
            {
                continue;
            }
            let who = nic.and_then(|nic| nic.guest.clone()).unwrap_or_else(|| guest.to_string());
            let title = format!(
                "Large frames of {who} are lost at {} on {name}: its MTU is below the card's {mtu}.",
                first.name
            );
            let mut finding = out
                .finding(Subject::new("workload", &who), title)
                .fact("link.mtu", format!("{name}/{}", tap.name), mtu)
                .affects([&who])
                .next(
                    "restart-nic",
                    1,
                    format!("unplug and plug net{card} of {who} again, after an upgrade of the node"),
                )
                .next("upgrade-node", 2, "upgrade pve-network and qemu-server on the node")
                .next("nic-firewall-off", 1, "or switch the firewall of that card off");
            for link in small.iter().copied().chain(vnet) {
                let mtu = link.mtu.map(|mtu| mtu.to_string()).unwrap_or_default();
                finding = finding.fact("link.mtu", format!("{name}/{}", link.name), mtu);
            }
            if let Some(links) = &node.links {
                finding = finding.from(links);
            }
            if let Some(nic) = nic {
                finding = finding.from(nic);
            }
            out.found(finding);
        }
    }
}
