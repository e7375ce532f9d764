//! A controller that has nothing to tunnel from.

use std::collections::BTreeSet;

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::Sourced;
use crate::diagnose::facts::sdn::{Controller, text};
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "controller-no-vtep",
    layer: Layer::Fabric,
    severity: Severity::Warning,
    says: "An EVPN controller needs an identity on every node of its zones: a fabric with a loopback for each node, or peers. With \
           a fabric a node that is no member of it is left out without an error: the zone is not generated there. A lone \
           node needs its identity as well, so that a second one is a neighbour more and not a new underlay.",
    reads: "controllers, fabrics with their members, nodes of the zones, members of the cluster",
    unlike: &[
        ("controller-peer-strange", "there are peers, and one of them is no node's address"),
        ("controller-off-plan", "the identity is there, the number is another"),
    ],
    explains: &["vnet-missing", "vnet-not-on-node"],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some(controllers) = facts.sdn.controllers_in_force() else { return };
    for controller in controllers.iter().filter(|c| c.kind == "evpn") {
        match (&controller.fabric, controller.peers.is_empty()) {
            (Some(fabric), _) => of_fabric(facts, controllers, controller, fabric, out),
            (None, true) => {
                let name = &controller.controller;
                let title =
                    format!("Controller {name} has neither a fabric nor peers: nothing says where tunnels begin.");
                let finding = out
                    .finding(Subject::new("source", name), title)
                    .fact("controller.peers", name, "none")
                    .fact("controller.fabric", name, "none")
                    .from(controllers)
                    .next("give-fabric", 3, format!("give {name} a fabric in which each node has a loopback"));
                out.found(finding);
            }
            (None, false) => out.pass(Subject::new("source", &controller.controller)),
        }
    }
}

fn of_fabric(
    facts: &Facts,
    controllers: &Sourced<Vec<Controller>>,
    controller: &Controller,
    fabric: &str,
    out: &mut Out<'_>,
) {
    let name = &controller.controller;
    let Some(fabrics) = facts.sdn.fabrics_in_force() else {
        out.unknown("the fabrics and their members", facts.pve.why("cluster/sdn/fabrics"));
        return;
    };
    let (nodes, missing) = nodes(facts, controller);
    let has = |node: &String| fabrics.nodes.iter().any(|n| n.fabric == fabric && n.node == *node && n.ip.is_some());
    let lacking: Vec<String> = nodes.into_iter().filter(|node| !has(node)).collect();
    let there = fabrics.fabrics.iter().any(|f| f.id == fabric);
    if there && lacking.is_empty() {
        match missing {
            None => out.pass(Subject::new("source", name)),
            Some((what, why)) => out.unknown(what, why),
        }
        return;
    }
    let title = if there {
        format!("{} of controller {name} has no loopback in fabric {fabric}.", lacking.join(", "))
    } else {
        format!("Controller {name} is on fabric {fabric}, which is not there.")
    };
    let mut finding = out
        .finding(Subject::new("source", name), title)
        .fact("controller.fabric", name, fabric)
        .affects(&lacking)
        .from(controllers)
        .from(fabrics);
    for node in &lacking {
        finding = finding.fact("fabric.loopback", format!("{fabric}/{node}"), "none");
    }
    out.found(finding.next(
        "join-fabric",
        2,
        format!("give each node a loopback in fabric {fabric}, look at the dry run, apply"),
    ));
}

/// What is missing, and why where that is known.
type Missing = (String, Option<String>);

/// Nodes of the controller's zones as far as they are known, and what is missing to know all of them. A zone that names no
/// nodes is on every member.
fn nodes(facts: &Facts, controller: &Controller) -> (BTreeSet<String>, Option<Missing>) {
    let name = &controller.controller;
    let Some(zones) = facts.sdn.zones_in_force() else {
        let what = format!("the zones of controller {name}");
        return (BTreeSet::new(), Some((what, facts.pve.why("cluster/sdn/zones"))));
    };
    let own = || zones.iter().filter(|z| text(&z.fields, "controller").as_ref() == Some(name));
    let mut nodes: BTreeSet<String> =
        own().flat_map(|zone| zone.nodes.iter().chain(&zone.exit_nodes)).cloned().collect();
    let Some(everywhere) = own().find(|zone| zone.nodes.is_empty()) else { return (nodes, None) };
    let Some(members) = facts.cluster.members() else {
        let what = format!("the members of the cluster, on all of which zone {} is", everywhere.zone);
        return (nodes, Some((what, facts.pve.why("nodes"))));
    };
    nodes.extend(members.value.into_iter().map(|member| member.node));
    (nodes, None)
}
