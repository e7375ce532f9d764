//! Even the smallest packet is lost: size is not the cause.

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "mtu-ruled-out",
    layer: Layer::Egress,
    severity: Severity::Warning,
    says: "A destination does not even answer the smallest packet, while larger ones to another destination pass undivided: \
           MTU is not the cause. What remains is policy, translation and routing for that destination.",
    reads: "probes of several sizes from one place",
    unlike: &[("transit-mtu", "small packets pass and large ones vanish")],
    explains: &[],
    judge,
};

/// Bytes up to which a packet is as small as they come.
const SMALLEST: u32 = 64;

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for (name, node) in facts.nodes.iter() {
        let answered = |dst| node.pings.iter().any(|p| p.dst == dst && p.received > 0);
        let lost = node.pings.iter().filter(|p| p.vrf.is_none() && p.size <= SMALLEST && p.sent > 0 && p.received == 0);
        for small in lost.filter(|p| !answered(p.dst)) {
            let larger =
                node.pings.iter().filter(|p| p.whole && p.received > 0 && p.size > small.size && p.dst != small.dst);
            let Some(large) = larger.max_by_key(|p| p.size) else {
                out.unknown(format!("a large packet from {name} that may not be divided"), node.why_unread("ping"));
                continue;
            };
            let title = format!(
                "{} does not answer {name} even a packet of {} bytes, while {} bytes to {} pass: MTU is not the cause.",
                small.dst, small.size, large.size, large.dst
            );
            let mut finding = out
                .finding(Subject::new("workload", name), title)
                .fact("probe.smallest", small.dst.to_string(), format!("lost ({} of {})", small.received, small.sent))
                .fact("probe.large", large.dst.to_string(), format!("{} bytes pass", large.size))
                .fact("cause.mtu", small.dst.to_string(), "ruled out")
                .from(small)
                .from(large)
                .next(
                    "check-policy-nat",
                    0,
                    format!("look at firewall rules, translation and routes for {}", small.dst),
                );
            for rules in facts.nodes.iter().flat_map(|(_, node)| node.snat.values()) {
                finding = finding.from(rules);
            }
            out.found(finding);
        }
    }
}
