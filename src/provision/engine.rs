//! Runs an approved plan, step by step: looks, writes down, changes, looks again.
//!
//! Whether a step is done is told by looking alone. An answer that got lost, came late or said something else than what
//! happened therefore costs a look, never a second object.

use std::sync::Arc;

use tokio::sync::watch;

use super::approve::ApprovedPlan;
use super::fields::{self, Difference, Seen};
use super::journal::{Change, Closing, Record, Who, begun};
use super::object::{Ensure, Object};
use super::plan::{Step, moved};
use super::trouble::{Trouble, TroubleKind};
use super::world::{CHANGED, Context, Listener, News, World};
use crate::backends::permit::Permit;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// Every step is as it was wanted.
    Done,
    /// It did not come to its end; the change stays open in the journal.
    Early {
        /// The step, from 0.
        step: usize,
        /// Why.
        trouble: Trouble,
    },
}

/// A plan that runs.
pub struct Engine {
    approved: ApprovedPlan,
    change: Change,
    permit: Permit,
    context: Context,
    /// Whether a step of this run changed something: what follows it may look different then.
    changed: bool,
}

impl Engine {
    /// An approved plan as the change that was begun, or taken up again, for it.
    #[must_use]
    pub fn new(
        approved: ApprovedPlan,
        change: Change,
        world: &Arc<World>,
        listener: &Listener,
        stop: &watch::Receiver<bool>,
    ) -> Self {
        let context = Context {
            world: Arc::clone(world),
            notes: change.notes.clone(),
            step: 0,
            past: Some((change.journal.clone(), change.id)),
            listener: Arc::clone(listener),
            stop: stop.clone(),
        };
        let permit = approved.permit(&change.id.to_string());
        Self { approved, change, permit, context, changed: false }
    }

    /// Runs it. Ends early at the first step that does not come to its end; what must not be kept is given back either way.
    pub async fn run(mut self, who: &Who) -> Ended {
        let begun = match self.is_its_own() {
            Ok(()) => self.write(self.approved.record(who)).map(|()| self.moved_since_the_last_run()),
            Err(_) if self.takes_the_place() => self.replanned(who).map(|()| None),
            Err(trouble) => Err(trouble),
        };
        let ended = match begun {
            Err(trouble) => return Ended::Early { step: 0, trouble },
            // Told before anything is done; whoever looks again, and goes on, has seen it.
            Ok(Some((number, trouble))) => self.failed(number, trouble),
            Ok(None) => self.steps(who).await,
        };
        let steps = self.approved.plan().steps.clone();
        let last = steps.len().saturating_sub(1);
        let kept = self.give_back(&steps).await;
        if ended != Ended::Done {
            return ended;
        }
        // What is still held keeps the change open: the next console offers to take it up.
        let closed = kept.and_then(|()| self.change.log.close(self.context.now(), Closing::Done));
        closed.map_or_else(|trouble| Ended::Early { step: last, trouble }, |()| ended)
    }

    /// Gives back what the change holds, by an approved plan of that alone. The change stays open.
    ///
    /// # Errors
    /// What could not be given back, and why.
    pub async fn give_back_alone(self) -> Result<(), Trouble> {
        let alike = self.approved.plan().steps == self.change.plan.giving_back().steps;
        if !alike || !self.approved.preview().only_gives_back() {
            let text = format!("the plan that was approved is not to give back what {} holds", self.change.id);
            return Err(Trouble::new(TroubleKind::Refused, text).with_help("look at what it holds, and approve that"));
        }
        let steps = self.approved.plan().steps.clone();
        self.give_back(&steps).await
    }

    async fn steps(&mut self, who: &Who) -> Ended {
        let mut number = 0;
        while let Some(step) = self.approved.plan().steps.get(number).cloned() {
            self.context.step = number;
            let Err(trouble) = self.step(&step).await else {
                number += 1;
                continue;
            };
            match self.instead(&step, &trouble, who).await {
                // The step is the other plan's now.
                Ok(true) => {}
                Ok(false) => return self.failed(number, trouble),
                Err(trouble) => return self.failed(number, trouble),
            }
        }
        Ended::Done
    }

    /// Puts the plan that a step makes anew in the place of this one; false where there is none.
    async fn instead(&mut self, step: &Step, why: &Trouble, who: &Who) -> Result<bool, Trouble> {
        if why.kind != TroubleKind::Refused || !self.is_untouched() {
            return Ok(false);
        }
        let Some(making) = step.object.ensure().instead(&self.context) else { return Ok(false) };
        let Some(plan) = making.await? else { return Ok(false) };
        self.context.tell(&why.text);
        let preview = plan.preview(&self.context.world, self.context.notes.clone()).await;
        self.approved = self.approved.instead(preview)?;
        if !self.takes_the_place() {
            return Ok(false);
        }
        self.replanned(who)?;
        Ok(true)
    }

    /// Whether the plan that was approved may take the place of the change's own.
    fn takes_the_place(&self) -> bool {
        self.is_untouched() && self.approved.plan().takes_the_place_of(&self.change.plan)
    }

    /// Whether no run of the change, this one included, began anything of it.
    fn is_untouched(&self) -> bool {
        !self.changed && self.change.plan.is_untouched(&self.context.notes)
    }

    /// Writes down that the approved plan is what the change does from now on.
    fn replanned(&mut self, who: &Who) -> Result<(), Trouble> {
        let plan = self.approved.plan().clone();
        self.write(Record::Replanned { plan: plan.clone() })?;
        self.write(self.approved.record(who))?;
        self.change.plan = plan;
        self.tell(News::Replanned(Box::new(self.approved.preview().clone())));
        Ok(())
    }

    /// Refuses to run a plan as a change that is about something else. How a lock is taken may differ: that is decided when
    /// it is met.
    fn is_its_own(&self) -> Result<(), Trouble> {
        let alike = |one: &Step, other: &Step| {
            let locks = matches!((&one.object, &other.object), (Object::SdnLock(_), Object::SdnLock(_)));
            one == other || (locks && one.wanted == other.wanted)
        };
        let (own, other) = (&self.change.plan, self.approved.plan());
        let same = own.site == other.site
            && own.subject == other.subject
            && own.steps.len() == other.steps.len()
            && own.steps.iter().zip(&other.steps).all(|(one, other)| alike(one, other));
        if same {
            return Ok(());
        }
        let text = format!("the plan that was approved, {:?}, is not that of change {}", other.title, self.change.id);
        Err(Trouble::new(TroubleKind::Refused, text).with_help("look at the change again, and approve that"))
    }

    /// The first step that nothing came of at the last run and that looks otherwise since. What follows others is left out:
    /// it looks as they left it.
    fn moved_since_the_last_run(&self) -> Option<(usize, Trouble)> {
        let last = self.change.last.as_ref()?;
        let looks = self.approved.plan().steps.iter().zip(&self.approved.preview().looks).zip(&last.digests);
        let (number, step) = looks.enumerate().find_map(|(number, ((step, look), then))| {
            let look = look.as_ref().ok().filter(|_| !step.follows && !then.is_empty())?;
            (look.seen.digest() != *then).then_some((number, step))
        })?;
        let text = format!("{} changed since this change was cut off", step.object.ensure().name());
        let help = "look at the plan again: it shows what is there now; going on after that is going on with it";
        Some((number, Trouble::new(TroubleKind::Moved, text).with_help(help)))
    }

    fn write(&self, record: Record) -> Result<(), Trouble> {
        self.change.log.write(self.context.now(), record)
    }

    fn tell(&self, news: News) {
        (self.context.listener)(news);
    }

    fn failed(&self, step: usize, trouble: Trouble) -> Ended {
        let record = match trouble.kind {
            TroubleKind::Stopped => Record::Interrupted { step },
            _ => Record::Failed { step, trouble: trouble.clone() },
        };
        // Where it cannot be written, the step is begun and not verified, which says the same.
        self.write(record).ok();
        self.tell(News::Failed(step, trouble.clone()));
        Ended::Early { step, trouble }
    }

    async fn step(&mut self, step: &Step) -> Result<(), Trouble> {
        let number = self.context.step;
        if *self.context.stop.borrow() {
            return Err(Trouble::new(TroubleKind::Stopped, "stopped before this step"));
        }
        let object = step.object.ensure();
        self.tell(News::Begun(number));
        if !self.approved.preview().does(number) && !object.for_itself() {
            return self.satisfied(number);
        }
        let seen = self.look(object).await?;
        let begun = self.context.notes.get(&begun(number)).is_some();
        let mut todo = step.judge(&seen, &self.approved.plan().steps, begun)?;
        if todo.is_nothing() {
            return self.satisfied(number);
        }
        self.unmoved(step, &seen)?;
        if *self.context.stop.borrow() {
            return Err(Trouble::new(TroubleKind::Stopped, "stopped before this step"));
        }
        self.write(Record::Begun { step: number, before: seen, todo: todo.clone() })?;
        if object.for_itself() && !self.changed {
            self.changed = true;
            self.context.notes.set(CHANGED, "1", self.context.now())?;
        }
        let tries = self.context.world.patience.tries.max(1);
        for left in (0..tries).rev() {
            let answer = self.apply(object, &todo).await;
            if answer.is_ok() {
                self.write(Record::Applied { step: number })?;
                self.tell(News::Applied(number));
            }
            let (seen, rest) = self.settled(step, answer.is_ok()).await?;
            match (rest, answer) {
                (Difference::Nothing, _) => return self.verified(step, seen),
                (_, Err(trouble)) if trouble.kind.may_pass() && left > 0 => {
                    self.context.tell(&trouble.text);
                    self.context.wait().await?;
                    // What others did meanwhile was not approved.
                    let seen = self.look(object).await?;
                    todo = step.todo(&seen, &self.approved.plan().steps);
                    if todo.is_nothing() {
                        return self.verified(step, seen);
                    }
                    if !object.is_under_way(&self.context) {
                        self.no_new_riders(object, &seen)?;
                    }
                }
                (_, Err(trouble)) => return Err(trouble),
                (rest, Ok(())) => return Err(not_seen(object, &rest)),
            }
        }
        Err(Trouble::new(TroubleKind::Unsettled, format!("{} was tried {tries} times", object.name())))
    }

    fn verified(&self, step: &Step, seen: Seen) -> Result<(), Trouble> {
        let number = self.context.step;
        let object = step.object.ensure();
        for part in object.difference(&seen, &step.wanted).changes() {
            let now = part.now.as_deref().unwrap_or_default();
            self.context.tell(format!("not of this plan, and not as it is to be: {} ({now})", part.field));
        }
        self.write(Record::Verified { step: number, after: Some(seen) })?;
        self.tell(News::Verified(number));
        Ok(())
    }

    fn satisfied(&self, number: usize) -> Result<(), Trouble> {
        self.write(Record::Satisfied { step: number })?;
        self.tell(News::Satisfied(number));
        Ok(())
    }

    /// Looks, and again where it may pass by itself.
    async fn look(&self, object: &dyn Ensure) -> Result<Seen, Trouble> {
        let mut left = self.context.world.patience.tries;
        loop {
            match object.observe(&self.context).await {
                Err(trouble) if trouble.kind.may_pass() && left > 1 => {
                    self.context.tell(&trouble.text);
                    left -= 1;
                    self.context.wait().await?;
                }
                other => return other,
            }
        }
    }

    /// Refuses what is not as it was approved: a step that can be told before others must look as it did, and no more of
    /// others may go along.
    fn unmoved(&self, step: &Step, seen: &Seen) -> Result<(), Trouble> {
        let object = step.object.ensure();
        let approved = self.approved.preview().looks.get(self.context.step).and_then(|look| look.as_ref().ok());
        if let Some(look) = approved
            && !(step.follows && self.changed)
            && look.seen.digest() != seen.digest()
        {
            let text = format!(
                "{} changed since the plan was shown: {}",
                object.name(),
                moved(&look.seen, seen).unwrap_or_default()
            );
            return Err(Trouble::new(TroubleKind::Moved, text).with_help("look at the plan again"));
        }
        self.no_new_riders(object, seen)
    }

    /// Refuses to take along what of others was not there when the plan was shown.
    fn no_new_riders(&self, object: &dyn Ensure, seen: &Seen) -> Result<(), Trouble> {
        let own = &self.approved.plan().steps;
        let new: Vec<String> =
            object.riders(seen, own).into_iter().filter(|rider| !self.approved.riders().contains(rider)).collect();
        if new.is_empty() {
            return Ok(());
        }
        let text = format!(
            "{} would take along what was not there when the plan was shown: {}",
            object.name(),
            new.join(", ")
        );
        Err(Trouble::new(TroubleKind::Moved, text).with_help("ask whose it is, then look at the plan again"))
    }

    /// One try. After a stop was asked for, the request in flight is awaited for a while, then left.
    async fn apply(&self, object: &dyn Ensure, todo: &Difference) -> Result<(), Trouble> {
        let world = &self.context.world;
        let mut stop = self.context.stop.clone();
        let left = async {
            // Nobody can stop it where the sender is gone.
            if stop.wait_for(|asked| *asked).await.is_err() {
                std::future::pending::<()>().await;
            }
            (world.sleep)(world.patience.last).await;
        };
        tokio::select! {
            biased;
            done = object.apply(&self.context, &self.permit, todo) => done,
            () = left => {
                let text = format!("{} was left after {} s without an answer", object.name(), world.patience.last.as_secs());
                Err(Trouble::new(TroubleKind::Stopped, text))
            }
        }
    }

    /// What is left of a step after a try: looked at until it is done, or as long as patience lasts. After an error a few
    /// looks are enough: what was done late is seen when the step is tried again.
    async fn settled(&self, step: &Step, answered: bool) -> Result<(Seen, Difference), Trouble> {
        let object = step.object.ensure();
        let patience = self.context.world.patience;
        let looks = if answered { patience.looks } else { patience.tries }.max(1);
        let mut left = looks;
        loop {
            let seen = self.look(object).await?;
            let rest = step.todo(&seen, &self.approved.plan().steps);
            left -= 1;
            if rest.is_nothing() || left == 0 || (!answered && *self.context.stop.borrow()) {
                return Ok((seen, rest));
            }
            self.context.wait().await?;
        }
    }

    /// Gives back what a run must not keep, whatever came of it. What cannot be given back is told and stays in the journal.
    async fn give_back(&self, steps: &[Step]) -> Result<(), Trouble> {
        match release(&self.context, &self.permit, &self.change, steps).await {
            // What somebody else took is not held any more.
            Err(trouble) if trouble.kind == TroubleKind::Moved => Ok(()),
            given => given,
        }
    }
}

/// Gives back what a change holds for the steps of its plan, each tried again where the trouble may pass. A stop does not end
/// this: it is what a stop waits for.
///
/// # Errors
/// The first that could not be given back; it is told and written down. What somebody else took
/// ([`TroubleKind::Moved`]) does not stay with the change.
pub(super) async fn release(
    context: &Context,
    permit: &Permit,
    change: &Change,
    steps: &[Step],
) -> Result<(), Trouble> {
    let mut all: Result<(), Trouble> = Ok(());
    for step in steps {
        let object = step.object.ensure();
        let Some(given) = released(context, permit, object).await else { continue };
        let record = Record::GaveBack { what: object.name(), trouble: given.as_ref().err().cloned() };
        change.log.write(context.now(), record).ok();
        (context.listener)(News::GaveBack(object.name(), given.clone()));
        all = match (all, given) {
            (Err(first), Err(why)) if first.kind == TroubleKind::Moved => Err(why),
            (all, given) => all.and(given),
        };
    }
    all
}

async fn released(context: &Context, permit: &Permit, object: &dyn Ensure) -> Option<Result<(), Trouble>> {
    let world = &context.world;
    for left in (0..world.patience.tries.max(1)).rev() {
        match object.give_back(context, permit)?.await {
            Err(trouble) if trouble.kind.may_pass() && left > 0 => (world.sleep)(world.patience.between).await,
            other => return Some(other),
        }
    }
    None
}

fn not_seen(object: &dyn Ensure, rest: &Difference) -> Trouble {
    let told = |change: &fields::Change| format!("{}: {}", change.field, change.now.as_deref().unwrap_or("not set"));
    let fields: Vec<String> = rest.changes().iter().map(told).collect();
    let text = match rest {
        Difference::Create(_) => format!("{} is not there, though the answer was that it is made", object.name()),
        Difference::Delete(_) => format!("{} is still there, though the answer was that it is gone", object.name()),
        _ => format!(
            "{} is not as it was to be, though the answer was that it is changed: {}",
            object.name(),
            fields.join(", ")
        ),
    };
    Trouble::new(TroubleKind::NotSeen, text).with_help("look at the back end's own log")
}

#[cfg(test)]
mod tests;
