//! What the rules of reverse-path filtering share.

use crate::diagnose::facts::node::Node;
use crate::diagnose::finding::Finding;

/// The counter.
pub(super) const COUNTER: &str = "TcpExtIPReversePathFilter";

/// Interfaces on which it is strict in force, and their own values. `all` and `default` are no interfaces.
pub(super) fn strict_on(node: &Node) -> Vec<(&str, u8)> {
    let set = node.rp_filter.iter().flat_map(|set| set.iter());
    let real = set.filter(|(name, _)| !["all", "default", "lo"].contains(&name.as_str()));
    real.filter(|(name, _)| node.rp_filter_of(name) == Some(1)).map(|(name, own)| (name.as_str(), *own)).collect()
}

pub(super) fn with_interfaces(mut finding: Finding, name: &str, node: &Node) -> Finding {
    for (interface, own) in strict_on(node) {
        let at = format!("{name}/{interface}");
        finding = finding.fact("rp-filter.effective", &at, 1).fact("rp-filter.own", &at, own);
    }
    if let Some(set) = &node.rp_filter {
        finding = finding.from(set);
    }
    finding
}
