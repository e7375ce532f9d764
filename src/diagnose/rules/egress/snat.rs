//! What the rules of source translation share.

use super::super::exits::{Exit, Tenant, covers};
use crate::backends::exit_node::model::{Lookup, SnatRule};
use crate::diagnose::facts::Sourced;
use crate::diagnose::facts::node::{Asked, Node};
use crate::diagnose::finding::Finding;

/// Where the platform looks for its way out when it writes a rule (`facts/exit-node.md` §1).
const PROBE: std::net::Ipv4Addr = std::net::Ipv4Addr::new(8, 8, 8, 8);

pub(super) fn rules_of<'e>(exit: &'e Exit<'_>, tenant: &'e Tenant<'_>) -> impl Iterator<Item = &'e SnatRule> {
    let mine = |rule: &&SnatRule| tenant.subnets.iter().any(|(_, net)| covers(rule, net) || rule.source == Some(*net));
    exit.node.snat_rules().into_iter().flatten().filter(mine)
}

pub(super) fn with_rules(mut finding: Finding, node: &Node) -> Finding {
    for rules in node.snat.values() {
        finding = finding.from(rules);
    }
    finding
}

/// The way by which the node itself leaves.
pub(super) struct WayOut<'a> {
    pub(super) dev: &'a str,
    pub(super) src: Option<std::net::Ipv4Addr>,
    pub(super) asked: &'a Sourced<Asked>,
}

pub(super) fn way_out(node: &Node) -> Option<WayOut<'_>> {
    let own = |asked: &&Sourced<Asked>| {
        asked.dst == PROBE && asked.from.is_none() && asked.iif.is_none() && asked.vrf.is_none()
    };
    let asked = node.lookups.iter().rfind(own)?;
    match &asked.answer {
        Lookup::Route { dev, prefsrc, .. } => Some(WayOut { dev, src: *prefsrc, asked }),
        Lookup::Error(_) => None,
    }
}

/// Whether the platform would write another rule for that way.
pub(super) fn differs(rule: &SnatRule, way: &WayOut<'_>) -> bool {
    rule.out_interface.as_deref().is_some_and(|out| out != way.dev)
        || (rule.to_source.is_some() && way.src.is_some() && rule.to_source != way.src)
}
