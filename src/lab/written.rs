//! What requests to PowerDNS and the perimeter change, under the faults that are on.
//!
//! A request is judged in the world as it is served, faults and all. What it does is done to the undisturbed world, and the
//! faults are laid over it anew. A fault that would undo what was done is over: whoever makes a zone that a fault had taken
//! away has repaired it.

use std::sync::Arc;

use super::http::{Answer, Call, Payload};
use super::names::Names;
use super::perimeter::Perimeter;
use super::state::World;
use super::{Shared, Shifting, opnsense, pdns};

/// A change of the world; done twice, to two worlds.
pub(super) type Deed = Box<dyn Fn(&mut World) + Send>;

/// What becomes of the answer to a change that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Way {
    /// It arrives.
    #[default]
    Arrives,
    /// The connection ends without it.
    Lost,
    /// A bare 500 comes in its place.
    Failed,
}

impl Way {
    fn of(self, answer: Answer) -> Option<Answer> {
        match self {
            Self::Arrives => Some(answer),
            Self::Lost => None,
            Self::Failed => {
                Some(Answer::new(500, Payload::Text("text/plain; charset=utf-8", "Internal Server Error".to_owned())))
            }
        }
    }
}

impl Shared {
    /// Answers from the world as it is, and does what comes of it, with nobody in between.
    pub(super) fn transact<T>(&self, act: impl FnOnce(&World) -> (T, Option<Deed>)) -> T {
        let mut state = self.state();
        let before = Arc::clone(&state.current);
        let (answer, deed) = act(&before);
        if let Some(deed) = deed {
            state.carry_out(&before, &deed);
        }
        answer
    }

    /// Answers a request to the API of PowerDNS; `None` where the answer is lost.
    pub(super) fn powerdns(&self, call: &Call) -> Option<Answer> {
        let now = self.now();
        if call.method == "GET" {
            return Some(pdns::answer(&self.world(), now, call));
        }
        self.transact(|world| {
            let (answer, op) = pdns::write(world, now, call);
            let Some(op) = op else { return (Some(answer), None) };
            let deed: Deed = Box::new(move |world| op(&mut world.names));
            (world.names.writing.answer.of(answer), Some(deed))
        })
    }

    /// Answers a request to the API of the perimeter.
    pub(super) fn perimeter(&self, call: &Call) -> Answer {
        let now = self.now();
        let (answer, restarted) = self.transact(|world| match opnsense::write(world, now, call) {
            None => ((None, false), None),
            Some((answer, None)) => ((Some(answer), false), None),
            Some((answer, Some(op))) => {
                let restarts = op.restarts;
                let deed: Deed = Box::new(move |world| (op.change)(&mut world.perimeter));
                ((Some(answer), restarts), Some(deed))
            }
        });
        if restarted {
            // Whoever starts anew has kept nothing.
            self.state().epoch += 1;
        }
        answer.unwrap_or_else(|| opnsense::answer(&self.world(), now, call))
    }
}

impl Shifting {
    fn carry_out(&mut self, before: &World, deed: &Deed) {
        let mut wanted = World::clone(before);
        deed(&mut wanted);
        deed(Arc::make_mut(&mut self.base));
        // A fault whose target is gone is laid over nothing; it stays on until it is switched off.
        let _ = self.refresh();
        for at in (0..self.active.len()).rev() {
            let now = undone(before, &wanted, &self.current);
            if now == 0 {
                return;
            }
            let fault = self.active.remove(at);
            let _ = self.refresh();
            if undone(before, &wanted, &self.current) >= now {
                self.active.insert(at, fault);
                let _ = self.refresh();
            }
        }
    }
}

/// How many parts that were changed from `before` to `wanted` are not so in `now`.
fn undone(before: &World, wanted: &World, now: &World) -> usize {
    names(&before.names, &wanted.names, &now.names) + forwards(&before.perimeter, &wanted.perimeter, &now.perimeter)
}

fn names(before: &Names, wanted: &Names, now: &Names) -> usize {
    let zone = |origin: &&String| {
        let (then, goal, held) = (before.zones.get(*origin), wanted.zones.get(*origin), now.zones.get(*origin));
        then != goal && held != goal
    };
    let key = |name: &&String| {
        before.keys.get(*name) != wanted.keys.get(*name) && now.keys.get(*name) != wanted.keys.get(*name)
    };
    let zones = before.zones.keys().chain(wanted.zones.keys().filter(|origin| !before.zones.contains_key(*origin)));
    let keys = before.keys.keys().chain(wanted.keys.keys().filter(|name| !before.keys.contains_key(*name)));
    zones.filter(zone).count() + keys.filter(key).count()
}

fn forwards(before: &Perimeter, wanted: &Perimeter, now: &Perimeter) -> usize {
    let of = |perimeter: &Perimeter, uuid: &str| perimeter.forwards.iter().find(|row| row.uuid == uuid).cloned();
    let rows = before.forwards.iter().chain(&wanted.forwards).filter(|row| {
        let goal = of(wanted, &row.uuid);
        of(before, &row.uuid) != goal && of(now, &row.uuid) != goal
    });
    rows.count()
}
