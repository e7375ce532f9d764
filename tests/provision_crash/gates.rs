//! Who stands at the lab's gate: one that notes what was there at every boundary, others that disturb.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use deevnet_console::lab::Lab;
use deevnet_console::lab::gate::{Arrival, Gate, Way};
use tokio::sync::Notify;

use crate::bench::{Fork, fork};
use crate::change_common::Hand;

/// A request of the undisturbed run.
#[derive(Clone)]
pub struct Point {
    pub request: Arrival,
    pub before: Fork,
    pub after: Option<Fork>,
}

impl Point {
    pub fn told(&self) -> String {
        let Arrival { number, to, method, target, .. } = &self.request;
        format!("{number} {to} {method} {target}")
    }

    /// Whether something was done.
    pub fn writes(&self) -> bool {
        self.after.as_ref().is_some_and(|after| !after.moment.is(&self.before.moment))
    }
}

/// Notes every boundary.
pub struct Recorder {
    pub lab: Weak<Lab>,
    pub now: Hand,
    pub file: PathBuf,
    pub points: Mutex<Vec<Point>>,
}

impl Recorder {
    fn fork(&self) -> Option<Fork> {
        Some(fork(self.lab.upgrade()?.as_ref(), &self.now, &self.file))
    }
}

impl Gate for Recorder {
    fn arrives(&self, request: &Arrival) -> Way {
        if let Some(before) = self.fork() {
            self.points.lock().unwrap().push(Point { request: request.clone(), before, after: None });
        }
        Way::Pass
    }

    fn done(&self, request: &Arrival) {
        let after = self.fork();
        let mut points = self.points.lock().unwrap();
        if let Some(point) = points.iter_mut().find(|point| point.request.number == request.number) {
            point.after = after;
        }
    }
}

/// Whether two requests ask for the same.
fn alike(one: &Arrival, other: &Arrival) -> bool {
    (one.to, &one.method, &one.target) == (other.to, &other.method, &other.target)
}

/// Decides on one request of a run that is like the undisturbed one until then, and says when it is there.
pub struct One {
    /// With which the run begins: what comes before was on its way when the run before was dropped.
    first: Arrival,
    begun: AtomicBool,
    request: Arrival,
    /// The so manieth that asks for that, from 1.
    nth: u64,
    pub way: Way,
    seen: AtomicU64,
    number: AtomicU64,
    /// It arrived, or where its answer is kept back, it was done.
    pub reached: Notify,
}

impl One {
    pub fn at(points: &[Point], at: usize, way: Way) -> Arc<Self> {
        let request = points[at].request.clone();
        let nth = points[..=at].iter().filter(|point| alike(&point.request, &request)).count();
        let nth = u64::try_from(nth).unwrap();
        Arc::new(Self {
            first: points[0].request.clone(),
            begun: AtomicBool::new(false),
            request,
            nth,
            way,
            seen: AtomicU64::new(0),
            number: AtomicU64::new(0),
            reached: Notify::new(),
        })
    }

    pub fn met(&self) -> bool {
        self.number.load(Ordering::SeqCst) > 0
    }
}

impl Gate for One {
    fn arrives(&self, request: &Arrival) -> Way {
        if alike(&self.first, request) {
            self.begun.store(true, Ordering::SeqCst);
        }
        if !self.begun.load(Ordering::SeqCst)
            || !alike(&self.request, request)
            || self.seen.fetch_add(1, Ordering::SeqCst) + 1 != self.nth
        {
            return Way::Pass;
        }
        self.number.store(request.number, Ordering::SeqCst);
        if self.way != Way::Kept {
            self.reached.notify_one();
        }
        self.way
    }

    fn done(&self, request: &Arrival) {
        if self.way == Way::Kept && self.number.load(Ordering::SeqCst) == request.number {
            self.reached.notify_one();
        }
    }
}
