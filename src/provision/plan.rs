//! Plans: what is to be true, in which order; and what they come to, looked at now.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::fields::{Difference, Fields, PASSING, Seen, Wanted};
use super::journal::{Notes, begun};
use super::object::{Danger, Ensure, Object, Place, Undo};
use super::rights::Held;
use super::trouble::{Trouble, TroubleKind};
use super::world::{Context, World};

/// How long what was observed may be acted on (screens.md §12b).
pub const GOOD_FOR: jiff::SignedDuration = jiff::SignedDuration::from_mins(5);

/// One step: an object, and what it is to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The object.
    pub object: Object,
    /// What it is to be.
    pub wanted: Wanted,
    /// Whether it can only be told after the steps before it ran: an apply of what they stage, something inside what they make.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub follows: bool,
    /// What a change that is taken back left there. Where something else is there by now, somebody changed it since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_as: Option<Seen>,
    /// What proves that an object is the one that a change asked for and never saw made: without it nothing is done to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Fields>,
}

impl Step {
    /// An object that is to be there.
    #[must_use]
    pub const fn present(object: Object, fields: Fields) -> Self {
        Self { object, wanted: Wanted::Present(fields), follows: false, left_as: None, proof: None }
    }

    /// An object that is to be gone.
    #[must_use]
    pub const fn absent(object: Object) -> Self {
        Self { object, wanted: Wanted::Absent, follows: false, left_as: None, proof: None }
    }

    /// The same, told only after the steps before it.
    #[must_use]
    pub fn following(mut self) -> Self {
        self.follows = true;
        self
    }

    /// What the change that is taken back left in a field: not another's, where it is still so.
    #[must_use]
    pub fn own(&self, field: &str) -> Option<&str> {
        let left = self.left_as.as_ref().and_then(|left| left.field(field));
        left.or_else(|| self.proof.as_ref()?.get(field).map(String::as_str))
    }

    /// What has to be done in a plan with these steps, by what was seen.
    #[must_use]
    pub fn todo(&self, seen: &Seen, own: &[Self]) -> Difference {
        let object = self.object.ensure();
        match object.difference(seen, &self.wanted) {
            Difference::Update(mut changes) => {
                changes.retain(|change| !object.is_of_others(change, own));
                if changes.is_empty() { Difference::Nothing } else { Difference::Update(changes) }
            }
            other => other,
        }
    }

    /// [`Step::todo`] of a step that is about to be shown or done. `begun`: what is there may be this step's own work.
    ///
    /// # Errors
    /// [`TroubleKind::Moved`] where it would overwrite what others did since the change that is taken back.
    pub fn judge(&self, seen: &Seen, own: &[Self], begun: bool) -> Result<Difference, Trouble> {
        let object = self.object.ensure();
        let todo = self.todo(seen, own);
        if let Some(why) = object.refuses(seen, &todo) {
            return Err(why);
        }
        let proof = self.proof.as_ref().filter(|_| !todo.is_nothing());
        if let Some(what) = proof.and_then(|proof| object.unproved(proof, seen)) {
            let text = format!("{} is perhaps not of the change that is taken back: {what}", object.name());
            return Err(Trouble::new(TroubleKind::Moved, text)
                .with_help("the change asked for it and never saw it made: decide by hand whose it is"));
        }
        let left = self.left_as.as_ref().filter(|_| !begun && !todo.is_nothing());
        match left.and_then(|left| overwritten(object, left, (seen, &todo))) {
            None => Ok(todo),
            Some(what) => {
                let text = format!("{} is not as the change left it: {what}", object.name());
                Err(Trouble::new(TroubleKind::Moved, text)
                    .with_help("somebody changed it since: decide by hand what is right, then take the rest back"))
            }
        }
    }
}

/// What of others would be lost, in words.
fn overwritten(object: &dyn Ensure, left: &Seen, (seen, todo): (&Seen, &Difference)) -> Option<String> {
    match (left, seen, todo) {
        (Seen::Present(left), Seen::Present(there), Difference::Update(changes)) => {
            let touched = |fields: &Fields| -> Fields {
                let touched = fields.iter().filter(|(name, _)| changes.iter().any(|change| change.field == **name));
                touched.map(|(name, value)| (name.clone(), value.clone())).collect()
            };
            let (left, there) = (touched(left), touched(there));
            // It may say the same in other words.
            let same =
                left.len() == changes.len() && object.difference(seen, &Wanted::Present(left.clone())).is_nothing();
            if same { None } else { moved(&Seen::Present(left), &Seen::Present(there)) }
        }
        _ => moved(left, seen),
    }
}

/// The first field in which two looks differ, in words; `None` where they are equal.
#[must_use]
pub fn moved(then: &Seen, now: &Seen) -> Option<String> {
    match (then, now) {
        (Seen::Absent, Seen::Absent) => None,
        (Seen::Absent, _) => Some("it was not there".to_owned()),
        (_, Seen::Absent) => Some("it is gone".to_owned()),
        (Seen::Present(then), Seen::Present(now)) => {
            let value = |fields: &Fields, name: &String| fields.get(name).cloned().unwrap_or_default();
            let mut names = then.keys().chain(now.keys());
            let name = names.find(|name| !name.starts_with(PASSING) && then.get(*name) != now.get(*name))?;
            Some(format!("{name} was {:?} and is {:?}", value(then, name), value(now, name)))
        }
    }
}

/// What a plan is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// The name that is typed back where a name is asked for.
    pub name: String,
    /// The tenant it touches, where it is one's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

/// Who and what a plan reaches, in words, as far as its author knows more than its steps say (screens.md §13).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// What will be destroyed, a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub destroyed: Vec<String>,
    /// What will stay, though one might think otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stays: Vec<String>,
    /// Others who notice, and what.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noticed: Vec<String>,
}

/// What is to be done, in order. Holds no secret: it is written to journals and files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The site it was made for.
    pub site: String,
    /// In words: `Onboard picow`.
    pub title: String,
    /// What it is about.
    pub subject: Subject,
    /// Its steps.
    pub steps: Vec<Step>,
    /// Whom and what it reaches, where its author says more than the steps do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<Reach>,
}

/// A step as it was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// What was there.
    pub seen: Seen,
    /// What has to be done.
    pub todo: Difference,
}

/// A plan and what is there now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preview {
    /// The plan.
    pub plan: Plan,
    /// What was seen of each step, in order; an error where it could not be told.
    pub looks: Vec<Result<Look, Trouble>>,
    /// When it was looked at.
    pub at: Timestamp,
}

/// What is asked before a plan runs (design §6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// Nothing: it only looks, or nothing is to be done.
    Nothing,
    /// Yes.
    Yes,
    /// The plan is shown, and yes.
    PlanYes,
    /// The plan is shown, and the apply key.
    PlanApply,
    /// The name is typed back, because of this.
    Name(String),
}

impl Plan {
    /// Looks at every object of the plan. `notes` are those of the change where it is taken up again.
    pub async fn preview(self, world: &Arc<World>, notes: Notes) -> Preview {
        let mut context = Context::looking(world, notes);
        let (mut looks, mut held) = (Vec::with_capacity(self.steps.len()), Held::default());
        for (number, step) in self.steps.iter().enumerate() {
            context.step = number;
            let seen = step.object.ensure().observe(&context).await;
            let begun = context.notes.get(&begun(number)).is_some();
            let look = seen.and_then(|seen| step.judge(&seen, &self.steps, begun).map(|todo| Look { seen, todo }));
            looks.push(match look {
                Ok(look) if !look.todo.is_nothing() => {
                    held.allow(world, &step.object.ensure().rights(&look.todo)).await.map(|()| look)
                }
                other => other,
            });
        }
        Preview { plan: self, looks, at: context.now() }
    }

    /// Whether nothing of it was begun that is done for itself: at most a lock was taken.
    #[must_use]
    pub fn is_untouched(&self, notes: &Notes) -> bool {
        let mut own = self.steps.iter().enumerate().filter(|(_, step)| step.object.ensure().for_itself());
        own.all(|(number, _)| notes.get(&begun(number)).is_none())
    }

    /// Whether it may take the place of another before anything of that was done: the same onboarding, whose index nobody asked
    /// for and somebody else took.
    #[must_use]
    pub fn takes_the_place_of(&self, other: &Self) -> bool {
        let own = |plan: &Self| {
            plan.steps.iter().enumerate().find_map(|(number, step)| match &step.object {
                Object::OwnIndex(own) if own.or_next => Some((number, own.clone())),
                _ => None,
            })
        };
        let (Some((at, new)), Some((was, old))) = (own(self), own(other)) else { return false };
        let before = |plan: &Self| plan.steps.get(..at).map(<[Step]>::to_vec);
        self.site == other.site
            && self.subject == other.subject
            && (at, &new.tenant, &new.first) == (was, &old.tenant, &old.first)
            && before(self) == before(other)
    }

    /// The plan that gives back what a change of this plan may hold, and does nothing else.
    #[must_use]
    pub fn giving_back(&self) -> Self {
        let held = |step: &&Step| step.object.ensure().undo(&Difference::Nothing) == Undo::First;
        Self {
            title: format!("Give back what is held: {}", self.title),
            steps: self.steps.iter().filter(held).map(|step| Step::absent(step.object.clone())).collect(),
            ..self.clone()
        }
    }
}

impl Preview {
    /// The same, with what has to be done told anew from what was seen.
    #[must_use]
    pub fn judged(mut self) -> Self {
        for (step, look) in self.plan.steps.iter().zip(&mut self.looks) {
            if let Ok(look) = look {
                look.todo = step.todo(&look.seen, &self.plan.steps);
            }
        }
        self
    }

    /// Steps that could not be told, and why. A step that follows others may be untold: it is told when they have run.
    pub fn untold(&self) -> impl Iterator<Item = (usize, &Trouble)> {
        let told = |(n, look): (usize, &'_ Result<Look, Trouble>)| {
            !self.plan.steps.get(n).is_some_and(|step| step.follows) && look.is_err()
        };
        let all = self.looks.iter().enumerate().filter(move |(n, look)| told((*n, look)));
        all.filter_map(|(n, look)| look.as_ref().err().map(|why| (n, why)))
    }

    /// Whether everything is as it is wanted: a second run of a plan that came to its end.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !(0..self.plan.steps.len()).any(|number| self.does(number))
    }

    /// Whether a step has to do something, or may have to once the steps before it ran. What is only done for others, a lock
    /// or a last check, is not done where they have nothing to do, unless it was begun and has not come out well.
    #[must_use]
    pub fn does(&self, number: usize) -> bool {
        let Some(step) = self.plan.steps.get(number) else { return false };
        if !step.object.ensure().for_itself() && step.wanted != Wanted::Absent {
            let place = step.object.ensure().place();
            let others = self.plan.steps.iter().enumerate().filter(|(other, step)| {
                let object = step.object.ensure();
                *other != number && (object.place() == place || place == Place::Here) && object.for_itself()
            });
            let open = |look: &Look| matches!(look.todo, Difference::Update(_));
            let begun = self.looks.get(number).is_some_and(|look| look.as_ref().is_ok_and(open));
            return begun || others.into_iter().any(|(other, _)| self.has_to_do(other));
        }
        self.has_to_do(number)
            || (step.follows && (0..number).any(|before| self.is_change(before) && self.has_to_do(before)))
    }

    fn has_to_do(&self, number: usize) -> bool {
        self.looks.get(number).is_some_and(|look| !look.as_ref().is_ok_and(|look| look.todo.is_nothing()))
    }

    fn is_change(&self, number: usize) -> bool {
        self.plan.steps.get(number).is_some_and(|step| step.object.ensure().for_itself())
    }

    /// What looks otherwise in a newer look at the same plan, a sentence each: the plan is not what was looked at any more.
    #[must_use]
    pub fn moved(&self, newer: &Self) -> Vec<String> {
        let pairs = self.looks.iter().zip(&newer.looks).zip(&self.plan.steps);
        let mut all: Vec<String> = pairs
            .filter_map(|((then, now), step)| {
                let name = step.object.ensure().name();
                match (then, now) {
                    (Ok(then), Ok(now)) => moved(&then.seen, &now.seen).map(|what| format!("{name}: {what}")),
                    (Err(_), Ok(_)) if !step.follows => Some(format!("{name} could not be told then, and can now")),
                    (Ok(_), Err(why)) if !step.follows => Some(format!("{name} cannot be told any more: {why}")),
                    _ => None,
                }
            })
            .collect();
        let before = self.riders();
        let new = newer.riders().into_iter().filter(|rider| !before.contains(rider));
        all.extend(new.map(|rider| format!("would go along now: {rider}")));
        all
    }

    /// Whom and what the plan reaches: what its author says, else what its steps tell.
    #[must_use]
    pub fn reach(&self) -> Reach {
        let said = self.plan.reach.clone().unwrap_or_default();
        if !said.destroyed.is_empty() {
            return said;
        }
        let todo = |number: usize| Some(&self.looks.get(number)?.as_ref().ok()?.todo);
        let mut noticed = said.noticed;
        noticed.extend(self.riders());
        let mut reach = Reach { destroyed: Vec::new(), stays: said.stays, noticed };
        for (number, step) in self.plan.steps.iter().enumerate().filter(|(number, _)| self.does(*number)) {
            let object = step.object.ensure();
            if object.undo(&Difference::Nothing) == Undo::First {
                continue;
            }
            match todo(number) {
                Some(todo @ Difference::Delete(_)) => reach.destroyed.extend(object.goes(todo)),
                Some(todo) if object.danger(todo) == Danger::Shared => reach.noticed.push(object.name()),
                _ => {}
            }
        }
        reach
    }

    /// Whether the change holds something already that its run gives back: a lock.
    fn holds(&self) -> bool {
        let looks = self.plan.steps.iter().zip(&self.looks);
        looks.into_iter().any(|(step, look)| {
            let held = look.as_ref().is_ok_and(|look| look.seen != Seen::Absent);
            held && step.object.ensure().undo(&Difference::Nothing) == Undo::First
        })
    }

    /// Whether all that it does is to give back what is held.
    #[must_use]
    pub fn only_gives_back(&self) -> bool {
        let gives = |step: &Step| {
            step.object.ensure().undo(&Difference::Nothing) == Undo::First && step.wanted == Wanted::Absent
        };
        !self.plan.steps.is_empty() && self.plan.steps.iter().all(gives)
    }

    /// How far the steps that have something to do reach.
    #[must_use]
    pub fn danger(&self) -> Danger {
        let of = |(number, step): (usize, &Step)| match self.looks.get(number) {
            Some(Ok(look)) if !look.todo.is_nothing() && self.does(number) => step.object.ensure().danger(&look.todo),
            _ if self.does(number) => step.object.ensure().danger(&assumed(&step.wanted)),
            _ => Danger::Look,
        };
        self.plan.steps.iter().enumerate().map(of).max().unwrap_or(Danger::Look)
    }

    /// What others staged in the fabric that its apply takes along. Whoever staged it may be about to apply it.
    #[must_use]
    pub fn staged_by_others(&self) -> Vec<String> {
        self.riders_of(|object| object.place() == Place::Pve && object.undo(&Difference::Nothing) == Undo::Again)
    }

    /// What of others goes along.
    #[must_use]
    pub fn riders(&self) -> Vec<String> {
        self.riders_of(|_| true)
    }

    fn riders_of(&self, of: impl Fn(&dyn Ensure) -> bool) -> Vec<String> {
        let own = &self.plan.steps;
        let seen = self.plan.steps.iter().zip(&self.looks).enumerate();
        let mut all: Vec<String> = seen
            .filter(|(number, (step, _))| self.does(*number) && of(step.object.ensure()))
            .filter_map(|(_, (step, look))| {
                let (object, look) = (step.object.ensure(), look.as_ref().ok()?);
                // An apply takes along what waits, whether or not it has something of its own to do.
                let touches = !look.todo.is_nothing() || object.undo(&Difference::Nothing) == Undo::Again;
                touches.then(|| object.riders(&look.seen, own))
            })
            .flatten()
            .collect();
        all.sort();
        all.dedup();
        all
    }

    /// Why something in it cannot be taken back, the first such step's reason.
    #[must_use]
    pub fn final_because(&self) -> Option<&'static str> {
        let steps = self.plan.steps.iter().zip(&self.looks);
        steps.filter_map(|(step, look)| Some((step, look.as_ref().ok()?))).find_map(|(step, look)| {
            if look.todo.is_nothing() {
                return None;
            }
            match step.object.ensure().undo(&look.todo) {
                Undo::None(why) => Some(why),
                _ => None,
            }
        })
    }

    /// What is asked before it runs.
    #[must_use]
    pub fn question(&self) -> Question {
        let riders = self.riders();
        let along = format!("this goes along, and is not of this plan: {}", riders.join(", "));
        let destroys = self.plan.reach.as_ref().is_some_and(|reach| !reach.destroyed.is_empty()) && !self.is_empty();
        let because: Vec<String> = self
            .final_because()
            .map(str::to_owned)
            .into_iter()
            .chain(destroys.then(|| "what it destroys does not come back".to_owned()))
            .chain((!riders.is_empty()).then_some(along))
            .collect();
        if !because.is_empty() {
            return Question::Name(because.join("; "));
        }
        match self.danger() {
            // A run ends with giving back what it holds, which is a change as well.
            Danger::Look if self.holds() => Question::Yes,
            Danger::Look => Question::Nothing,
            Danger::One => Question::Yes,
            Danger::Tenant => Question::PlanYes,
            Danger::Shared => Question::PlanApply,
            Danger::Final => Question::Name("it is final".to_owned()),
        }
    }
}

/// What a step that cannot be told yet is taken to do, for how far it may reach.
fn assumed(wanted: &Wanted) -> Difference {
    match wanted {
        Wanted::Absent => Difference::Delete(Vec::new()),
        Wanted::Present(_) => Difference::Update(Vec::new()),
    }
}
