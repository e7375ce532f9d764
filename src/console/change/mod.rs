//! Changes on screen: plans that are looked at, what is asked before them, runs, the journal.
//!
//! Nothing here knows what a plan is about: every plan comes from [`crate::provision::plans::table`], by the name of its
//! command, and is shown, asked for and run in the same way.

pub mod approve;
pub mod form;
pub mod handover;
pub mod journal;
pub mod proposal;
pub mod run;
#[cfg(test)]
pub(crate) mod testing;
pub mod words;

use std::path::PathBuf;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

pub use approve::{Approve, Asks};
pub use form::Form;
pub use handover::{HandOver, Whispered};
pub use journal::Shelf;
pub use proposal::{Came, Proposal};
pub use run::{Run, State};

use super::model::{Model, Screen};
use super::msg::{Effect, Notice};
use super::nav;
use crate::provision::approve::Consent;
use crate::provision::conduct::Course;
use crate::provision::engine::Ended;
use crate::provision::handover::Keys;
use crate::provision::journal::ChangeId;
use crate::provision::plan::Preview;
use crate::provision::survey::Survey;
use crate::provision::trouble::Trouble;
use crate::provision::world::News;
use crate::site::names::TenantName;

/// How long write mode lasts.
const WRITE: SignedDuration = SignedDuration::from_mins(30);

/// A plan that is asked for: a line of the table of plans, and the words behind its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// Name in the table.
    pub name: &'static str,
    /// Words.
    pub words: Vec<String>,
}

impl Wish {
    /// A wish with one word.
    pub fn of(name: &'static str, word: impl ToString) -> Self {
        Self { name, words: vec![word.to_string()] }
    }
}

/// A plan as it was looked at, ready to be approved.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// The plan and what is there.
    pub preview: Preview,
    /// What it is to the journal.
    pub course: Course,
    /// What it leaves as it is, and why.
    pub left: Vec<(String, &'static str)>,
    /// What it was made from.
    pub asked: Option<crate::provision::saved::Asked>,
}

/// What the runtime is to do about changes.
#[derive(Debug, Clone, PartialEq)]
pub enum Order {
    /// Make a plan and look at it.
    Plan {
        /// Number under which is told what came of it.
        id: u64,
        /// What is wanted.
        wish: Wish,
    },
    /// Look at a plan again.
    Look {
        /// See [`Order::Plan`].
        id: u64,
        /// The plan as it was looked at.
        offer: Arc<Offer>,
    },
    /// Look once more, then run it, unless something moved.
    Run {
        /// See [`Order::Plan`].
        id: u64,
        /// The plan as it was approved.
        offer: Arc<Offer>,
        /// How somebody said yes.
        consent: Consent,
    },
    /// No further step begins.
    Stop,
    /// Read the journal.
    Journal,
    /// Keep a plan in a file.
    Save(Arc<Offer>),
    /// Read what a new tenant would meet.
    Survey {
        /// See [`Order::Plan`].
        id: u64,
        /// The tenant, where its name is one by now: more is read for it.
        tenant: Option<TenantName>,
    },
    /// Read who may write these zones of a tenant.
    Keys {
        /// See [`Order::Plan`].
        id: u64,
        /// Zones: of its names, then of its addresses.
        zones: Vec<String>,
    },
    /// Keep a text in a new file.
    Keep {
        /// See [`Order::Plan`].
        id: u64,
        /// Where.
        path: PathBuf,
        /// What.
        text: String,
    },
    /// Fetch the secret of an update key, into a new file, else for the clipboard.
    Secret {
        /// See [`Order::Plan`].
        id: u64,
        /// Name of the key.
        key: String,
        /// File.
        to: Option<PathBuf>,
    },
}

/// What came of an order.
#[derive(Debug, Clone)]
pub enum Told {
    /// A plan was made and looked at, or could not be made.
    Planned(Result<Arc<Offer>, Trouble>),
    /// A plan that was approved is not as it was looked at: nothing was done.
    Moved(Arc<Offer>, Vec<String>),
    /// It does not run, and why.
    Refused(String),
    /// The change has this number.
    Opened(ChangeId),
    /// Something went on.
    News(Timestamp, News),
    /// The run is over.
    Ended(Timestamp, Result<Ended, Trouble>),
    /// What a new tenant would meet.
    Surveyed(Arc<Survey>),
    /// Who may write the zones of a tenant.
    Keys(Result<Keys, Trouble>),
    /// Something was kept, or was not: one sentence.
    Kept(Result<String, String>),
    /// A secret that is to go to the clipboard.
    Secret(Whispered),
}

/// A page of changes.
#[derive(Debug, Clone, PartialEq)]
pub enum Page {
    /// What is asked before a plan is made.
    Form,
    /// A plan, before it runs.
    Plan {
        /// Step under the cursor, from 0.
        at: usize,
    },
    /// A plan that runs, or ran.
    Run {
        /// Step under the cursor; `None` = the one that goes on.
        at: Option<usize>,
    },
    /// A change that did not come to its end.
    Unfinished {
        /// Which.
        id: ChangeId,
    },
    /// All changes.
    Journal {
        /// Under the cursor; `None` = the newest.
        at: Option<ChangeId>,
    },
    /// Text.
    Text {
        /// Of what.
        of: Sheet,
        /// First line shown.
        scroll: usize,
    },
}

/// What a text is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sheet {
    /// A step of the plan in full, from 0.
    Step(usize),
    /// The plan as YAML.
    Yaml,
    /// What a step of the run told, from 0.
    Log(usize),
    /// A change of the journal.
    Entry(ChangeId),
    /// What a tenant's people are handed over.
    HandOver,
}

/// What the console knows of changes.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// The site file forbids changes.
    pub read_only: bool,
    /// Until when write mode lasts; `None` = it only reads.
    pub armed: Option<Timestamp>,
    /// Orders so far.
    pub count: u64,
    /// The plan that was asked for last.
    pub proposal: Option<Proposal>,
    /// The plan that somebody said yes to, by the number of its order, until its run is heard of or refused.
    pub approved: Option<(u64, Arc<Offer>)>,
    /// The run that was begun last.
    pub run: Option<Run>,
    /// The journal, once it was read.
    pub shelf: Option<Arc<Shelf>>,
    /// What is asked before a tenant is onboarded.
    pub form: Option<Form>,
    /// The sheet for a tenant's people that was asked for last.
    pub handover: Option<HandOver>,
    /// Whether it was said that leaving leaves something held.
    pub warned: bool,
}

impl Changes {
    /// The run, while it goes on.
    #[must_use]
    pub fn running(&self) -> Option<&Run> {
        self.run.as_ref().filter(|run| run.ended.is_none())
    }

    /// Minutes until write mode is over, counted by the minutes of the clock on screen.
    #[must_use]
    pub fn minutes(&self, now: Timestamp) -> Option<i64> {
        let until = self.armed?;
        Some((until.as_second().div_euclid(60) - now.as_second().div_euclid(60)).max(0))
    }
}

/// Switches write mode on or off.
pub fn toggle(model: &mut Model) {
    if model.changes.armed.take().is_some() {
        model.say(Notice::info("read-only again"));
        return;
    }
    // It ends with a minute, as the header counts them.
    let until = model.now.checked_add(WRITE).unwrap_or(Timestamp::MAX);
    let whole = Timestamp::from_second(until.as_second().div_euclid(60) * 60).unwrap_or(until);
    model.changes.armed = Some(whole);
    let minutes = WRITE.as_mins();
    model.say(Notice::info(format!("write mode for {minutes} min: A runs the plan that is shown, or asks first")));
}

/// Write mode ends by itself; a form that is filled in reads its sources again.
pub fn take_time(model: &mut Model) -> Vec<Effect> {
    if model.changes.armed.is_some_and(|until| until <= model.now) {
        model.changes.armed = None;
        model.say(Notice::info("write mode is over: read-only again"));
    }
    form::take_time(model)
}

/// Takes in what came of an order.
pub fn told(model: &mut Model, id: u64, told: Told) -> Vec<Effect> {
    match told {
        Told::Planned(offer) => proposal::came(model, id, offer),
        Told::Moved(offer, what) => proposal::moved(model, id, offer, what),
        Told::Refused(why) => proposal::refused(model, id, why),
        Told::Opened(change) => run::opened(model, id, change),
        Told::News(at, news) => run::heard(model, id, at, news),
        Told::Ended(at, ended) => return run::ended(model, id, at, ended),
        Told::Surveyed(survey) => form::surveyed(model, id, survey),
        Told::Keys(keys) => handover::read(model, id, keys),
        Told::Kept(came) => handover::kept(model, id, came),
        Told::Secret(secret) => return handover::fetched(model, id, secret),
    }
    Vec::new()
}

/// Shows a page.
pub fn show(model: &mut Model, page: Page) {
    nav::push(model, Screen::Change(page));
}

/// The page on screen.
#[must_use]
pub fn page(model: &Model) -> Option<&Page> {
    match model.screen() {
        Screen::Change(page) => Some(page),
        _ => None,
    }
}

/// The next number of an order.
fn number(model: &mut Model) -> u64 {
    model.changes.count += 1;
    model.changes.count
}

/// Leaves, unless something goes on, or stays held, that was not said yet.
pub fn quit(model: &mut Model) -> Vec<Effect> {
    if model.changes.running().is_some() || model.changes.approved.is_some() {
        model.overlay = super::model::Overlay::Approve(Box::new(Approve::leaving()));
        return Vec::new();
    }
    let held = match page(model) {
        Some(Page::Unfinished { id }) => journal::entry(model, *id).filter(|entry| journal::holds(entry)).map(|e| e.id),
        _ => None,
    };
    if let Some(id) = held.filter(|_| !std::mem::replace(&mut model.changes.warned, true)) {
        model
            .say(Notice::warning(format!("{id} still holds the SDN lock: 3 gives it back, quit again leaves it held")));
        return Vec::new();
    }
    vec![Effect::Quit]
}
