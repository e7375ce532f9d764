//! A plan that runs: how far each step is, what it told, how it ended, and the ways on.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::{Offer, Order, Page, Wish, form, handover, proposal};
use crate::console::findings;
use crate::console::model::{Model, Screen};
use crate::console::msg::{Effect, Notice};
use crate::diagnose::collect::Check;
use crate::inventory::Class;
use crate::provision::conduct::Course;
use crate::provision::engine::Ended;
use crate::provision::fields::Wanted;
use crate::provision::journal::ChangeId;
use crate::provision::object::Object;
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::News;

/// Lines kept of a step.
const LINES: usize = 200;

/// How far a step is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum State {
    /// It was not begun.
    #[default]
    Next,
    /// It was begun.
    Begun,
    /// The back end said yes; it is read again.
    Applied,
    /// Read back, as it was wanted.
    Verified,
    /// There was nothing to do.
    Satisfied,
    /// It did not come to its end.
    Failed(Trouble),
}

/// A step of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StepRun {
    /// How far it is.
    pub state: State,
    /// When it was begun.
    pub began: Option<Timestamp>,
    /// When it ended.
    pub ended: Option<Timestamp>,
    /// What it told, oldest first, bounded.
    pub lines: Vec<(Timestamp, String)>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// When.
    pub at: Timestamp,
    /// How; an error where not even the journal could be used.
    pub how: Result<Ended, Trouble>,
}

/// A plan that runs or ran.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Number of its order.
    pub id: u64,
    /// The plan as it was approved.
    pub offer: Arc<Offer>,
    /// Number of the change, once it has one.
    pub change: Option<ChangeId>,
    /// When it was begun.
    pub began: Timestamp,
    /// Its steps, in order.
    pub steps: Vec<StepRun>,
    /// When something was last heard.
    pub last: Timestamp,
    /// What was given back at the end, or could not be.
    pub given: Vec<(String, Option<Trouble>)>,
    /// Whether it was asked to stop.
    pub stopping: bool,
    /// How it ended.
    pub ended: Option<End>,
    /// Number of the check of everything that its end began.
    pub check: Option<u64>,
}

impl Run {
    /// What it is called: the number of its change, once it has one.
    #[must_use]
    pub fn name(&self) -> String {
        self.change.map_or_else(|| "the change".to_owned(), |change| change.to_string())
    }

    /// The step that goes on, else the one that failed, else the last.
    #[must_use]
    pub fn current(&self) -> usize {
        let busy = |step: &StepRun| matches!(step.state, State::Begun | State::Applied | State::Failed(_));
        let next = || self.steps.iter().position(|step| step.state == State::Next);
        let last = || self.steps.len().saturating_sub(1);
        self.steps.iter().rposition(busy).or_else(next).unwrap_or_else(last)
    }

    /// Steps that are as they were wanted.
    #[must_use]
    pub fn done(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step.state, State::Verified | State::Satisfied)).count()
    }

    /// Whether it came to its end.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.ended.as_ref().is_some_and(|end| end.how == Ok(Ended::Done))
    }

    /// Why it ended early.
    #[must_use]
    pub fn trouble(&self) -> Option<&Trouble> {
        match &self.ended.as_ref()?.how {
            Ok(Ended::Done) => None,
            Ok(Ended::Early { trouble, .. }) | Err(trouble) => Some(trouble),
        }
    }

    /// The change that stays open.
    #[must_use]
    pub fn open_change(&self) -> Option<ChangeId> {
        match (self.offer.course, self.succeeded(), &self.ended) {
            (_, _, None) => None,
            (Course::LayDown(id), _, _) => Some(id),
            (_, true, _) => None,
            _ => self.change,
        }
    }
}

/// A numbered way on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// Word.
    pub word: &'static str,
    /// What it does.
    pub text: String,
    /// What it asks for.
    pub to: To,
}

/// Where a way leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum To {
    /// To a plan.
    Plan(Wish),
    /// To a check of everything, of that tenant.
    Check(Option<String>),
    /// To the sheet for the tenant's people.
    HandOver(String),
}

/// The ways on with a change that did not come to its end.
#[must_use]
pub fn ways(change: ChangeId) -> Vec<Way> {
    let way = |word, text: &str, name| Way { word, text: text.to_owned(), to: To::Plan(Wish::of(name, change)) };
    vec![
        way("resume", "looks at every step, does what is left", "resume"),
        way("undo", "takes back what was done, last step first", "undo"),
        way("later", "leaves it open, gives back what it holds", "later"),
    ]
}

/// The tenant that the plan checks as a whole in the end.
#[must_use]
pub fn checked(run: &Run) -> Option<String> {
    run.offer.preview.plan.steps.iter().find_map(|step| match &step.object {
        Object::CheckAll(check) => Some(check.tenant.clone()),
        _ => None,
    })
}

/// Whether the plan takes its tenant away.
fn takes_away(run: &Run) -> bool {
    let mut steps = run.offer.preview.plan.steps.iter();
    steps.any(|step| matches!(step.object, Object::SdnZone(_)) && step.wanted == Wanted::Absent)
}

/// The ways on from a run that is over.
#[must_use]
pub fn ways_on(run: &Run) -> Vec<Way> {
    if let Some(change) = run.open_change() {
        return ways(change);
    }
    let tenant = run.offer.preview.plan.subject.tenant.clone().filter(|_| run.succeeded() && !takes_away(run));
    let Some(tenant) = tenant else { return Vec::new() };
    let text = format!("reads {tenant} anew; results from a workload are pasted there");
    let mut ways = vec![Way { word: "check all", text, to: To::Check(Some(tenant.clone())) }];
    if checked(run).is_some() {
        let text = "what its people need; the update key, once, into a 0600 file".to_owned();
        ways.push(Way { word: "hand over", text, to: To::HandOver(tenant) });
    }
    ways
}

/// Takes a way on.
pub fn take(model: &mut Model, ways: &[Way], number: usize) -> Vec<Effect> {
    match number.checked_sub(1).and_then(|at| ways.get(at)).map(|way| way.to.clone()) {
        Some(To::Plan(wish)) => proposal::ask(model, wish),
        Some(To::HandOver(tenant)) => handover::open(model, tenant.as_str().into()),
        Some(To::Check(tenant)) => findings::ask(model, Check::All, tenant.map(Into::into)),
        None => {
            model.say(Notice::info(format!("there is no way {number} here")));
            Vec::new()
        }
    }
}

pub(super) fn start(model: &mut Model, id: u64, offer: Arc<Offer>) {
    let now = model.now;
    model.changes.run = Some(Run {
        id,
        change: None,
        began: now,
        steps: vec![StepRun::default(); offer.preview.plan.steps.len()],
        offer,
        last: now,
        given: Vec::new(),
        stopping: false,
        ended: None,
        check: None,
    });
}

/// The run of that number; it begins with the first thing that is told of it.
fn of(model: &mut Model, id: u64) -> Option<&mut Run> {
    if model.changes.run.as_ref().is_none_or(|run| run.id != id) && !proposal::begun(model, id) {
        return None;
    }
    model.changes.run.as_mut().filter(|run| run.id == id)
}

pub(super) fn opened(model: &mut Model, id: u64, change: ChangeId) {
    if let Some(run) = of(model, id) {
        run.change = Some(change);
    }
}

pub(super) fn heard(model: &mut Model, id: u64, at: Timestamp, news: News) {
    let Some(run) = of(model, id) else { return };
    run.last = at;
    let (number, state) = match news {
        News::Begun(step) => (step, State::Begun),
        News::Applied(step) => (step, State::Applied),
        News::Verified(step) => (step, State::Verified),
        News::Satisfied(step) => (step, State::Satisfied),
        News::Failed(step, trouble) => (step, State::Failed(trouble)),
        News::Line(step, line) => {
            if let Some(step) = run.steps.get_mut(step) {
                if step.lines.len() >= LINES {
                    step.lines.remove(0);
                }
                step.lines.push((at, line));
            }
            return;
        }
        News::Replanned(preview) => {
            let offer = super::Offer { preview: *preview, ..(*run.offer).clone() };
            run.steps.resize_with(offer.preview.plan.steps.len(), StepRun::default);
            run.offer = Arc::new(offer);
            return;
        }
        News::GaveBack(what, result) => {
            run.given.retain(|(known, _)| *known != what);
            run.given.push((what, result.err()));
            return;
        }
    };
    let Some(step) = run.steps.get_mut(number) else { return };
    match state {
        State::Begun => step.began = Some(at),
        State::Verified | State::Satisfied | State::Failed(_) => step.ended = Some(at),
        State::Next | State::Applied => {}
    }
    step.state = state;
}

pub(super) fn ended(model: &mut Model, id: u64, at: Timestamp, how: Result<Ended, Trouble>) -> Vec<Effect> {
    let Some(run) = of(model, id) else { return Vec::new() };
    run.last = at;
    run.ended = Some(End { at, how });
    let (class, text) = sentence(run, at);
    let checked = if run.succeeded() { checked(run) } else { None };
    let onboarded = run.offer.preview.plan.steps.iter().find_map(|step| match &step.object {
        Object::OwnIndex(own) if run.succeeded() => Some(own.tenant.clone()),
        _ => None,
    });
    model.say(Notice { class, text });
    if let Some(tenant) = onboarded {
        form::done(model, &tenant);
    }
    let mut effects = vec![Effect::Change(Order::Journal), Effect::Refresh(None)];
    // What the run said of the whole is told leg by leg beside it. A check that somebody waits for is not given up for that.
    if let Some(tenant) = checked.filter(|_| !model.inquiry.as_ref().is_some_and(findings::Inquiry::is_open)) {
        effects.extend(findings::begin(model, Check::All, Some(tenant.as_str().into())));
        let check = model.inquiry.as_ref().map(|inquiry| inquiry.id);
        if let Some(run) = of(model, id) {
            run.check = check;
        }
    }
    effects
}

/// The stop key: no further step begins.
pub fn stop(model: &mut Model) -> Vec<Effect> {
    let Some(run) = model.changes.run.as_mut().filter(|run| run.ended.is_none()) else { return Vec::new() };
    run.stopping = true;
    let name = run.name();
    model.say(Notice::progress(format!("{name} stops after this step")));
    vec![Effect::Change(Order::Stop)]
}

/// How the run stands, in one sentence.
#[must_use]
pub fn sentence(run: &Run, now: Timestamp) -> (Class, String) {
    let name = run.name();
    let total = run.steps.len();
    match (&run.ended, run.trouble()) {
        (None, _) if run.stopping => (Class::Progress, format!("{name} stops after this step")),
        (None, _) => {
            let at = run.current();
            let step = run.offer.preview.plan.steps.get(at).map(|step| step.object.ensure().name()).unwrap_or_default();
            // The name comes last: it may be long, and stands whole on the page.
            let text = format!("step {} of {total}, {} since the last news: {step}", at + 1, ago(run.last, now));
            (Class::Progress, text)
        }
        (Some(_), Some(trouble)) if trouble.kind == TroubleKind::Stopped => {
            (Class::Warning, format!("{name} is stopped, {} of {total} steps are done: {}", run.done(), trouble.text))
        }
        (Some(_), Some(trouble)) => (Class::Fault, trouble.text.clone()),
        (Some(_), None) if matches!(run.offer.course, Course::LayDown(_)) => {
            (Class::Fine, format!("{name} is open, and holds nothing any more"))
        }
        (Some(end), None) => {
            let at = crate::console::widgets::format::minute(end.at);
            (Class::Fine, format!("{name} finished {at}, {} of {total} steps verified", run.done()))
        }
    }
}

/// Time passed in steps of 5 s, so that nothing on screen moves every second.
#[must_use]
pub fn ago(from: Timestamp, now: Timestamp) -> String {
    let passed = now.duration_since(from).max(SignedDuration::ZERO).as_secs() / 5 * 5;
    if passed < 60 { format!("{passed}s") } else { format!("{}m {}s", passed / 60, passed % 60) }
}

/// Whether a step is looked at, of a run that goes on by itself or has a result to go back to.
#[must_use]
pub fn strayed(model: &Model) -> bool {
    let has = |run: &Run| run.ended.is_none() || (run.succeeded() && checked(run).is_some());
    matches!(super::page(model), Some(Page::Run { at: Some(_) })) && model.changes.run.as_ref().is_some_and(has)
}

/// From a step that was looked at back to the one that goes on, or to what the run came to; whether there was a way back.
pub fn to_whole(model: &mut Model) -> bool {
    let strayed = strayed(model);
    if let (true, Some(Screen::Change(Page::Run { at }))) = (strayed, model.stack.last_mut()) {
        *at = None;
    }
    strayed
}

/// Shows the run.
pub fn show(model: &mut Model) -> Vec<Effect> {
    if model.changes.run.is_some() && !matches!(super::page(model), Some(Page::Run { .. })) {
        super::show(model, Page::Run { at: None });
    }
    Vec::new()
}
