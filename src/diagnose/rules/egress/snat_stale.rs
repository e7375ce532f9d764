//! The rule was written for another address or uplink than the node has, and an apply would write another one.

use super::super::exits::words;
use super::super::{Out, Rule};
use crate::backends::exit_node::model::{Lookup, SnatRule};
use crate::diagnose::facts::node::{Asked, Node};
use crate::diagnose::facts::sdn::{DryRun, RenderedSnat};
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Layer, Severity, Subject};

/// Where the platform looks for its way out when it writes a rule (`facts/exit-node.md` §1).
const PROBE: std::net::Ipv4Addr = std::net::Ipv4Addr::new(8, 8, 8, 8);

/// The rule is stale.
pub static RULE: Rule = Rule {
    id: "snat-stale",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "Interface and address of a translation rule are taken from the node's default route when SDN is applied, and stay \
           as they were when the node is renumbered. No object is pending, and still an apply is needed.",
    reads: "the NAT rules, the lookup of the node's way out, the dry run of that node",
    unlike: &[
        ("snat-wrong-source", "the address is not the node's, and nothing shows that it was"),
        ("snat-apply-rewrites", "the rule is what the site expects, and an apply would spoil it"),
    ],
    explains: &["snat-wrong-source"],
    judge,
};

/// An apply would spoil a good rule.
pub static REWRITES: Rule = Rule {
    id: "snat-apply-rewrites",
    layer: Layer::Egress,
    severity: Severity::Info,
    says: "The translation rules are what the site expects, but the node's own default route leads elsewhere. The platform \
           takes interface and address from that route, so its next SDN apply would write other rules.",
    reads: "the NAT rules, the lookup of the node's way out, the site file",
    unlike: &[],
    explains: &[],
    judge: rewrites,
};

struct WayOut<'a> {
    dev: &'a str,
    src: Option<std::net::Ipv4Addr>,
    asked: &'a Sourced<Asked>,
}

fn way_out(node: &Node) -> Option<WayOut<'_>> {
    let own = |asked: &&Sourced<Asked>| {
        asked.dst == PROBE && asked.from.is_none() && asked.iif.is_none() && asked.vrf.is_none()
    };
    let asked = node.lookups.iter().rfind(own)?;
    match &asked.answer {
        Lookup::Route { dev, prefsrc, .. } => Some(WayOut { dev, src: *prefsrc, asked }),
        Lookup::Error(_) => None,
    }
}

fn differs(rule: &SnatRule, way: &WayOut<'_>) -> bool {
    rule.out_interface.as_deref().is_some_and(|out| out != way.dev)
        || (rule.to_source.is_some() && way.src.is_some() && rule.to_source != way.src)
}

/// Whether the dry run takes this rule away and puts another one in its place.
fn rewritten(run: &DryRun, rule: &SnatRule) -> Option<RenderedSnat> {
    let of = |source: ipnet::IpNet| rule.source.is_some_and(|own| ipnet::IpNet::V4(own) == source);
    let gone = run.snat(false).into_iter().find(|line| of(line.source))?;
    let same = rule.out_interface.as_ref() == Some(&gone.out)
        && rule.to_source.map(|to| to.to_string()) == Some(gone.to.clone());
    run.snat(true).into_iter().find(|line| same && of(line.source) && (line.out != gone.out || line.to != gone.to))
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for (node_name, run) in &facts.sdn.dry_runs {
        if !run.snat(true).is_empty() && facts.nodes.get(node_name).is_none_or(|node| node.snat.is_empty()) {
            out.unknown(format!("the NAT rules of {node_name}"), None);
        }
    }
    for (name, node) in facts.nodes.iter() {
        let way = way_out(node);
        for rule in node.snat_rules().into_iter().flatten() {
            let run = facts.sdn.dry_runs.get(name);
            let differs = way.as_ref().is_some_and(|way| differs(rule, way));
            let expected = facts.site.as_ref().is_some_and(|site| {
                site.exit_nodes.iter().any(|e| e.name == name && Some(e.transit_address) == rule.to_source)
            });
            match run.and_then(|run| Some((run, rewritten(run, rule)?))) {
                Some((run, line)) if !expected => {
                    let source = rule.source.map(|source| source.to_string()).unwrap_or_default();
                    let title = format!(
                        "{name} still translates {source} {}, and would do so to {} by {}: SDN has to be applied again, although nothing is pending.",
                        words(rule),
                        line.to,
                        line.out
                    );
                    let mut finding = out
                        .finding(Subject::new("node", name), title)
                        .fact("snat.rule", format!("{name}/{source}"), words(rule))
                        .fact("dry-run.rule", format!("{name}/{source}"), format!("to {} by {}", line.to, line.out))
                        .fact("sdn.apply-needed", name, "yes, without a pending object")
                        .affects([source])
                        .from(run)
                        .next("apply-sdn-after-diff", 3, "show the dry run's difference, then apply SDN")
                        .command(format!("pvesh get /cluster/sdn/dry-run --node {name}"));
                    for rules in node.snat.values() {
                        finding = finding.from(rules);
                    }
                    if let Some(way) = &way {
                        let src = way.src.map(|src| src.to_string()).unwrap_or_default();
                        finding = finding.fact("node.leaves", name, format!("by {} as {src}", way.dev)).from(way.asked);
                    }
                    out.found(finding);
                }
                None if differs && !expected && run.is_none() => {
                    out.unknown(format!("the dry run of {name}"), facts.pve.why("cluster/sdn/dry-run"));
                }
                _ => {}
            }
        }
    }
}

fn rewrites(facts: &Facts, out: &mut Out<'_>) {
    for (name, node) in facts.nodes.iter() {
        let site = facts.site.as_ref().and_then(|site| site.value.exit_nodes.iter().find(|exit| exit.name == name));
        let (Some(site), Some(way)) = (site, way_out(node)) else { continue };
        let good = |rule: &&SnatRule| {
            rule.to_source == Some(site.transit_address) && rule.out_interface.as_ref() == Some(&site.transit_interface)
        };
        let count = node.snat_rules().into_iter().flatten().filter(good).filter(|rule| differs(rule, &way)).count();
        if count == 0 {
            continue;
        }
        let title = format!(
            "{name} itself leaves by {}: the next SDN apply would write {count} translation rule(s) for that way.",
            way.dev
        );
        let finding = out
            .finding(Subject::new("node", name), title)
            .fact("node.leaves", name, way.dev)
            .fact("site.transit-interface", name, &site.transit_interface)
            .from(way.asked)
            .next("look-at-dry-run", 0, "look at the dry run before an apply")
            .not_tested("what the platform would really write: its dry run leaves out translation");
        out.found(finding);
    }
}
