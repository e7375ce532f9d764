//! Runs that are dropped while one of their requests is held: before the lab has it, when it is done and not answered, or on its
//! way, where the lab has it when the next run is at work.

use std::collections::BTreeMap;
use std::sync::Arc;

use deevnet_console::lab::gate::Way;
use deevnet_console::provision::engine::Ended;

use crate::bench::{Fork, Taken};
use crate::gates::One;
use crate::matrix::Matrix;
use crate::state::{differs, state};

/// When a request arrives whose sender is gone: so many requests of the next run came before it.
const ON_ITS_WAY: [u64; 3] = [2, 25, 60];

/// What came of all drops.
#[derive(Default)]
struct Counts {
    drops: u32,
    resumed: u32,
    tries: BTreeMap<u32, u32>,
    freed: u32,
    mended: u32,
}

/// What a journal says, without times and what is new in every run.
fn events(journal: &[u8]) -> Vec<String> {
    let lines = String::from_utf8_lossy(journal).into_owned();
    let said = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        format!("{} {} {}", row["event"], row["step"], row["key"])
    };
    lines.lines().map(said).collect()
}

impl Matrix {
    /// Runs from the start and drops the run when the gate says so; whether it did.
    async fn dropped(&self, gate: &Arc<One>) -> bool {
        self.bench.back_to(&self.start, &[]);
        let world = self.bench.world().await;
        self.bench.lab.gate(Some(gate.clone()));
        let mut run = Box::pin(self.bench.run(&world, self.preview.clone(), None));
        let dropped = tokio::select! {
            biased;
            () = gate.reached.notified() => true,
            _ = &mut run => false,
        };
        drop(run);
        dropped
    }

    /// Nothing is there but what was there in the undisturbed run.
    fn survives(&mut self, what: &str, then: &Fork) {
        let mut wrong = differs(&state(&then.world), &state(&self.bench.lab.world()));
        let (was, is) = (events(&self.journal[..then.journal]), events(&self.bench.journal_bytes()));
        if was != is {
            wrong.push(format!("journal: was {:?}, is {:?}", was.last(), is.last()));
        }
        if !wrong.is_empty() {
            self.faults.push(format!("{what}, what survives:\n  {}", wrong.join("\n  ")));
        }
    }

    /// Every request of the run is held and the run dropped: before it is done and before it is answered. What survives is that
    /// of the undisturbed run. It is taken up from there: at `all`, or where something else survives than one boundary before.
    pub async fn drops(&mut self, all: bool) {
        let (mut counts, points) = (Counts::default(), self.points.clone());
        let mut last: Option<Fork> = None;
        for at in 0..points.len() {
            for way in [Way::Held, Way::Kept] {
                let gate = One::at(&points, at, way);
                let what = format!("dropped at {} {way:?}", points[at].told());
                assert!(self.dropped(&gate).await, "{what}: it is not sent again");
                counts.drops += 1;
                let before = points[at].before.clone();
                let then = if way == Way::Held { before } else { points[at].after.clone().unwrap() };
                self.survives(&what, &then);
                let same = last.as_ref().is_some_and(|last| last.is(&then));
                last = Some(then);
                if all || !same {
                    self.bench.lab.gate(None);
                    self.taken_up(&what, &mut counts, false).await;
                }
            }
            if points[at].writes() {
                let way = Way::Later(ON_ITS_WAY[at % ON_ITS_WAY.len()]);
                let what = format!("dropped at {} {way:?}", points[at].told());
                assert!(self.dropped(&One::at(&points, at, way)).await, "{what}: it is not sent again");
                counts.drops += 1;
                self.taken_up(&what, &mut counts, true).await;
            }
        }
        self.bench.lab.gate(None);
        let Counts { drops, resumed, tries, freed, mended } = counts;
        self.say(&format!(
            "drops: {} requests, {drops} runs dropped, {resumed} of them taken up (times: how many) {tries:?}, lock freed {freed} \
             times, {mended} mended by a second run",
            points.len()
        ));
    }

    async fn taken_up(&mut self, what: &str, counts: &mut Counts, on_its_way: bool) {
        let taken = self.bench.to_the_end(self.course).await;
        if on_its_way {
            self.bench.lab.let_through().await;
            self.bench.lab.gate(None);
            // What lands when all is over is nobody's to see but the next run's.
            if taken.is_ok() && !differs(&self.wanted, &state(&self.bench.lab.world())).is_empty() {
                counts.mended += 1;
                assert_eq!(self.bench.once(self.course).await, Ok(Ended::Done), "{what}");
            }
        }
        let told = *taken.as_ref().unwrap_or(&Taken::default());
        counts.resumed += 1;
        *counts.tries.entry(told.tries).or_default() += 1;
        counts.freed += told.freed;
        self.judge(what, &taken);
    }
}
