//! FRR does not run on an exit node.

use super::super::exits::{Exit, exits};
use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::sdn::VrfRoute;
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "frr-down",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "FRR does not run on an exit node. Stopped cleanly it takes the tenants' default routes, the way back in the main \
           table and the null routes between tenants with it; killed, its routes stay in the kernel until something \
           changes. Other nodes lose the default it announced.",
    reads: "the state of the unit, whether vtysh answers; zones, routes of VRFs on other nodes show whom it reaches",
    unlike: &[("vrf-default-missing", "FRR runs and the route is not there")],
    explains: &["vrf-default-missing", "management-leak", "return-route-missing", "inter-tenant-leak", "hairpin-leak"],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for exit in exits(facts) {
        match exit.node.frr_runs() {
            Some(false) => {
                let finding = finding(facts, &exit, out);
                out.found(finding);
            }
            Some(true) => out.pass(exit.subject()),
            None => exit.unknown(out, "the state of FRR", "frr"),
        }
    }
    silent_lists(facts, out);
    others(facts, out);
}

fn finding(facts: &Facts, exit: &Exit<'_>, out: &mut Out<'_>) -> Finding {
    let node = exit.node;
    let unit = node.frr_unit.as_ref().map_or("unknown", |unit| unit.value.as_str());
    let stale = exit.tenants.iter().any(|t| node.default_of(&t.vrf).flatten().is_some());
    let title = if stale {
        format!("FRR on {} does not run ({unit}); the kernel still forwards by the routes it left.", exit.name)
    } else {
        format!("FRR on {}, the exit node of {}, does not run ({unit}).", exit.name, list(exit.zones()))
    };
    let mut finding = out.finding(exit.subject(), title).fact("frr.unit", exit.name, unit).affects(exit.zones());
    if let Some(unit) = &node.frr_unit {
        finding = finding.from(unit);
    }
    if let Some(answers) = &node.frr_answers {
        finding = finding.fact("frr.daemons", exit.name, if answers.value { "answer" } else { "silent" }).from(answers);
    }
    if let Some(zones) = facts.sdn.zones_in_force() {
        for zone in zones.iter().filter(|zone| zone.exit_nodes.iter().any(|e| e == exit.name)) {
            finding = finding.fact("zone.exit-nodes", &zone.zone, zone.exit_nodes.join(", ")).from(zones);
        }
    }
    for ((node, zone), routes) in facts.sdn.ip_vrf.iter().filter(|((_, zone), _)| exit.zones().any(|z| z == zone)) {
        let at = format!("{node}/{zone}");
        if node == exit.name && routes.is_empty() {
            finding = finding.fact("ip-vrf.empty-means", at, "no answer from FRR").from(routes);
        } else if node != exit.name && !has_default(routes) {
            finding = finding.fact("vrf.default", at, "none").from(routes);
        }
    }
    finding
        .next("inspect-frr", 0, format!("look at the last log lines of FRR on {}", exit.name))
        .command("journalctl -u frr -n 50")
        .next("restart-frr", 2, format!("restart FRR on {}", exit.name))
}

fn has_default(routes: &[VrfRoute]) -> bool {
    routes.iter().any(|route| route.ip == "0.0.0.0/0")
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// An exit node's list is empty also where FRR is down or missing (`facts/proxmox.md` §8): not even connected routes.
fn silent_lists(facts: &Facts, out: &mut Out<'_>) {
    let Some(zones) = facts.sdn.zones_in_force() else { return };
    for ((node, zone), _) in facts.sdn.ip_vrf.iter().filter(|(_, routes)| routes.is_empty()) {
        let is_exit = zones.iter().any(|z| z.zone == *zone && z.exit_nodes.contains(node));
        if is_exit && facts.nodes.get(node).is_none_or(|node| node.frr_runs().is_none()) {
            out.unknown(format!("the state of FRR of {node}"), None);
        }
    }
}

/// A node that is no exit, or whose zones were not read: that FRR is down stays true.
fn others(facts: &Facts, out: &mut Out<'_>) {
    let exits = super::exit_names(facts);
    for (name, node) in
        facts.nodes.iter().filter(|(name, node)| node.frr_runs() == Some(false) && !exits.contains(name))
    {
        let unit = node.frr_unit.as_ref().map_or("unknown", |unit| unit.value.as_str());
        let mut finding = out
            .finding(Subject::new("node", name), format!("FRR on {name} does not run ({unit})."))
            .fact("frr.unit", name, unit)
            .affects([name])
            .next("inspect-frr", 0, format!("look at the last log lines of FRR on {name}"))
            .command("journalctl -u frr -n 50")
            .next("restart-frr", 2, format!("restart FRR on {name}"));
        if let Some(unit) = &node.frr_unit {
            finding = finding.from(unit);
        }
        if let Some(answers) = &node.frr_answers {
            finding = finding.fact("frr.daemons", name, if answers.value { "answer" } else { "silent" }).from(answers);
        }
        out.found(finding);
        if facts.sdn.zones_in_force().is_none() {
            out.unknown("the zones: whose exit node it is", facts.pve.why("cluster/sdn/zones"));
        }
    }
}
