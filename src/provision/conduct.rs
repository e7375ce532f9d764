//! A change from its approval to its end: opened in the journal or taken up again, and run by the engine.

use std::sync::Arc;

use tokio::sync::watch;

use super::approve::ApprovedPlan;
use super::engine::{Ended, Engine, release};
use super::journal::{ChangeId, Closing, Entry, Journal, JournalError, Record, Who};
use super::trouble::Trouble;
use super::world::{Context, Listener, World};

/// Who listens to a run, and whether it is to stop.
pub struct Ears {
    /// Told what goes on.
    pub listener: Listener,
    /// Set to `true` when no further step is to begin.
    pub stop: watch::Receiver<bool>,
}

/// What an approved plan is to the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// A change of its own.
    Begin,
    /// The rest of a change that did not come to its end.
    Resume(ChangeId),
    /// The way back of a change: a change of its own. One that did not come to its end gives back first what it holds, and is
    /// over when its way back is.
    TakeBack(ChangeId),
    /// What a change holds is given back; it stays open.
    LayDown(ChangeId),
}

/// Carries an approved plan out. `opened` is told the number of the change before the first step.
///
/// # Errors
/// As [`begin`] and [`resume`].
pub async fn run(
    world: &Arc<World>,
    journal: &Journal,
    (course, approved): (Course, ApprovedPlan),
    who: &Who,
    ears: &Ears,
    opened: impl FnOnce(ChangeId),
) -> Result<Ended, JournalError> {
    match course {
        Course::Begin => begin(world, journal, approved, who, ears, opened).await,
        Course::Resume(id) => {
            opened(id);
            resume(world, journal, id, approved, who, ears).await
        }
        Course::TakeBack(id) => take_back(world, journal, (id, approved), who, ears, opened).await,
        Course::LayDown(id) => {
            opened(id);
            let given = give_back(world, journal, id, approved, ears).await?;
            Ok(given.map_or_else(|trouble| Ended::Early { step: 0, trouble }, |()| Ended::Done))
        }
    }
}

/// Begins an approved plan as a change of its own. `opened` is told its number before the first step.
///
/// # Errors
/// When the journal cannot be written: then nothing was done.
pub async fn begin(
    world: &Arc<World>,
    journal: &Journal,
    approved: ApprovedPlan,
    who: &Who,
    ears: &Ears,
    opened: impl FnOnce(ChangeId),
) -> Result<Ended, JournalError> {
    let change = journal.begin(who, approved.plan(), (world.clock)())?;
    opened(change.id);
    Ok(Engine::new(approved, change, world, &ears.listener, &ears.stop).run(who).await)
}

/// Runs a change on that did not come to its end, with a plan that was looked at anew.
///
/// # Errors
/// When somebody runs it now, it is over, or the journal cannot be read or written.
pub async fn resume(
    world: &Arc<World>,
    journal: &Journal,
    id: ChangeId,
    approved: ApprovedPlan,
    who: &Who,
    ears: &Ears,
) -> Result<Ended, JournalError> {
    let (_, change) = journal.take_up(id)?;
    Ok(Engine::new(approved, change, world, &ears.listener, &ears.stop).run(who).await)
}

/// Runs the way back of a change as a change of its own.
async fn take_back(
    world: &Arc<World>,
    journal: &Journal,
    (id, approved): (ChangeId, ApprovedPlan),
    who: &Who,
    ears: &Ears,
    opened: impl FnOnce(ChangeId),
) -> Result<Ended, JournalError> {
    // Kept until the end: nobody takes the change up while it is taken back.
    let former = match journal.take_up(id) {
        Ok(former) => Some(former),
        Err(JournalError::Over(_)) => None,
        Err(e) => return Err(e),
    };
    if let Some((entry, change)) = &former
        && let Err(trouble) = given_back(world, (entry, change), &approved, who, ears).await
    {
        return Ok(Ended::Early { step: 0, trouble });
    }
    let ended = begin(world, journal, approved, who, ears, opened).await?;
    match (&ended, former) {
        (Ended::Done, Some((entry, change))) => {
            let closed = change.log.close((world.clock)(), Closing::Undone);
            let last = entry.plan.steps.len().saturating_sub(1);
            Ok(closed.map_or_else(|trouble| Ended::Early { step: last, trouble }, |()| ended))
        }
        _ => Ok(ended),
    }
}

async fn given_back(
    world: &Arc<World>,
    (entry, change): (&Entry, &super::journal::Change),
    approved: &ApprovedPlan,
    who: &Who,
    ears: &Ears,
) -> Result<(), Trouble> {
    let run = Record::Run { who: who.clone(), digests: Vec::new(), riders: Vec::new() };
    change.log.write((world.clock)(), run)?;
    let context = Context {
        world: Arc::clone(world),
        notes: change.notes.clone(),
        step: 0,
        listener: Arc::clone(&ears.listener),
        stop: ears.stop.clone(),
    };
    release(&context, &approved.permit(&change.id.to_string()), change, &entry.plan.steps).await
}

/// Gives back what a change holds that is left for later: its SDN lock. `approved` is [`super::plan::Plan::giving_back`] of
/// its plan, looked at with its notes; a site that became read-only since does not keep it from being given back.
///
/// # Errors
/// When somebody runs it now, it is over, or the journal cannot be read or written.
pub async fn give_back(
    world: &Arc<World>,
    journal: &Journal,
    id: ChangeId,
    approved: ApprovedPlan,
    ears: &Ears,
) -> Result<Result<(), Trouble>, JournalError> {
    let (_, change) = journal.take_up(id)?;
    Ok(Engine::new(approved, change, world, &ears.listener, &ears.stop).give_back_alone().await)
}
