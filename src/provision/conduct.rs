//! A change from its approval to its end: opened in the journal or taken up again, and run by the engine.

use std::sync::Arc;

use tokio::sync::watch;

use super::approve::ApprovedPlan;
use super::engine::{Ended, Engine};
use super::journal::{ChangeId, Journal, JournalError, Who};
use super::trouble::Trouble;
use super::world::{Listener, World};

/// Who listens to a run, and whether it is to stop.
pub struct Ears {
    /// Told what goes on.
    pub listener: Listener,
    /// Set to `true` when no further step is to begin.
    pub stop: watch::Receiver<bool>,
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
