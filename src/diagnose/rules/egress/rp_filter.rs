//! Reverse-path filtering: a cause while its counter rises, a note where it is merely strict.

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::node::Node;
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};

/// It drops.
pub static DROPS: Rule = Rule {
    id: "rp-filter-drops",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "Packets are dropped since their source is not reached by the interface they came in by. What is in force for an \
           interface is the larger of its own value and that of `all`, so an interface's own 0 does not mean off. With \
           several exit nodes, or another way back, answers come in where the node would not send them out.",
    reads: "rp_filter of all interfaces, the counter TcpExtIPReversePathFilter in two samples",
    unlike: &[("rp-filter-strict", "strict, and the counter stands still")],
    explains: &["rp-filter-strict"],
    judge: drops,
};

/// It is strict.
pub static STRICT: Rule = Rule {
    id: "rp-filter-strict",
    layer: Layer::Egress,
    severity: Severity::Info,
    says: "Reverse-path filtering is strict on an exit node. With one exit node and the usual way back it drops nothing; it \
           could with several, or with local routing.",
    reads: "rp_filter of all interfaces of exit nodes",
    unlike: &[],
    explains: &[],
    judge: strict,
};

/// The counter.
const COUNTER: &str = "TcpExtIPReversePathFilter";

/// Interfaces on which it is strict in force, and their own values. `all` and `default` are no interfaces.
fn strict_on(node: &Node) -> Vec<(&str, u8)> {
    let set = node.rp_filter.iter().flat_map(|set| set.iter());
    let real = set.filter(|(name, _)| !["all", "default", "lo"].contains(&name.as_str()));
    real.filter(|(name, _)| node.rp_filter_of(name) == Some(1)).map(|(name, own)| (name.as_str(), *own)).collect()
}

fn with_interfaces(mut finding: Finding, name: &str, node: &Node) -> Finding {
    for (interface, own) in strict_on(node) {
        let at = format!("{name}/{interface}");
        finding = finding.fact("rp-filter.effective", &at, 1).fact("rp-filter.own", &at, own);
    }
    if let Some(set) = &node.rp_filter {
        finding = finding.from(set);
    }
    finding
}

fn drops(facts: &Facts, out: &mut Out<'_>) {
    let exits = super::exit_names(facts);
    for (name, node) in facts.nodes.iter() {
        let relevant = exits.contains(name) || !node.counters.is_empty();
        if !relevant {
            continue;
        }
        let Some(rise) = node.rise(COUNTER) else {
            if !strict_on(node).is_empty() || node.counters.iter().any(|sample| sample.contains_key(COUNTER)) {
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
            .next("rp-filter-off", 2, format!("set net.ipv4.conf.all.rp_filter to 0 on {name} and the other exit nodes, and make it last (/etc/sysctl.d)"))
            .command("sysctl -w net.ipv4.conf.all.rp_filter=0");
        out.found(finding);
    }
}

fn strict(facts: &Facts, out: &mut Out<'_>) {
    for name in super::exit_names(facts) {
        let Some(node) = facts.nodes.get(name).filter(|node| node.rp_filter.is_some()) else { continue };
        let on = strict_on(node);
        if on.is_empty() {
            out.pass(Subject::new("node", name));
            continue;
        }
        let title = format!(
            "Reverse-path filtering is strict on {} interface(s) of {name}; nothing shows that it drops.",
            on.len()
        );
        let finding = with_interfaces(out.finding(Subject::new("node", name), title), name, node)
            .next("watch-counter", 0, format!("watch {COUNTER} while a connection fails"))
            .command(format!("nstat -az {COUNTER}"));
        out.found(finding);
    }
}
