//! Rates from counters. A counter that falls is a reset, never a negative rate (facts/exit-node.md §4).

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::entities::{Flow, Flows};
use crate::backends::exit_node::model::{Reading, SnatRule};

/// Samples kept for the trend.
const HISTORY: usize = 10;

/// Seconds between two moments, when they are in order and apart.
fn seconds(from: Timestamp, to: Timestamp) -> Option<f64> {
    let d = to.duration_since(from).as_secs_f64();
    (d > 0.0).then_some(d)
}

/// Sums rules with equal text: an append that is not idempotent leaves two (domain.md §9 T6).
fn sums(rules: &[SnatRule]) -> BTreeMap<&str, u64> {
    let mut out = BTreeMap::new();
    for rule in rules {
        *out.entry(rule.text.as_str()).or_insert(0) += rule.new_connections;
    }
    out
}

impl Flow {
    fn next(&self, before: u64, total: u64, elapsed: Option<f64>, at: Timestamp) -> Self {
        if total < before {
            return Self { total, per_second: None, history: Vec::new(), reset_at: Some(at), since: Some(at) };
        }
        let step = total - before;
        let mut history = self.history.clone();
        history.push(step);
        let surplus = history.len().saturating_sub(HISTORY);
        history.drain(..surplus);
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        let per_second = elapsed.map(|s| step as f64 / s);
        Self { total, per_second, history, reset_at: self.reset_at, since: self.since }
    }
}

impl Flows {
    /// The flows after `now` was read, `before` being the last reading of the same node. Rates are counted on the node's
    /// clock, moments are told on ours, at which the reading arrived: the node's may be hours off.
    #[must_use]
    pub fn advance(&self, before: Option<&Reading>, now: &Reading, arrived: Timestamp) -> Self {
        let mut next = self.clone();
        next.snat.retain(|(node, _), _| *node != now.node);
        next.bytes_s.retain(|(node, _), _| *node != now.node);
        let elapsed = before.and_then(|b| seconds(b.at, now.at));
        if let Some(nat) = now.nat.value() {
            let old = before.and_then(|b| b.nat.value()).map(|n| sums(&n.snat)).unwrap_or_default();
            for (text, total) in sums(&nat.snat) {
                let key = (now.node.clone(), text.to_owned());
                let flow = match (self.snat.get(&key), old.get(text)) {
                    (Some(flow), Some(&was)) => flow.next(was, total, elapsed, arrived),
                    _ => Flow { total, since: Some(arrived), ..Flow::default() },
                };
                next.snat.insert(key, flow);
            }
        }
        if let (Some(links), Some(old), Some(s)) = (now.links.value(), before.and_then(|b| b.links.value()), elapsed) {
            for link in links {
                let was = old.iter().find(|o| o.name == link.name && o.ifindex == link.ifindex);
                let (Some(new), Some(was)) = (link.stats, was.and_then(|o| o.stats)) else { continue };
                let (new, was) = (new.rx_bytes + new.tx_bytes, was.rx_bytes + was.tx_bytes);
                if let Some(step) = new.checked_sub(was) {
                    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
                    next.bytes_s.insert((now.node.clone(), link.name.clone()), step as f64 / s);
                }
            }
        }
        next
    }
}
