//! A peer that is no node's address.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "controller-peer-strange",
    layer: Layer::Fabric,
    severity: Severity::Warning,
    says: "A peer of the EVPN controller is the address of no node. The platform takes the node's own address out of that list \
           to tunnel from: a node whose address is not in it has none, and a session with nobody never comes up.",
    reads: "controllers, addresses of the cluster's nodes",
    unlike: &[("controller-no-vtep", "there are no peers at all")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some(controllers) = facts.sdn.controllers_in_force() else { return };
    for controller in controllers.iter().filter(|c| c.kind == "evpn" && c.fabric.is_none() && !c.peers.is_empty()) {
        let name = &controller.controller;
        let Some((addresses, whole)) = addresses(facts) else {
            out.unknown(
                format!("the nodes' addresses, to compare the peers of {name} with"),
                facts.pve.why("cluster/status"),
            );
            continue;
        };
        let known = |peer: &&String| peer.parse::<IpAddr>().is_ok_and(|ip| addresses.contains(&ip));
        let strange: Vec<&str> = controller.peers.iter().filter(|p| !known(p)).map(String::as_str).collect();
        if strange.is_empty() {
            out.pass(Subject::new("source", name));
            continue;
        }
        // The cluster tells one address a node; a loopback or an underlay address is shown by the node alone.
        if !whole {
            out.unknown(format!("all addresses of every node, to compare the peers of {name} with"), None);
            continue;
        }
        let title = format!("{} among the peers of controller {name} is no node's address.", strange.join(", "));
        let mut finding = out.finding(Subject::new("source", name), title).from(controllers);
        for peer in &strange {
            finding = finding.fact("controller.peer", name, peer);
        }
        out.found(finding.next("correct-peers", 3, format!("correct the peers of {name}, look at the dry run, apply")));
    }
}

/// Addresses of nodes, and whether all of every member's were read.
fn addresses(facts: &Facts) -> Option<(BTreeSet<IpAddr>, bool)> {
    let members = facts.cluster.members()?;
    let mut all: BTreeSet<IpAddr> =
        facts.cluster.quorum.iter().flat_map(|quorum| quorum.members.iter().filter_map(|member| member.ip)).collect();
    let mut whole = true;
    for member in members.iter() {
        match facts.nodes.get(&member.node).and_then(|node| node.addresses.as_ref()) {
            Some(own) => all.extend(own.iter().map(|address| address.ip)),
            None => whole = false,
        }
    }
    Some((all, whole))
}
