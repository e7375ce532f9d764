//! The connection table is full.

use super::super::exits::exits;
use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity};

/// The rule.
pub static RULE: Rule = Rule {
    id: "conntrack-full",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "The connection table of the exit node is full: packets of new flows are dropped, those of the node itself too. \
           Flows that exist go on.",
    reads: "count and limit of the table, its drop counter in two samples",
    unlike: &[("gateway-unreachable", "the neighbour itself does not answer")],
    explains: &["gateway-unreachable", "perimeter-drop", "workload-down"],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for exit in exits(facts) {
        let node = exit.node;
        let rise = node.tracking_dropped();
        match node.tracking_full() {
            None => exit.unknown(out, "the connection table", "conntrack"),
            Some(false) => out.pass(exit.subject()),
            Some(true) => {
                let mut finding = out
                    .finding(
                        exit.subject(),
                        format!("The connection table of {} is full: new flows are dropped.", exit.name),
                    )
                    .affects(exit.zones());
                if let Some(table) = &node.conntrack {
                    finding = finding
                        .fact("conntrack.count", exit.name, table.count)
                        .fact("conntrack.max", exit.name, table.max)
                        .from(table);
                }
                if let (Some(rise), Some(last)) = (rise, node.conntrack_drops.last()) {
                    finding = finding.fact("conntrack.dropped", exit.name, format!("+{rise}")).from(last);
                }
                let finding = finding
                    .next("list-flows", 0, format!("see whose flows fill the table of {}", exit.name))
                    .command("conntrack -L -o extended")
                    .next("raise-conntrack-max", 2, "raise net.netfilter.nf_conntrack_max, and make it last");
                out.found(finding);
            }
        }
    }
}
