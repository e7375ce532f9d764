//! The way back: a plan made of what a change did.

use super::fields::{Difference, Fields, Wanted, inverse};
use super::journal::{Entry, StepState};
use super::object::{Object, Place, Undo};
use super::plan::{Plan, Step};
use super::tenant::NothingLives;

/// What can be taken back of a change, and what cannot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WayBack {
    /// The plan of it.
    pub plan: Plan,
    /// What stays, and why.
    pub left: Vec<(String, &'static str)>,
}

/// Why something stays that may be of the change.
const PERHAPS: &str = "perhaps this change's: it asked for it, got no answer and never saw it made; look whose it is";
/// Why something does not come back.
const WITHOUT: &str = "what it stands on does not come back";

/// What is done to take a change back, as it is put together.
#[derive(Default)]
struct Back {
    /// Objects, last first.
    steps: Vec<(Place, Step)>,
    /// Taken before.
    first: Vec<(Place, Step)>,
    /// Done again, after the objects of their place; met last first.
    again: Vec<(Place, Step)>,
    left: Vec<(String, &'static str)>,
    /// Objects that do not come back.
    lost: Vec<Object>,
}

impl Back {
    fn of(entry: &Entry) -> Self {
        let (mut back, states, notes) = (Self::default(), entry.steps(), entry.notes());
        for (step, state) in entry.plan.steps.iter().zip(&states).rev() {
            let object = step.object.ensure();
            let (place, done) = (object.place(), all_of(state));
            match object.undo(&done) {
                Undo::First => back.first.push((place, step.clone())),
                Undo::Again => back.again.push((place, step.clone())),
                Undo::Nothing => {}
                Undo::None(why) if !done.is_nothing() => back.stays(&step.object, &done, why),
                Undo::None(_) => {}
                Undo::Inverse => {
                    let Some(wanted) = state.before.as_ref().and_then(|before| inverse(before, &done)) else {
                        continue;
                    };
                    let Some(wanted) = object.without(wanted, &back.lost) else {
                        back.stays(&step.object, &done, WITHOUT);
                        continue;
                    };
                    let made = matches!(done, Difference::Create(_)) && !state.own;
                    let proof = made.then(|| object.proof(&asked(&step.wanted), &notes));
                    if proof == Some(None) {
                        back.left.push((object.name(), PERHAPS));
                        continue;
                    }
                    // A later step of the change may have gone on with the same object.
                    let mut same = entry.plan.steps.iter().zip(&states).rev().filter(|(s, _)| s.object == step.object);
                    let left_as = same.find_map(|(_, state)| state.after.clone());
                    let object = step.object.clone();
                    let proof = proof.flatten();
                    back.steps.push((place, Step { object, wanted, follows: false, left_as, proof }));
                }
            }
        }
        back
    }

    fn stays(&mut self, object: &Object, done: &Difference, why: &'static str) {
        self.left.push((object.ensure().name(), why));
        if matches!(done, Difference::Delete(_)) {
            self.lost.push(object.clone());
        }
    }
}

fn asked(wanted: &Wanted) -> Fields {
    match wanted {
        Wanted::Absent => Fields::new(),
        Wanted::Present(fields) => fields.clone(),
    }
}

/// The plan that takes a change back: what it did, last first. Locks are taken before, and what applies the changes of a place
/// runs after the last of them.
#[must_use]
pub fn way_back(entry: &Entry) -> WayBack {
    let Back { steps: backs, first, again, left, .. } = Back::of(entry);
    let touched = |place: Place| backs.iter().rposition(|(own, _)| *own == place);
    // An apply of the fabric writes FRR's configuration anew: what goes on the exit nodes goes before it, under the same lock.
    let over = |place: Place| match place {
        Place::Pve => touched(place).map(|last| last.max(touched(Place::Exit).unwrap_or(last))),
        place => touched(place),
    };
    let mut steps: Vec<Step> = first.into_iter().filter(|(p, _)| touched(*p).is_some()).map(|(_, step)| step).collect();
    for (number, (_, step)) in backs.iter().enumerate() {
        steps.push(step.clone());
        // They were met last first.
        let of = again.iter().rev().filter(|(place, _)| over(*place) == Some(number));
        steps.extend(of.map(|(_, step)| step.clone().following()));
    }
    guard(entry, &mut steps);
    let plan = Plan {
        site: entry.plan.site.clone(),
        title: format!("Undo {}: {}", entry.id, entry.plan.title),
        subject: entry.plan.subject.clone(),
        steps,
        reach: None,
    };
    WayBack { plan, left }
}

/// A network is not taken from what lives on it: Proxmox would.
fn guard(entry: &Entry, steps: &mut Vec<Step>) {
    let network = |step: &Step| {
        matches!(step.object, Object::SdnZone(_) | Object::SdnVnet(_) | Object::SdnSubnet(_))
            && step.wanted == Wanted::Absent
    };
    if let (Some(at), Some(tenant)) = (steps.iter().position(network), entry.plan.subject.tenant.clone()) {
        // Told once the machines of this very change are gone.
        steps.insert(at, Step::present(Object::NothingLives(NothingLives { tenant }), Fields::new()).following());
    }
}

/// All that was to be done in a step, over all runs.
fn all_of(state: &StepState) -> Difference {
    let mut all = state.todo.iter();
    let Some(first) = all.next() else { return Difference::Nothing };
    let mut changes = first.changes().to_vec();
    for change in all.flat_map(Difference::changes) {
        if !changes.iter().any(|known| known.field == change.field) {
            changes.push(change.clone());
        }
    }
    match first {
        Difference::Create(_) => Difference::Create(changes),
        Difference::Delete(_) => Difference::Delete(changes),
        Difference::Nothing | Difference::Update(_) => Difference::Update(changes),
    }
}

#[cfg(test)]
mod tests;
