//! Reverse-path filtering drops packets.

use super::super::{Out, Rule};
use super::rp_filter::{COUNTER, strict_on, with_interfaces};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::node::Node;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "rp-filter-drops",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "Packets are dropped since their source is not reached by the interface they came in by. What is in force for an \
           interface is the larger of its own value and that of `all`, so an interface's own 0 does not mean off. With \
           several exit nodes, or another way back, answers come in where the node would not send them out.",
    reads: "rp_filter of all interfaces, the counter TcpExtIPReversePathFilter in two samples",
    unlike: &[("rp-filter-strict", "strict, and the counter stands still")],
    explains: &["rp-filter-strict"],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let exits = super::exit_names(facts);
    for (name, node) in facts.nodes.iter() {
        let relevant = exits.contains(name) || !node.counters.is_empty();
        if !relevant {
            continue;
        }
        let Some(rise) = node.rise(COUNTER) else {
            // Off everywhere it drops nothing, and one sample of it is enough.
            let off = node.rp_filter.is_some() && strict_on(node).is_empty();
            if !off && (exits.contains(name) || node.counters.iter().any(|sample| sample.contains_key(COUNTER))) {
                out.unknown(format!("two samples of {COUNTER} of {name}"), node.why_unread("nstat"));
            }
            continue;
        };
        if rise == 0 {
            out.pass(Subject::new("node", name));
            continue;
        }
        if node.rp_filter.is_none() {
            out.unknown(format!("rp_filter of {name}"), node.why_unread("rp_filter"));
        }
        let title = format!("{name} dropped {rise} packets by reverse-path filtering between two looks.");
        let mut finding = out.finding(Subject::new("node", name), title).fact("rp-filter.dropped", name, rise);
        finding = with_interfaces(finding, name, node);
        for sample in &node.counters {
            finding = finding.from(sample);
        }
        let finding = finding
            .affects(super::zones_of_exit(facts, name))
            .next("rp-filter-off", 2, format!("set rp_filter to 0 on {name} and the other exit nodes, for all and for each interface that has a value of its own (the larger counts), and make it last (/etc/sysctl.d)"))
            .command(off(node));
        out.found(finding);
    }
}

/// Puts it off for all, and for each interface with a value of its own. sysctl writes the dot of a VLAN as a slash.
fn off(node: &Node) -> String {
    let own = node.rp_filter.iter().flat_map(|set| &set.value).filter(|(_, value)| **value > 0);
    let plain = |name: &&String| name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
    let names = own.map(|(name, _)| name).filter(plain).filter(|name| !matches!(name.as_str(), "all" | "default"));
    let each = names.map(|name| format!(" net.ipv4.conf.{}.rp_filter=0", name.replace('.', "/")));
    format!("sysctl -w net.ipv4.conf.all.rp_filter=0{}", each.collect::<String>())
}
