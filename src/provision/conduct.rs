//! A change from its approval to its end: opened in the journal or taken up again, and run by the engine.

use std::sync::Arc;

use tokio::sync::watch;

use super::approve::ApprovedPlan;
use super::engine::{Ended, Engine, release};
use super::journal::{Change, ChangeId, Closing, Entry, Journal, JournalError, Record, Who};
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
/// When somebody runs it now, or the change that it takes back; when it is over; when an open change takes it back; when the
/// journal cannot be read or written.
pub async fn resume(
    world: &Arc<World>,
    journal: &Journal,
    id: ChangeId,
    approved: ApprovedPlan,
    who: &Who,
    ears: &Ears,
) -> Result<Ended, JournalError> {
    let (entry, change) = journal.take_up(id)?;
    if let Some(back) = journal.open_way_back(id)? {
        return Err(JournalError::TakenBack(id, back));
    }
    // Kept until the end: nobody goes on with what is taken back.
    let former = entry.takes_back().map(|former| journal.keep(former)).transpose()?;
    let ended = Engine::new(approved, change, world, &ears.listener, &ears.stop).run(who).await;
    Ok(undone(world, ended, former))
}

/// Ends the change that was taken back, where its way back came to its end and it had not.
fn undone(world: &World, ended: Ended, former: Option<(Entry, Change)>) -> Ended {
    let open = |(entry, _): &(Entry, Change)| ended == Ended::Done && entry.closed().is_none();
    let Some((entry, change)) = former.filter(open) else { return ended };
    let last = entry.plan.steps.len().saturating_sub(1);
    let closed = change.log.close((world.clock)(), Closing::Undone);
    closed.map_or_else(|trouble| Ended::Early { step: last, trouble }, |()| ended)
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
    // Kept until the end: nobody takes the change up, or back as well, while it is taken back.
    let (entry, change) = journal.keep(id)?;
    if let Some(back) = journal.open_way_back(id)? {
        return Err(JournalError::TakenBack(id, back));
    }
    // By somebody who did it since the way back was looked at.
    if let Some(back) = journal.taken_back(id)? {
        return Err(JournalError::Undone(id, back));
    }
    if entry.closed().is_none()
        && let Err(trouble) = given_back(world, (&entry, &change), &approved, who, ears).await
    {
        return Ok(Ended::Early { step: 0, trouble });
    }
    let own = journal.begin_back(who, approved.plan(), id, (world.clock)())?;
    opened(own.id);
    let ended = Engine::new(approved, own, world, &ears.listener, &ears.stop).run(who).await;
    Ok(undone(world, ended, Some((entry, change))))
}

/// Gives back what a change holds that is about to be taken back. Where somebody else took it, they may be at work: the way
/// back is looked at anew then.
async fn given_back(
    world: &Arc<World>,
    (entry, change): (&Entry, &Change),
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
        past: Some((change.journal.clone(), change.id)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provision::approve::Consent;
    use crate::provision::fields::{Fields, fields};
    use crate::provision::object::Danger;
    use crate::provision::plan::{Plan, Step};
    use crate::provision::testing::{Fault, plan, role, thing, unstopped, world};
    use crate::provision::trouble::TroubleKind;
    use crate::provision::undo::way_back;

    struct Bench {
        world: Arc<World>,
        journal: Journal,
        _dir: tempfile::TempDir,
    }

    impl Bench {
        fn new() -> Self {
            let dir = tempfile::tempdir().expect("a directory");
            Self { world: world(), journal: Journal::in_state(dir.path()), _dir: dir }
        }

        async fn run(&self, course: Course, plan: Plan) -> Ended {
            self.tried(course, plan).await.expect("a journal")
        }

        async fn tried(&self, course: Course, plan: Plan) -> Result<Ended, JournalError> {
            let notes = match course {
                Course::Begin | Course::TakeBack(_) => Default::default(),
                Course::Resume(id) | Course::LayDown(id) => self.entry(id).notes(),
            };
            let preview = plan.preview(&self.world, notes).await;
            let consent = Consent::Dialog { typed: None };
            let approved =
                ApprovedPlan::of(preview, &self.world.site, &consent, (self.world.clock)()).expect("approved");
            let (_keep, stop) = unstopped();
            let ears = Ears { listener: Arc::new(|_| ()), stop };
            let who = Who { user: "operator".to_owned(), host: "console".to_owned(), pid: 1 };
            run(&self.world, &self.journal, (course, approved), &who, &ears, |_| ()).await
        }

        fn entry(&self, id: ChangeId) -> Entry {
            self.journal.read(id).expect("an entry")
        }

        /// A change that failed at its second object.
        async fn cut(&self) -> ChangeId {
            let lock = Step::present(role("lock", "lock", Danger::One), fields([("by", "us")]));
            let present = |id| Step::present(thing(id), fields([("tag", "1")]));
            let apply = Step::present(role("apply", "apply", Danger::Shared), Fields::new()).following();
            self.world.bench.fail("vnet", &[Fault::Refused]);
            let ended = self.run(Course::Begin, plan(vec![lock, present("zone"), present("vnet"), apply])).await;
            assert!(matches!(ended, Ended::Early { step: 2, .. }), "{ended:?}");
            *self.journal.ids().expect("ids").last().expect("a change")
        }
    }

    #[tokio::test]
    async fn what_a_change_holds_is_given_back_and_it_stays_open() {
        let bench = Bench::new();
        bench.world.bench.fail("free lock", &[Fault::NotReached; 3]);
        let id = bench.cut().await;
        assert!(bench.world.bench.there().contains_key("lock"), "it could not be given back");
        let ended = bench.run(Course::LayDown(id), bench.entry(id).plan.giving_back()).await;
        assert_eq!(ended, Ended::Done);
        assert!(!bench.world.bench.there().contains_key("lock"));
        assert!(bench.world.bench.there().contains_key("zone"), "nothing else was touched");
        assert_eq!(bench.entry(id).closed(), None);
        assert!(bench.entry(id).plan.giving_back().preview(&bench.world, bench.entry(id).notes()).await.is_empty());
        assert_eq!(bench.run(Course::Resume(id), bench.entry(id).plan).await, Ended::Done);
    }

    #[tokio::test]
    async fn a_way_back_that_was_cut_off_ends_both_changes_when_it_is_taken_up() {
        let bench = Bench::new();
        let id = bench.cut().await;
        bench.world.bench.fail("zone", &[Fault::Refused]);
        let ended = bench.run(Course::TakeBack(id), way_back(&bench.entry(id)).plan).await;
        assert!(matches!(ended, Ended::Early { .. }), "{ended:?}");
        assert_eq!(bench.entry(id).closed(), None);
        let own = *bench.journal.ids().expect("ids").last().expect("a change");
        assert_eq!(bench.entry(own).takes_back(), Some(id));
        assert_eq!(bench.run(Course::Resume(own), bench.entry(own).plan).await, Ended::Done);
        assert!(bench.world.bench.there().is_empty());
        assert_eq!(bench.entry(id).closed(), Some(Closing::Undone));
    }

    #[tokio::test]
    async fn a_change_and_its_way_back_are_never_run_at_once() {
        let bench = Bench::new();
        let id = bench.cut().await;
        bench.world.bench.fail("zone", &[Fault::Refused]);
        let ended = bench.run(Course::TakeBack(id), way_back(&bench.entry(id)).plan).await;
        assert!(matches!(ended, Ended::Early { .. }), "{ended:?}");
        let own = *bench.journal.ids().expect("ids").last().expect("a change");
        let done = bench.world.bench.done();
        let refused = bench.tried(Course::Resume(id), bench.entry(id).plan).await;
        assert!(matches!(refused, Err(JournalError::TakenBack(of, by)) if (of, by) == (id, own)), "{refused:?}");
        let other = bench.journal.take_up(id).expect("nobody has it");
        let refused = bench.tried(Course::Resume(own), bench.entry(own).plan).await;
        assert!(matches!(refused, Err(JournalError::Running(of)) if of == id), "{refused:?}");
        assert_eq!(bench.world.bench.done(), done, "nothing was done");
        drop(other);
        assert_eq!(bench.run(Course::Resume(own), bench.entry(own).plan).await, Ended::Done);
    }

    #[tokio::test]
    async fn a_change_is_taken_back_once_also_when_it_is_over() {
        let bench = Bench::new();
        let made = plan(vec![Step::present(thing("zone"), fields([("tag", "1")]))]);
        assert_eq!(bench.run(Course::Begin, made).await, Ended::Done);
        let id = *bench.journal.ids().expect("ids").last().expect("a change");
        let back = way_back(&bench.entry(id)).plan;
        // Somebody else is about to take it back.
        let other = bench.journal.keep(id).expect("nobody has it");
        let refused = bench.tried(Course::TakeBack(id), back.clone()).await;
        assert!(matches!(refused, Err(JournalError::Running(of)) if of == id), "{refused:?}");
        drop(other);
        assert_eq!(bench.run(Course::TakeBack(id), back.clone()).await, Ended::Done);
        let own = *bench.journal.ids().expect("ids").last().expect("a change");
        // The same way back, looked at before that one was done.
        let refused = bench.tried(Course::TakeBack(id), back).await;
        assert!(matches!(refused, Err(JournalError::Undone(of, by)) if (of, by) == (id, own)), "{refused:?}");
        assert_eq!(bench.journal.ids().expect("ids"), [id, own], "no second was begun");
        assert_eq!(bench.entry(id).closed(), Some(Closing::Done), "it is written once how it ended");
    }

    #[tokio::test]
    async fn a_way_back_that_is_left_lets_its_change_go_on() {
        let bench = Bench::new();
        let id = bench.cut().await;
        bench.world.bench.fail("zone", &[Fault::Refused]);
        bench.run(Course::TakeBack(id), way_back(&bench.entry(id)).plan).await;
        let own = *bench.journal.ids().expect("ids").last().expect("a change");
        let (_, change) = bench.journal.take_up(own).expect("nobody has it");
        change.log.close((bench.world.clock)(), Closing::LeftAsItIs).expect("written");
        assert_eq!(bench.run(Course::Resume(id), bench.entry(id).plan).await, Ended::Done);
    }

    #[tokio::test]
    async fn a_lock_that_somebody_else_has_by_now_stops_a_way_back() {
        let bench = Bench::new();
        bench.world.bench.fail("free lock", &[Fault::NotReached; 3]);
        let id = bench.cut().await;
        bench.world.bench.fail("free lock", &[Fault::Refused]);
        let done = bench.world.bench.done();
        let ended = bench.run(Course::TakeBack(id), way_back(&bench.entry(id)).plan).await;
        assert!(matches!(&ended, Ended::Early { trouble, .. } if trouble.kind == TroubleKind::Moved), "{ended:?}");
        assert_eq!(bench.world.bench.done(), done, "nothing was taken back");
        assert_eq!(bench.journal.ids().expect("ids"), [id], "it was not begun");
        assert_eq!(bench.entry(id).closed(), None);
    }

    #[tokio::test]
    async fn which_change_is_taken_back_is_in_the_first_line_of_its_way_back() {
        let bench = Bench::new();
        let id = bench.cut().await;
        assert_eq!(bench.run(Course::TakeBack(id), way_back(&bench.entry(id)).plan).await, Ended::Done);
        let own = *bench.journal.ids().expect("ids").last().expect("a change");
        let path = bench.journal.path(own);
        let text = std::fs::read_to_string(&path).expect("a file");
        std::fs::write(&path, text.lines().next().expect("a line").to_owned() + "\n").expect("written");
        assert_eq!(bench.entry(own).takes_back(), Some(id));
    }

    #[tokio::test]
    async fn a_change_that_was_cut_off_is_over_when_its_way_back_is() {
        let bench = Bench::new();
        let id = bench.cut().await;
        let ended = bench.run(Course::TakeBack(id), way_back(&bench.entry(id)).plan).await;
        assert_eq!(ended, Ended::Done);
        assert!(bench.world.bench.there().is_empty());
        assert_eq!(bench.entry(id).closed(), Some(Closing::Undone));
        let own = *bench.journal.ids().expect("ids").last().expect("a change");
        assert!(own != id && bench.entry(own).closed() == Some(Closing::Done));
    }
}
