//! The journal on screen: all changes, and the one that did not come to its end.

use std::sync::Arc;

use super::{Order, Page, Wish, page, proposal, show};
use crate::console::model::{Model, Screen};
use crate::console::msg::Effect;
use crate::inventory::Class;
use crate::provision::journal::{ChangeId, Closing, Entry, Record};
use crate::provision::sdn;

/// The journal as it was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shelf {
    /// Changes, newest first.
    pub entries: Vec<Entry>,
    /// Those that some console runs now.
    pub running: Vec<ChangeId>,
    /// What could not be read, a sentence each.
    pub bad: Vec<String>,
}

impl Shelf {
    /// Changes that did not come to an end, and that nobody runs now, newest first.
    pub fn unfinished(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.closed().is_none() && !self.running.contains(&entry.id))
    }
}

/// The change of that number, where it was read.
#[must_use]
pub fn entry(model: &Model, id: ChangeId) -> Option<&Entry> {
    model.changes.shelf.as_ref()?.entries.iter().find(|entry| entry.id == id)
}

/// Whether a change still has what it took for its run, as far as the journal tells.
#[must_use]
pub fn holds(entry: &Entry) -> bool {
    entry.closed().is_none() && sdn::holds_lock(&entry.notes())
}

/// How a change stands.
#[must_use]
pub fn state(shelf: &Shelf, entry: &Entry) -> (Class, &'static str) {
    match entry.closed() {
        Some(Closing::Done) => (Class::Fine, "done"),
        Some(Closing::Undone) => (Class::Absent, "taken back"),
        Some(Closing::LeftAsItIs) => (Class::Info, "left as it is"),
        None if shelf.running.contains(&entry.id) => (Class::Progress, "running"),
        None => (Class::Pending, "open"),
    }
}

/// The step at which a change was cut off, from 0, and what the journal says of it.
#[must_use]
pub fn cut(entry: &Entry) -> (usize, String) {
    let failed = entry.lines.iter().rev().find_map(|line| match &line.record {
        Record::Failed { step, trouble } => Some((*step, trouble.text.clone())),
        Record::Interrupted { step } => Some((*step, "it was stopped before this step, or in it".to_owned())),
        Record::Begun { step, .. } | Record::Applied { step } => {
            let name = entry.plan.steps.get(*step).map(|step| step.object.ensure().name()).unwrap_or_default();
            Some((*step, format!("the console ended during {name}")))
        }
        Record::Verified { step, .. } | Record::Satisfied { step } => {
            Some((step + 1, "the console ended between two steps".to_owned()))
        }
        _ => None,
    });
    failed.unwrap_or_else(|| (0, "the console ended before the first step".to_owned()))
}

/// Takes the journal in; the first time, a change that did not come to its end is shown before anything else.
pub fn came(model: &mut Model, shelf: Arc<Shelf>) -> Vec<Effect> {
    let first = model.changes.shelf.replace(Arc::clone(&shelf)).is_none();
    let open = shelf.unfinished().next().map(|entry| entry.id).filter(|_| first);
    open.map_or_else(Vec::new, |id| unfinished(model, id))
}

/// Shows a change that did not come to its end; what is there now is read behind it.
pub fn unfinished(model: &mut Model, id: ChangeId) -> Vec<Effect> {
    show(model, Page::Unfinished { id });
    proposal::prepare(model, Wish::of("resume", id))
}

/// Shows the journal, read anew.
pub fn open(model: &mut Model) -> Vec<Effect> {
    if !matches!(page(model), Some(Page::Journal { .. })) {
        show(model, Page::Journal { at: None });
    }
    vec![Effect::Change(Order::Journal)]
}

/// The change that a word, else the screen, is about.
///
/// # Errors
/// One clause.
pub fn meant(model: &Model, word: Option<&str>) -> Result<ChangeId, String> {
    if let Some(word) = word {
        return word.parse().map_err(|e: crate::provision::journal::JournalError| e.to_string());
    }
    match page(model) {
        Some(Page::Journal { .. }) => under_cursor(model).ok_or_else(|| "nothing was changed yet".to_owned()),
        Some(Page::Unfinished { id } | Page::Text { of: super::Sheet::Entry(id), .. }) => Ok(*id),
        Some(Page::Run { .. }) => model
            .changes
            .run
            .as_ref()
            .and_then(|run| run.change)
            .ok_or_else(|| "the change has no number yet".to_owned()),
        _ => Err("which change? the journal lists them".to_owned()),
    }
}

/// The change under the cursor of the journal.
#[must_use]
pub fn under_cursor(model: &Model) -> Option<ChangeId> {
    let Some(Page::Journal { at }) = page(model) else { return None };
    let shelf = model.changes.shelf.as_ref()?;
    let there = |id: &ChangeId| shelf.entries.iter().any(|entry| entry.id == *id);
    at.filter(there).or_else(|| shelf.entries.first().map(|entry| entry.id))
}

/// Moves the cursor of a page by a step.
pub fn go(model: &mut Model, step: crate::console::commands::Step) {
    let rows = usize::from(model.size.1.saturating_sub(12)).max(1);
    let runs = model.changes.run.as_ref().map_or((0, 0), |run| (run.current(), run.steps.len()));
    let plan = model.changes.proposal.as_ref().and_then(|proposal| proposal.offer.as_ref());
    let plan = plan.map_or(0, |offer| offer.preview.plan.steps.len());
    let shelf = model.changes.shelf.clone();
    let cursor = under_cursor(model);
    let Some(Screen::Change(page)) = model.stack.last_mut() else { return };
    match page {
        Page::Plan { at } => *at = step.from(*at, plan, rows),
        Page::Run { at } => *at = Some(step.from(at.unwrap_or(runs.0), runs.1, rows)),
        Page::Journal { at } => {
            let Some(shelf) = shelf else { return };
            let now = shelf.entries.iter().position(|entry| Some(entry.id) == cursor).unwrap_or(0);
            *at = shelf.entries.get(step.from(now, shelf.entries.len(), rows)).map(|entry| entry.id);
        }
        Page::Form | Page::Unfinished { .. } | Page::Text { .. } => {}
    }
}
