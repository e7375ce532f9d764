//! When a source is asked again: its interval while well, doubling up to a minute while not, with jitter.

use std::time::Duration;

use jiff::SignedDuration;

/// Longest pause between two tries.
const LONGEST: Duration = Duration::from_secs(60);

/// Back-off of one worker.
#[derive(Debug, Clone, Default)]
pub(super) struct Pace {
    failures: u32,
    salt: u64,
}

impl Pace {
    /// A pace whose jitter differs from that of other salts.
    pub(super) fn new(salt: &str) -> Self {
        let salt =
            salt.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        Self { failures: 0, salt }
    }

    /// Pause after a success.
    pub(super) fn well(&mut self, interval: SignedDuration) -> Duration {
        self.failures = 0;
        interval.unsigned_abs()
    }

    /// Pause after a failure: the interval, doubled with each further failure, at most a minute, ± 10 %.
    pub(super) fn failed(&mut self, interval: SignedDuration) -> Duration {
        let doubled = interval.unsigned_abs().saturating_mul(1 << self.failures.min(6));
        self.failures = self.failures.saturating_add(1);
        self.salt = self.salt.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let percent = u32::try_from(90 + (self.salt >> 33) % 21).unwrap_or(100);
        doubled.min(LONGEST) * percent / 100
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_double_the_pause_up_to_a_minute_and_a_success_ends_it() {
        let mut pace = Pace::new("pve");
        let ten = SignedDuration::from_secs(10);
        let within = |d: Duration, s: f64| (s * 0.9 - 0.01..=s * 1.1 + 0.01).contains(&d.as_secs_f64());
        for seconds in [10.0, 20.0, 40.0, 60.0, 60.0] {
            let pause = pace.failed(ten);
            assert!(within(pause, seconds), "{pause:?} is not about {seconds} s");
        }
        assert_eq!(pace.well(ten), Duration::from_secs(10));
        assert!(within(pace.failed(ten), 10.0));
    }

    #[test]
    fn workers_with_other_names_do_not_try_in_step() {
        let ten = SignedDuration::from_secs(10);
        let pauses: std::collections::BTreeSet<_> =
            ["a", "b", "c", "d"].map(|n| Pace::new(n).failed(ten)).into_iter().collect();
        assert!(pauses.len() > 1);
    }
}
