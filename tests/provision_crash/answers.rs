//! Runs in which one answer is lost, late, doubled or an error.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use deevnet_console::lab::gate::Way;
use deevnet_console::provision::engine::Ended;

use crate::bench::Taken;
use crate::gates::One;
use crate::matrix::Matrix;
use crate::state::{differs, state};

/// A request that is done when its step was tried again, verified and left.
const LONG_AFTER: Way = Way::Later(60);
/// What becomes of the answer to each request that changes something: lost, late, doubled, an error.
const EACH: [Way; 4] = [Way::Unanswered, Way::Kept, Way::Twice, Way::Denied(500)];
/// What becomes of some.
const SOME: [Way; 4] = [Way::Later(2), Way::Unheard, Way::Refused(503), LONG_AFTER];
/// What becomes of the answer to each request that looks: lost, late, doubled, an error.
const LOOKS: [Way; 4] = [Way::Unanswered, Way::Kept, Way::Twice, Way::Refused(500)];
/// Longer than anybody waits for an answer.
const LATE: Duration = Duration::from_secs(3600);

#[derive(Default)]
struct Counts {
    runs: BTreeMap<String, u32>,
    again: u32,
    freed: u32,
    mended: u32,
}

impl Matrix {
    /// A whole run from the start in which that becomes of one request.
    async fn disturbed(&self, gate: &Arc<One>) -> Result<Ended, String> {
        self.bench.back_to(&self.start, &[]);
        let world = self.bench.world().await;
        self.bench.lab.gate(Some(gate.clone()));
        let mut run = Box::pin(self.bench.run(&world, self.preview.clone(), None));
        if gate.way == Way::Kept {
            tokio::select! {
                biased;
                () = gate.reached.notified() => {}
                ended = &mut run => return ended,
            }
            // Whoever waits for it has given it up when time goes on.
            tokio::time::pause();
            tokio::time::advance(LATE).await;
            tokio::time::resume();
        }
        run.await
    }

    async fn answer(&mut self, at: usize, way: Way, counts: &mut Counts) {
        let gate = One::at(&self.points, at, way);
        let first = self.disturbed(&gate).await;
        self.bench.lab.let_through().await;
        self.bench.lab.gate(None);
        let what = format!("{way:?} of {}, first {first:?}", self.points[at].told());
        assert!(gate.met(), "{what}: it is not sent again");
        let taken = match &first {
            Ok(Ended::Done) => Ok(Taken { tries: 1, freed: 0 }),
            _ => self.bench.to_the_end(self.course).await,
        };
        // What lands when its step is long over is nobody's to see but the next run's.
        if way == LONG_AFTER && !differs(&self.wanted, &state(&self.bench.lab.world())).is_empty() {
            counts.mended += 1;
            assert_eq!(self.bench.once(self.course).await, Ok(Ended::Done), "{what}");
        }
        *counts.runs.entry(format!("{way:?}")).or_default() += 1;
        counts.again += u32::from(first != Ok(Ended::Done));
        counts.freed += taken.as_ref().map_or(0, |taken| taken.freed);
        self.judge(&what, &taken);
    }

    /// The answer to every request that changes something is disturbed in each way, its request in so many more.
    pub async fn writes(&mut self, more: usize) {
        let mut counts = Counts::default();
        let all: Vec<usize> = (0..self.points.len()).filter(|at| self.points[*at].writes()).collect();
        for (number, at) in all.iter().enumerate() {
            let some = (0..more).map(|turn| SOME[(number * more + turn) % SOME.len()]);
            for way in EACH.into_iter().chain(some) {
                self.answer(*at, way, &mut counts).await;
            }
        }
        self.count("that change something", all.len(), &counts);
    }

    /// The answer to every `every`th request that looks, from the `from`th on, is disturbed in each way.
    pub async fn looks(&mut self, from: usize, every: usize) {
        let mut counts = Counts::default();
        let all = (0..self.points.len()).filter(|at| !self.points[*at].writes()).skip(from).step_by(every);
        let all: Vec<usize> = all.collect();
        for at in &all {
            for way in LOOKS {
                self.answer(*at, way, &mut counts).await;
            }
        }
        self.count("that look", all.len(), &counts);
    }

    fn count(&self, which: &str, of: usize, counts: &Counts) {
        let Counts { runs, again, freed, mended } = counts;
        self.say(&format!(
            "answers: {of} requests {which}, runs by way {runs:?}, {again} taken up, lock freed {freed} times, {mended} mended by \
             a second run"
        ));
    }
}
