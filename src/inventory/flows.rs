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
        let sum: &mut u64 = out.entry(rule.text.as_str()).or_default();
        *sum = sum.saturating_add(rule.new_connections);
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
                // Counters come as the node sent them: their sum must not be able to stop the program.
                let (new, was) = (new.rx_bytes.saturating_add(new.tx_bytes), was.rx_bytes.saturating_add(was.tx_bytes));
                if let Some(step) = new.checked_sub(was) {
                    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
                    next.bytes_s.insert((now.node.clone(), link.name.clone()), step as f64 / s);
                }
            }
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::super::testing::{Sample, now};
    use super::*;
    use crate::backends::exit_node::model::{LinkStats, Readout};

    /// A reading `seconds` after the first one, in which the first rule counts `count` and the first link `bytes`.
    fn reading(seconds: i64, count: u64, bytes: u64) -> Reading {
        let mut reading = Sample::healthy().exit;
        reading.at = now() + SignedDuration::from_secs(seconds);
        if let Readout::Value(nat) = &mut reading.nat {
            nat.snat.truncate(1);
            nat.snat[0].new_connections = count;
        }
        if let Readout::Value(links) = &mut reading.links {
            links.truncate(1);
            links[0].stats = Some(LinkStats { rx_bytes: bytes, tx_bytes: bytes, ..LinkStats::default() });
        }
        reading
    }

    fn flow(flows: &Flows) -> &Flow {
        flows.snat.values().next().unwrap()
    }

    #[test]
    fn two_readings_make_a_rate_on_the_clock_of_the_node() {
        let (first, second) = (reading(0, 100, 1_000), reading(5, 150, 2_000));
        let later = now() + SignedDuration::from_hours(3);
        let flows = Flows::default().advance(None, &first, now());
        assert_eq!((flow(&flows).total, flow(&flows).per_second), (100, None));
        let flows = flows.advance(Some(&first), &second, later);
        assert_eq!((flow(&flows).per_second, flow(&flows).since), (Some(10.0), Some(now())));
        assert_eq!(flows.bytes_s.values().next(), Some(&400.0));
    }

    #[test]
    fn a_counter_that_falls_is_a_reset_and_no_rate() {
        let (first, second) = (reading(0, 100, 1_000), reading(5, 3, 10));
        let flows = Flows::default().advance(None, &first, now()).advance(Some(&first), &second, now());
        let found = flow(&flows);
        assert_eq!((found.total, found.per_second, found.reset_at), (3, None, Some(now())));
        assert!(found.history.is_empty() && flows.bytes_s.is_empty());
    }

    #[test]
    fn counters_at_their_end_stop_nothing() {
        let mut first = reading(0, u64::MAX, u64::MAX);
        if let Readout::Value(nat) = &mut first.nat {
            nat.snat.push(nat.snat[0].clone());
        }
        let second = reading(5, u64::MAX, u64::MAX);
        let flows = Flows::default().advance(None, &first, now()).advance(Some(&first), &second, now());
        assert_eq!(flow(&flows).total, u64::MAX);
    }
}
