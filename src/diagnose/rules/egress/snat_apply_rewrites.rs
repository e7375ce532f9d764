//! The rules are good, and the next SDN apply would write others.

use super::super::{Out, Rule};
use super::snat::{differs, way_out};
use crate::backends::exit_node::model::SnatRule;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "snat-apply-rewrites",
    layer: Layer::Egress,
    severity: Severity::Info,
    says: "The translation rules are what the site expects, but the node's own default route leads elsewhere. The platform \
           takes interface and address from that route, so its next SDN apply would write other rules.",
    reads: "the NAT rules, the lookup of the node's way out, the site file",
    unlike: &[],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
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
