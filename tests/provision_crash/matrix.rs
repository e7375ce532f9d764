//! One undisturbed run, and all that can happen to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use deevnet_console::lab::Clock;
use deevnet_console::provision::engine::Ended;
use deevnet_console::provision::plan::Preview;
use deevnet_console::runtime::clock;
use jiff::Timestamp;

use crate::bench::{Bench, Course, Fork, Taken};
use crate::gates::{Point, Recorder};
use crate::secrets::secrets;
use crate::state::{differs, shows, state};

/// Of the lines of a journal every so manieth is cut in the middle, too.
const TORN: usize = 9;

pub struct Matrix {
    pub bench: Bench,
    pub course: Course,
    /// The site when the course was planned, and the plan.
    pub start: Fork,
    pub preview: Preview,
    pub points: Vec<Point>,
    pub journal: Vec<u8>,
    pub wanted: BTreeMap<String, String>,
    pub faults: Vec<String>,
    clock: Clock,
    began: Timestamp,
}

impl Matrix {
    /// The undisturbed run of a course, every boundary noted.
    pub async fn of(course: Course) -> Self {
        // The test's own: time that is let pass for a client is none.
        let clock = clock::system();
        let began = clock();
        let bench = Bench::start().await;
        bench.prepare(course).await;
        let world = bench.world().await;
        let plan = bench.plan(&world, course).await.unwrap();
        let preview = plan.preview(&world, Default::default()).await;
        let start = bench.fork();
        let recorder = Arc::new(Recorder {
            lab: Arc::downgrade(&bench.lab),
            now: bench.now.clone(),
            file: bench.file(),
            points: Default::default(),
        });
        bench.lab.gate(Some(recorder.clone()));
        assert_eq!(bench.run(&world, preview.clone(), None).await.unwrap(), Ended::Done);
        bench.lab.gate(None);
        let journal = std::fs::read(bench.file()).unwrap();
        let wanted = state(&bench.lab.world());
        let points = std::mem::take(&mut *recorder.points.lock().unwrap());
        let matrix = Self { bench, course, start, preview, points, journal, wanted, faults: Vec::new(), clock, began };
        matrix.say(&format!(
            "{} requests, {} of them change something, {} lines of journal",
            matrix.points.len(),
            matrix.points.iter().filter(|point| point.writes()).count(),
            matrix.lines().len()
        ));
        matrix
    }

    pub fn say(&self, what: &str) {
        println!("{:?}: {what} ({:.1} s)", self.course, (self.clock)().duration_since(self.began).as_secs_f64());
    }

    /// Where each line of the journal begins and ends.
    fn lines(&self) -> Vec<(usize, usize)> {
        let mut from = 0;
        let ends = self.journal.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        ends.map(|end| (std::mem::replace(&mut from, end), end)).collect()
    }

    /// Every moment that differs from the one before, in order.
    fn forks(&self) -> Vec<Fork> {
        let mut all = vec![self.start.clone()];
        for fork in self.points.iter().flat_map(|point| std::iter::once(&point.before).chain(&point.after)) {
            if all.last().is_none_or(|last| !last.is(fork)) {
                all.push(fork.clone());
            }
        }
        all
    }

    /// The site when the journal was that long.
    fn when(forks: &[Fork], journal: usize) -> Fork {
        forks.iter().rev().find(|fork| fork.journal <= journal).unwrap_or(&forks[0]).clone()
    }

    /// What came of it, against the undisturbed run.
    pub fn judge(&mut self, what: &str, taken: &Result<Taken, String>) {
        let world = self.bench.lab.world();
        let mut wrong = match taken {
            Ok(_) => differs(&self.wanted, &state(&world)),
            Err(why) => vec![why.clone()],
        };
        let secrets = secrets(&world);
        for (name, bytes) in self.bench.written() {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            wrong.extend(
                secrets.iter().filter(|secret| text.contains(*secret)).map(|_| format!("{name} holds a secret")),
            );
        }
        if !wrong.is_empty() {
            self.faults.push(format!("{what}:\n  {}", wrong.join("\n  ")));
        }
    }

    /// Instead of going on the change is taken back: nothing of it is left but what is named.
    pub async fn undone(&mut self, stride: usize) {
        let forks = self.forks();
        let mut leaves = BTreeMap::<String, u32>::new();
        let mut runs = 0;
        for (number, fork) in forks.iter().enumerate().skip(1).step_by(stride) {
            self.bench.back_to(fork, &self.journal[..fork.journal]);
            let taken = self.bench.taken_back().await;
            runs += 1;
            let start = self.start.clone();
            let now = state(&self.bench.lab.world());
            self.bench.lab.back_to(&start.moment);
            let mut wrong = differs(&state(&self.bench.lab.world()), &now);
            match taken {
                Err(why) => wrong.push(why),
                Ok(left) => {
                    let left = left.unwrap_or_default();
                    left.iter().for_each(|what| *leaves.entry(what.clone()).or_default() += 1);
                    wrong.retain(|line| !left.iter().any(|what| shows(line, what)));
                    if !wrong.is_empty() {
                        wrong.push(format!("named: {left:?}"));
                    }
                }
            }
            if !wrong.is_empty() {
                self.faults.push(format!(
                    "taken back at moment {number} of {}:\n  {}",
                    forks.len(),
                    wrong.join("\n  ")
                ));
            }
        }
        self.say(&format!("taken back: {runs} moments; left, and named: {leaves:?}"));
    }

    /// The journal ends behind every line, and in the middle of some.
    pub async fn cuts(&mut self) {
        let forks = self.forks();
        let (mut whole, mut torn) = (0, 0);
        for (number, (from, end)) in self.lines().into_iter().enumerate() {
            let mut lengths = Vec::new();
            // Those were taken up already.
            if !forks.iter().any(|fork| fork.journal == end) {
                whole += 1;
                lengths.push(end);
            }
            if number % TORN == 0 {
                torn += 1;
                lengths.push(from + (end - from) * (1 + number % 7) / 8);
            }
            for length in lengths {
                let fork = Self::when(&forks, from);
                self.bench.back_to(&fork, &self.journal[..length]);
                let taken = self.bench.to_the_end(self.course).await;
                self.judge(&format!("journal cut at byte {length}, line {number}"), &taken);
            }
        }
        self.say(&format!("cuts: {whole} more behind a line, {torn} within one"));
    }

    pub async fn end(self) {
        self.say(&format!("{} faults", self.faults.len()));
        let shown: Vec<String> = self.faults.iter().take(25).cloned().collect();
        assert!(self.faults.is_empty(), "{:?}: {} faults\n{}", self.course, self.faults.len(), shown.join("\n"));
        self.bench.end().await;
    }
}
