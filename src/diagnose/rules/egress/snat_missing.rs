//! A subnet asks for SNAT, and its exit node has no rule for it.

use super::super::exits::{Tenant, covers, exits};
use super::super::{Out, Rule};
use super::snat::with_rules;
use crate::backends::exit_node::model::SnatRule;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "snat-missing",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "A subnet asks for SNAT, and its exit node has no rule for it, in neither engine of iptables. Packets leave with \
           the guest's own address and no answer finds its way back.",
    reads: "zones, subnets, the NAT rules of both engines on the exit node",
    unlike: &[
        ("snat-without-exit-node", "the zone names no exit node, so nothing performs it"),
        ("snat-wrong-source", "there is a rule, to an address that is not the node's"),
    ],
    explains: &[],
    judge,
};

/// Whether the tenant asks for translation at all, as far as its subnets were read.
fn asks(tenant: &Tenant<'_>) -> bool {
    tenant.subnets.iter().any(|(subnet, _)| subnet.snat)
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for exit in exits(facts) {
        let Some(all) = exit.node.snat_rules() else {
            if exit.tenants.iter().any(asks) {
                exit.unknown(out, "the NAT rules", "iptables");
            }
            continue;
        };
        let all: Vec<&SnatRule> = all.collect();
        let lacks = |tenant: &&Tenant<'_>| {
            let uncovered = |net| !all.iter().any(|rule| covers(rule, net) || rule.source == Some(*net));
            tenant.subnets.iter().any(|(subnet, net)| subnet.snat && uncovered(net))
        };
        let hits: Vec<&Tenant<'_>> = exit.tenants.iter().filter(lacks).collect();
        if exit.node.legacy_hidden && !hits.is_empty() {
            exit.unknown(out, "the NAT rules in iptables-legacy", "legacy");
            continue;
        }
        for tenant in exit.tenants.iter().filter(|t| asks(t) && !hits.iter().any(|hit| hit.zone == t.zone)) {
            out.pass(Subject::new("zone", tenant.zone));
        }
        exit.spread(out, &hits, |out, subject, who, tenants| {
            let title = format!("SNAT is asked for by {who}, and {} has no rule for it.", exit.name);
            let mut finding = with_rules(out.finding(subject, title), exit.node);
            for (subnet, net) in tenants.iter().flat_map(|tenant| &tenant.subnets).filter(|(s, _)| s.snat) {
                let rule = if all.iter().any(|rule| rule.source == Some(*net)) { "there" } else { "none" };
                finding =
                    finding.fact("subnet.snat", subnet.cidr.to_string(), "on").fact("snat.rule", exit.at(net), rule);
            }
            finding.next("apply-sdn", 3, "look at the dry run, then apply SDN: the rule is written by each reload")
        });
    }
}
