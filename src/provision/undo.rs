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

/// The plan that takes a change back: what it did, last first. Locks are taken before, and what applies the changes of a place
/// runs after the last of them.
#[must_use]
pub fn way_back(entry: &Entry) -> WayBack {
    let mut left = Vec::new();
    let mut backs: Vec<(Place, Step)> = Vec::new();
    let mut first: Vec<(Place, Step)> = Vec::new();
    let mut again: Vec<(Place, Step)> = Vec::new();
    let states = entry.steps();
    for (step, state) in entry.plan.steps.iter().zip(&states).rev() {
        let object = step.object.ensure();
        let place = object.place();
        let done = all_of(state);
        match object.undo(&done) {
            Undo::First => first.push((place, step.clone())),
            Undo::Again => again.push((place, step.clone())),
            Undo::Nothing => {}
            Undo::None(why) => {
                if !done.is_nothing() {
                    left.push((object.name(), why));
                }
            }
            Undo::Inverse => {
                if let Some(wanted) = state.before.as_ref().and_then(|before| inverse(before, &done)) {
                    // A later step of the change may have gone on with the same object.
                    let mut same = entry.plan.steps.iter().zip(&states).rev().filter(|(s, _)| s.object == step.object);
                    let left_as = same.find_map(|(_, state)| state.after.clone());
                    backs.push((place, Step { object: step.object.clone(), wanted, follows: false, left_as }));
                }
            }
        }
    }
    let touched = |place: Place| backs.iter().rposition(|(own, _)| *own == place);
    let mut steps: Vec<Step> = first.into_iter().filter(|(p, _)| touched(*p).is_some()).map(|(_, step)| step).collect();
    for (number, (place, step)) in backs.iter().enumerate() {
        steps.push(step.clone());
        if touched(*place) == Some(number) {
            // They were met last first.
            let of = again.iter().rev().filter(|(own, _)| own == place);
            steps.extend(of.map(|(_, step)| step.clone().following()));
        }
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
