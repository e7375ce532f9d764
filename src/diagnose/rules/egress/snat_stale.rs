//! The rule was written for another address or uplink than the node has, and an apply would write another one.

use super::super::exits::words;
use super::super::{Out, Rule};
use super::snat::{WayOut, differs, way_out, with_rules};
use crate::backends::exit_node::model::SnatRule;
use crate::diagnose::facts::node::Node;
use crate::diagnose::facts::sdn::{DryRun, RenderedSnat};
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};

/// The rule.
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
        let run = facts.sdn.dry_runs.get(name);
        let site = facts.site.as_ref().and_then(|site| site.value.exit_nodes.iter().find(|exit| exit.name == name));
        for rule in node.snat_rules().into_iter().flatten() {
            // What the site expects is not stale, whatever the platform would write.
            if rule.to_source.is_some() && site.map(|site| site.transit_address) == rule.to_source {
                continue;
            }
            match run.map(|run| (run, rewritten(run, rule))) {
                Some((run, Some(line))) => {
                    let finding = finding(facts, (name, node), rule, (run, &line), out);
                    out.found(finding);
                }
                None if way.as_ref().is_some_and(|way| differs(rule, way)) => {
                    out.unknown(format!("the dry run of {name}"), facts.pve.why("cluster/sdn/dry-run"));
                }
                _ => {}
            }
        }
    }
}

fn finding(
    facts: &Facts,
    (name, node): (&str, &Node),
    rule: &SnatRule,
    (run, line): (&Sourced<DryRun>, &RenderedSnat),
    out: &Out<'_>,
) -> Finding {
    let source = rule.source.map(|source| source.to_string()).unwrap_or_default();
    let waits = facts.sdn.pending.iter().any(|one| one.is_effective());
    let although = if waits { "" } else { ", although nothing is pending" };
    let title = format!(
        "{name} still translates {source} {}, its way out is {} as {}: SDN has to be applied again{although}.",
        words(rule),
        line.out,
        line.to
    );
    let zones =
        facts.sdn.subnets_in_force().filter(|(_, s)| s.cidr.to_string() == source).map(|(_, s)| s.zone.as_str());
    let needed = if waits { "yes" } else { "yes, without a pending object" };
    let finding = out
        .finding(Subject::new("node", name), title)
        .fact("snat.rule", format!("{name}/{source}"), words(rule))
        .fact("dry-run.rule", format!("{name}/{source}"), format!("to {} by {}", line.to, line.out))
        .fact("sdn.apply-needed", name, needed)
        .affects(zones)
        .affects([source])
        .from(run)
        .next("apply-sdn-after-diff", 3, "show the dry run's difference, then apply SDN")
        .command(format!("pvesh get /cluster/sdn/dry-run --node {name}"));
    let finding = with_rules(finding, node);
    match way_out(node) {
        Some(WayOut { dev, src, asked }) => {
            let src = src.map(|src| src.to_string()).unwrap_or_default();
            finding.fact("node.leaves", name, format!("by {dev} as {src}")).from(asked)
        }
        None => finding,
    }
}
