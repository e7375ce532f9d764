//! Who stands at the lab's gate: one that notes what was there at every boundary, others that disturb.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Weak};

use deevnet_console::lab::Lab;
use deevnet_console::lab::gate::{Arrival, Gate, Way};

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

/// Disturbs one request, the first time it comes.
pub struct One {
    pub request: Arrival,
    pub way: Way,
    pub met: AtomicU64,
}

impl Gate for One {
    fn arrives(&self, request: &Arrival) -> Way {
        if alike(&self.request, request) && self.met.fetch_add(1, Ordering::SeqCst) == 0 { self.way } else { Way::Pass }
    }
}

/// Disturbs every `every`th of the requests that only look, from the `from`th on.
pub struct Looks {
    pub every: u64,
    pub from: u64,
    pub way: Way,
    pub seen: AtomicU64,
    pub met: Mutex<Vec<Arrival>>,
}

impl Gate for Looks {
    fn arrives(&self, request: &Arrival) -> Way {
        let looks = request.method == "GET" || request.method == "enter" || request.target.contains("/search");
        if !looks || self.seen.fetch_add(1, Ordering::SeqCst) % self.every != self.from {
            return Way::Pass;
        }
        self.met.lock().unwrap().push(request.clone());
        self.way
    }
}
