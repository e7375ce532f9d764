//! One undisturbed run, and all that can happen to it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use deevnet_console::lab::gate::Way;
use deevnet_console::provision::engine::Ended;

use crate::bench::{Bench, Course, Fork, Taken};
use crate::gates::{Looks, One, Point, Recorder};
use crate::state::{differs, secrets, shows, state};

/// A request that is done when its step was tried again, verified and left.
const LONG_AFTER: Way = Way::Later(60);
/// What can become of a request that changes something.
const WAYS: [Way; 7] =
    [Way::Unanswered, Way::Later(2), Way::Twice, Way::Denied(500), Way::Unheard, Way::Refused(503), LONG_AFTER];
/// Of the lines of a journal every so manieth is cut in the middle, too.
const TORN: usize = 9;
/// Of the requests that look every so manieth is disturbed in one run.
const LOOKS: u64 = 9;

pub struct Matrix {
    bench: Bench,
    course: Course,
    start: Fork,
    points: Vec<Point>,
    journal: Vec<u8>,
    wanted: BTreeMap<String, String>,
    faults: Vec<String>,
    began: tokio::time::Instant,
}

impl Matrix {
    /// The undisturbed run of a course, every boundary noted.
    pub async fn of(course: Course) -> Self {
        let began = tokio::time::Instant::now();
        let bench = Bench::start().await;
        bench.prepare(course).await;
        let start = bench.fork();
        let world = bench.world().await;
        let plan = bench.plan(&world, course).await.unwrap();
        let preview = plan.preview(&world, Default::default()).await;
        let recorder = Arc::new(Recorder {
            lab: Arc::downgrade(&bench.lab),
            now: bench.now.clone(),
            file: bench.file(),
            points: Default::default(),
        });
        bench.lab.gate(Some(recorder.clone()));
        assert_eq!(bench.run(&world, preview, None).await.unwrap(), Ended::Done);
        bench.lab.gate(None);
        let journal = std::fs::read(bench.file()).unwrap();
        let wanted = state(&bench.lab.world());
        let points = std::mem::take(&mut *recorder.points.lock().unwrap());
        let matrix = Self { bench, course, start, points, journal, wanted, faults: Vec::new(), began };
        matrix.say(&format!(
            "{} requests, {} of them change something, {} lines of journal",
            matrix.points.len(),
            matrix.points.iter().filter(|point| point.writes()).count(),
            matrix.lines().len()
        ));
        matrix
    }

    fn say(&self, what: &str) {
        println!("{:?}: {what} ({:.1} s)", self.course, self.began.elapsed().as_secs_f64());
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
    fn judge(&mut self, what: &str, taken: &Result<Taken, String>) {
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

    /// The program ends before and after every request: it is taken up from what is there then.
    pub async fn drops(&mut self) {
        let forks = self.forks();
        let (mut tries, mut freed) = (BTreeMap::<u32, u32>::new(), 0);
        for (number, fork) in forks.iter().enumerate() {
            self.bench.back_to(fork, &self.journal[..fork.journal]);
            let taken = self.bench.to_the_end(self.course).await;
            let taken_or = *taken.as_ref().unwrap_or(&Taken::default());
            *tries.entry(taken_or.tries).or_default() += 1;
            freed += taken_or.freed;
            let at = self
                .points
                .iter()
                .find(|point| point.before.is(fork) || point.after.as_ref().is_some_and(|a| a.is(fork)));
            let at =
                at.map(|point| format!("{} {} {}", point.request.number, point.request.method, point.request.target));
            self.judge(&format!("dropped at moment {number}, {at:?}"), &taken);
        }
        let boundaries = 2 * self.points.len();
        self.say(&format!(
            "drops: {boundaries} boundaries are {} moments; taken up (times: how many) {tries:?}, lock freed {freed} times",
            forks.len()
        ));
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

    /// The moment before the step that a request belongs to was begun.
    fn before_its_step(&self, forks: &[Fork], point: &Point) -> (Fork, usize) {
        let begun = |(from, end): &&(usize, usize)| {
            *end <= point.before.journal
                && String::from_utf8_lossy(&self.journal[*from..*end]).contains("\"event\":\"begun\"")
        };
        let at = self.lines().iter().rev().find(begun).map_or(0, |(from, _)| *from);
        (Self::when(forks, at), at)
    }

    /// Every request that changes something is disturbed in some ways: the run goes on or gives up, and is taken up.
    pub async fn writes(&mut self, ways: usize) {
        let forks = self.forks();
        let points: Vec<Point> = self.points.iter().filter(|point| point.writes()).cloned().collect();
        let (mut runs, mut met, mut freed, mut again, mut mended) = (0, 0, 0, 0, 0);
        for (number, point) in points.iter().enumerate() {
            for way in (0..ways).map(|turn| WAYS[(number * ways + turn) % WAYS.len()]) {
                let (fork, length) = self.before_its_step(&forks, point);
                self.bench.back_to(&fork, &self.journal[..length]);
                let gate = Arc::new(One { request: point.request.clone(), way, met: AtomicU64::new(0) });
                self.bench.lab.gate(Some(gate.clone()));
                let first = self.bench.once(self.course).await;
                self.bench.lab.let_through().await;
                self.bench.lab.gate(None);
                let taken = match &first {
                    Ok(Ended::Done) => Ok(Taken { tries: 1, freed: 0 }),
                    _ => self.bench.to_the_end(self.course).await,
                };
                // What lands when its step is long over is nobody's to see but the next run's.
                if way == LONG_AFTER && !differs(&self.wanted, &state(&self.bench.lab.world())).is_empty() {
                    mended += 1;
                    assert_eq!(self.bench.once(self.course).await, Ok(Ended::Done));
                }
                runs += 1;
                met += u32::from(gate.met.load(Ordering::SeqCst) > 0);
                again += u32::from(first != Ok(Ended::Done));
                freed += taken.as_ref().map_or(0, |taken| taken.freed);
                let what =
                    format!("{way:?} of {} {} {}", point.request.number, point.request.method, point.request.target);
                self.judge(&format!("{what}, first {first:?}"), &taken);
            }
        }
        self.say(&format!(
            "writes: {} boundaries, {runs} runs by {} ways, {met} met; {again} taken up, lock freed {freed} times, {mended} mended by a second run",
            points.len(),
            WAYS.len()
        ));
        assert!(met * 10 >= runs * 9, "a disturbed run sends what the undisturbed one did: {met} of {runs}");
    }

    /// Requests that look are disturbed, some in each run.
    pub async fn reads(&mut self) {
        let mut met = BTreeSet::new();
        let ways = [Way::Unanswered, Way::Refused(500), Way::Refused(503), Way::Unheard, Way::Twice];
        for from in 0..LOOKS {
            let way = ways[usize::try_from(from).unwrap() % ways.len()];
            self.bench.back_to(&self.start.clone(), &[]);
            let gate = Arc::new(Looks { every: LOOKS, from, way, seen: AtomicU64::new(0), met: Default::default() });
            self.bench.lab.gate(Some(gate.clone()));
            let first = self.bench.once(self.course).await;
            self.bench.lab.gate(None);
            let taken = match &first {
                Ok(Ended::Done) => Ok(Taken { tries: 1, freed: 0 }),
                _ => self.bench.to_the_end(self.course).await,
            };
            let disturbed = std::mem::take(&mut *gate.met.lock().unwrap());
            assert!(!disturbed.is_empty(), "no look was disturbed from {from} on");
            met.extend(disturbed.iter().map(|request| format!("{} {}", request.to, request.target)));
            self.judge(&format!("every {LOOKS}th look from {from} {way:?}, first {first:?}"), &taken);
        }
        assert!(met.len() > ways.len(), "the disturbed looks are different ones: {met:?}");
        self.say(&format!("looks: {} different ones disturbed in {LOOKS} runs", met.len()));
    }

    pub async fn end(self) {
        self.say(&format!("{} faults", self.faults.len()));
        let shown: Vec<String> = self.faults.iter().take(25).cloned().collect();
        assert!(self.faults.is_empty(), "{:?}: {} faults\n{}", self.course, self.faults.len(), shown.join("\n"));
        self.bench.end().await;
    }
}
