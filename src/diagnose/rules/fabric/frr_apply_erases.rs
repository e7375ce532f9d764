//! The next apply takes statements of FRR away although nothing waits.

use super::super::{Out, Rule};
use super::frr_default_unkept;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "frr-apply-erases",
    layer: Layer::Fabric,
    severity: Severity::Warning,
    says: "Nothing waits in SDN, and yet the dry run of a node takes statements out of frr.conf: somebody wrote them there by hand. \
           They run now and are gone with the next apply, by whomever, or the next boot that generates the file. What is to \
           stay belongs into frr.conf.local.",
    reads: "dry runs of the nodes, frr.conf.local, what waits in SDN",
    unlike: &[
        ("sdn-pending", "something waits, and the difference may be its"),
        ("frr-handwritten-lost", "it is gone already"),
        ("frr-default-unkept", "a tenant's default stands in frr.conf alone"),
    ],
    explains: &[],
    judge,
};

/// Lines that a unified difference takes out and does not put in elsewhere.
fn erased(diff: &str) -> Vec<&str> {
    let marked = |mark: char| {
        let head = if mark == '-' { "---" } else { "+++" };
        diff.lines()
            .filter(move |line| line.starts_with(mark) && !line.starts_with(head))
            .filter_map(move |line| line.strip_prefix(mark))
            .map(str::trim)
    };
    let added: Vec<&str> = marked('+').collect();
    let says = |line: &&str| !line.is_empty() && !line.starts_with('!') && !line.starts_with("exit");
    marked('-').filter(says).filter(|line| !added.contains(line)).collect()
}

/// Statements that differ from release to release of the generator, and mean nothing.
const HEAD: [&str; 6] = ["frr version", "frr defaults", "hostname ", "log ", "service ", "line vty"];

/// Objects that FRR's configuration is made of, and the list that tells what of them waits.
const WAITING: [(&str, &str); 5] = [
    ("zone", "cluster/sdn/zones"),
    ("vnet", "cluster/sdn/vnets"),
    ("controller", "cluster/sdn/controllers"),
    ("fabric", "cluster/sdn/fabrics"),
    ("fabric-node", "cluster/sdn/fabrics"),
];

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for (node, run) in &facts.sdn.dry_runs {
        if !run.frr_told {
            out.unknown(format!("what the dry run of {node} changes of frr.conf"), None);
            continue;
        }
        let lines: Vec<&str> = run.frr.as_deref().map(erased).unwrap_or_default();
        let lines: Vec<&str> =
            lines.into_iter().filter(|line| !HEAD.iter().any(|head| line.starts_with(head))).collect();
        // What frr.conf.local holds is merged, whether or not the dry run shows that.
        let local = facts.nodes.get(node).and_then(|node| node.frr_configs.get("frr.conf.local"));
        let held = |line: &str| local.is_some_and(|local| local.text.lines().any(|own| own.trim() == line));
        let lines: Vec<&str> = lines.into_iter().filter(|line| !held(line)).collect();
        if local.is_none() && !lines.is_empty() {
            let why = facts.nodes.get(node).and_then(|node| node.why_unread("frr.conf.local"));
            out.unknown(format!("frr.conf.local of {node}, which the dry run may leave out"), why);
            continue;
        }
        let told = frr_default_unkept::told(facts, node);
        let lines: Vec<&str> = lines.into_iter().filter(|line| !told.iter().any(|other| other == line)).collect();
        if lines.is_empty() {
            out.pass(Subject::new("node", node));
            continue;
        }
        let unread = |(kind, _): &&(&str, &str)| !facts.sdn.pending_read.contains_key(kind);
        if let Some((_, path)) = WAITING.iter().find(unread) {
            let why = facts.pve.why(path);
            out.unknown(format!("what waits in SDN, and whether the dry run of {node} shows more than that"), why);
            continue;
        }
        if facts.sdn.pending.iter().any(|one| one.is_effective()) {
            continue;
        }
        let title = format!(
            "The next SDN apply takes {} statement(s) out of frr.conf of {node}, and nothing waits.",
            lines.len()
        );
        let mut finding = out.finding(Subject::new("node", node), title).affects([node]).from(run);
        for line in &lines {
            finding = finding.fact("frr.would-lose", node, line);
        }
        let finding = finding
            .next("keep-in-local", 2, "put what is to stay into frr.conf.local, by whoever keeps that file")
            .next("look-at-dry-run", 0, format!("look at the dry run of {node}"))
            .command(format!("pvesh get /cluster/sdn/dry-run --node {node}"));
        out.found(finding);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_is_not_erased() {
        let diff = "--- a\n+++ b\n@@ -1,4 +1,3 @@\n-vrf vrf_a\n- vni 1\n-router ospf\n- network 192.0.2.0/24 area 0\n-exit\n+vrf vrf_a\n+ vni 1\n same\n";
        assert_eq!(erased(diff), ["router ospf", "network 192.0.2.0/24 area 0"]);
    }
}
