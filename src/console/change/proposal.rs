//! A plan that is made and looked at, until it is approved.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::{Approve, Asks, Offer, Order, Page, Wish, number, page, run, show};
use crate::console::model::{Model, Overlay, Screen};
use crate::console::msg::{Effect, Notice};
use crate::provision::approve::Consent;
use crate::provision::conduct::Course;
use crate::provision::plan::{GOOD_FOR, Question};
use crate::provision::trouble::Trouble;

/// A plan that was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// Number of the newest order for it.
    pub id: u64,
    /// What was asked for.
    pub wish: Wish,
    /// When the newest order was given.
    pub asked: Timestamp,
    /// The plan as it was last looked at.
    pub offer: Option<Arc<Offer>>,
    /// How far it is.
    pub came: Came,
}

/// How far a plan is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Came {
    /// It is made, or looked at.
    Asking,
    /// It was looked at.
    Ready,
    /// It is looked at once more before it runs.
    Beginning,
    /// It could not be made, or does not run.
    Failed(Trouble),
    /// Something is not as it was looked at before: what.
    Moved(Vec<String>),
    /// It was looked at, approved, and not begun: why.
    Refused(String),
}

impl Proposal {
    /// Whether what was looked at is too old to act on.
    #[must_use]
    pub fn expired(&self, now: Timestamp) -> bool {
        self.expires().is_some_and(|at| now > at)
    }

    /// Until when it may be acted on.
    #[must_use]
    pub fn expires(&self) -> Option<Timestamp> {
        self.offer.as_ref()?.preview.at.checked_add(GOOD_FOR).ok()
    }

    /// How long it has been asked for, in whole seconds.
    #[must_use]
    pub fn waited(&self, now: Timestamp) -> i64 {
        now.duration_since(self.asked).max(SignedDuration::ZERO).as_secs()
    }

    /// Whether something is awaited.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self.came, Came::Asking | Came::Beginning)
    }
}

/// Asks for a plan, and shows it.
pub fn ask(model: &mut Model, wish: Wish) -> Vec<Effect> {
    let effects = prepare(model, wish);
    match model.stack.last_mut() {
        Some(Screen::Change(shown @ Page::Plan { .. })) => *shown = Page::Plan { at: 0 },
        _ => show(model, Page::Plan { at: 0 }),
    }
    effects
}

/// Asks for a plan without showing it.
pub fn prepare(model: &mut Model, wish: Wish) -> Vec<Effect> {
    let id = number(model);
    let proposal = Proposal { id, wish: wish.clone(), asked: model.now, offer: None, came: Came::Asking };
    model.changes.proposal = Some(proposal);
    vec![Effect::Change(Order::Plan { id, wish })]
}

/// Looks at the plan on screen again.
pub fn again(model: &mut Model) -> Vec<Effect> {
    let (id, now) = (number(model), model.now);
    let Some(proposal) = &mut model.changes.proposal else { return Vec::new() };
    (proposal.id, proposal.asked, proposal.came) = (id, now, Came::Asking);
    let order = match &proposal.offer {
        Some(offer) => Order::Look { id, offer: Arc::clone(offer) },
        None => Order::Plan { id, wish: proposal.wish.clone() },
    };
    vec![Effect::Change(order)]
}

fn open(model: &mut Model, id: u64) -> Option<&mut Proposal> {
    model.changes.proposal.as_mut().filter(|proposal| proposal.id == id)
}

pub(super) fn came(model: &mut Model, id: u64, offer: Result<Arc<Offer>, Trouble>) {
    let Some(proposal) = open(model, id) else { return };
    match offer {
        Ok(offer) => {
            let moved = proposal.offer.as_ref().map(|old| old.preview.moved(&offer.preview)).unwrap_or_default();
            proposal.came = if moved.is_empty() { Came::Ready } else { Came::Moved(moved) };
            proposal.offer = Some(offer);
        }
        Err(trouble) => proposal.came = Came::Failed(trouble),
    }
    let len = proposal.offer.as_ref().map_or(0, |offer| offer.preview.plan.steps.len());
    let offer = proposal.offer.clone();
    if let Some(Screen::Change(Page::Plan { at })) = model.stack.last_mut() {
        // On the first step that keeps it from running, else that changes something; what is only done for others comes before.
        let first = offer.and_then(|offer| {
            if let Some((untold, _)) = offer.preview.untold().next() {
                return Some(untold);
            }
            let changes = |number: &usize| super::words::changes(&offer.preview, *number);
            (0..len).find(changes).or_else(|| (0..len).find(|number| offer.preview.does(*number)))
        });
        if *at == 0 {
            *at = first.unwrap_or(0);
        }
    }
}

/// What was approved does not run.
fn not_begun(model: &mut Model, id: u64) {
    model.changes.approved.take_if(|(own, _)| *own == id);
}

pub(super) fn moved(model: &mut Model, id: u64, offer: Arc<Offer>, what: Vec<String>) {
    not_begun(model, id);
    let name = offer.preview.plan.title.clone();
    if let Some(proposal) = open(model, id) {
        proposal.came = Came::Moved(what);
        proposal.offer = Some(offer);
    } else {
        model.say(Notice::warning(format!("{name} was not begun: {}", what.join("; "))));
    }
}

pub(super) fn refused(model: &mut Model, id: u64, why: String) {
    not_begun(model, id);
    if let Some(proposal) = open(model, id) {
        proposal.came = Came::Refused(why);
    } else {
        model.say(Notice::warning(format!("not begun: {why}")));
    }
}

/// Why the plan on screen cannot be approved now.
///
/// # Errors
/// One clause.
pub fn ready(model: &Model) -> Result<Arc<Offer>, String> {
    let changes = &model.changes;
    let Some(proposal) = changes.proposal.as_ref().filter(|_| matches!(page(model), Some(Page::Plan { .. }))) else {
        return Err("there is no plan on screen".to_owned());
    };
    let offer = match (&proposal.offer, &proposal.came) {
        (_, Came::Asking | Came::Beginning) => return Err("the plan is being looked at".to_owned()),
        (_, Came::Failed(_)) => return Err("there is no plan that could run; the page says why".to_owned()),
        (None, _) => return Err("there is no plan yet".to_owned()),
        (Some(offer), _) => Arc::clone(offer),
    };
    if let Some((number, why)) = offer.preview.untold().next() {
        let known = why.kind.is_known();
        let how = if known { "is in the way, and says what helps" } else { "could not be told, and says why" };
        return Err(format!("step {} {how}", number + 1));
    }
    // One that is open, and needs nothing any more, is closed by its run.
    if offer.preview.is_empty() && offer.course == Course::Begin {
        return Err("everything is as it is wanted, nothing is to be done".to_owned());
    }
    if proposal.expired(model.now) {
        return Err("it was looked at more than 5 min ago: r looks again".to_owned());
    }
    if let Some(run) = changes.running() {
        return Err(format!("{} is running", run.name()));
    }
    if changes.approved.is_some() {
        return Err("another plan is about to begin".to_owned());
    }
    if offer.preview.question() != Question::Nothing {
        writing(model)?;
    }
    Ok(offer)
}

/// Whether write mode is on.
///
/// # Errors
/// What is to be done first.
pub fn writing(model: &Model) -> Result<(), String> {
    if model.changes.read_only {
        let name = &model.site_name;
        return Err(format!("{name} is read-only, by read_only in its site file"));
    }
    if model.changes.armed.is_none() { Err("read-only: w first".to_owned()) } else { Ok(()) }
}

/// The apply key: runs what needs no further word, else asks.
pub fn apply(model: &mut Model) -> Vec<Effect> {
    let offer = match ready(model) {
        Ok(offer) => offer,
        Err(why) => {
            model.say(Notice::info(format!("apply: {why}")));
            return Vec::new();
        }
    };
    let asks = match offer.preview.question() {
        Question::Nothing | Question::PlanApply => return begin(model, None),
        Question::Yes | Question::PlanYes => Asks::Yes,
        Question::Name(because) => Asks::Name {
            because,
            name: offer.preview.plan.subject.name.clone(),
            typed: String::new(),
            last: offer.preview.final_because().is_some()
                || offer.preview.danger() == crate::provision::object::Danger::Final,
        },
    };
    model.overlay = Overlay::Approve(Box::new(Approve::new(asks)));
    Vec::new()
}

/// Runs the plan on screen: somebody said yes.
pub(super) fn begin(model: &mut Model, typed: Option<String>) -> Vec<Effect> {
    let Ok(offer) = ready(model) else {
        return apply(model);
    };
    let id = number(model);
    let Some(proposal) = &mut model.changes.proposal else { return Vec::new() };
    (proposal.id, proposal.came, proposal.asked) = (id, Came::Beginning, model.now);
    // Whatever is looked at meanwhile: its run is followed.
    model.changes.approved = Some((id, Arc::clone(&offer)));
    vec![Effect::Change(Order::Run { id, offer, consent: Consent::Dialog { typed } })]
}

/// Keeps the plan on screen in a file.
pub fn save(model: &mut Model) -> Vec<Effect> {
    let offer = model.changes.proposal.as_ref().and_then(|proposal| proposal.offer.clone());
    match offer {
        Some(offer) => vec![Effect::Change(Order::Save(offer))],
        None => {
            model.say(Notice::info("there is no plan yet that could be saved"));
            Vec::new()
        }
    }
}

/// What was approved is begun: the page of its run takes the place of the plan, where that is still on screen.
pub(super) fn begun(model: &mut Model, id: u64) -> bool {
    let Some((_, offer)) = model.changes.approved.take_if(|(own, _)| *own == id) else { return false };
    run::start(model, id, offer);
    if open(model, id).is_some() {
        model.changes.proposal = None;
        if let Some(Screen::Change(shown @ Page::Plan { .. })) = model.stack.last_mut() {
            *shown = Page::Run { at: None };
        }
    }
    true
}
