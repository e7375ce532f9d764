//! When commands about changes can run.

use super::super::Availability::{self, Ready};
use super::no;
use crate::console::change::{self, Page, handover, journal, proposal, run};
use crate::console::model::Model;

fn of<T>(result: Result<T, String>) -> Availability {
    match result {
        Ok(_) => Ready,
        Err(why) => no(why),
    }
}

/// Something on the page can be opened.
pub(in super::super) fn open(model: &Model) -> Availability {
    match change::page(model) {
        Some(Page::Form | Page::Unfinished { .. }) => Ready,
        Some(Page::Plan { .. }) => plan(model),
        Some(Page::Run { .. }) if model.changes.run.is_some() => Ready,
        Some(Page::Journal { .. }) if journal::under_cursor(model).is_some() => Ready,
        Some(Page::Journal { .. }) => no("nothing was changed yet"),
        _ => no("there is nothing to open here"),
    }
}

/// There is a plan on screen.
pub(in super::super) fn plan(model: &Model) -> Availability {
    let shown = matches!(change::page(model), Some(Page::Plan { .. } | Page::Unfinished { .. } | Page::Text { .. }));
    match &model.changes.proposal {
        Some(proposal) if shown && proposal.offer.is_some() => Ready,
        _ => no("there is no plan on screen"),
    }
}

/// There is a tenant here whose sheet can be shown.
pub(in super::super) fn hand_over(model: &Model) -> Availability {
    if model.picture().is_none() {
        return no("nothing was read yet");
    }
    of(handover::ready(model))
}

/// The page offers ways on.
pub(in super::super) fn ways(model: &Model) -> Availability {
    let any = match change::page(model) {
        Some(Page::Text { of: change::Sheet::HandOver, .. }) => handover::sheet(model).is_some(),
        Some(Page::Unfinished { .. }) => true,
        Some(Page::Run { .. }) => model.changes.run.as_ref().is_some_and(|run| !run::ways_on(run).is_empty()),
        _ => false,
    };
    if any { Ready } else { no("this screen offers no numbered step") }
}

/// The site may be changed.
pub(in super::super) fn write(model: &Model) -> Availability {
    if model.changes.read_only { of(proposal::writing(model)) } else { Ready }
}

/// The plan on screen can be approved.
pub(in super::super) fn apply(model: &Model) -> Availability {
    of(proposal::ready(model))
}

/// A change runs.
pub(in super::super) fn stop(model: &Model) -> Availability {
    if model.changes.running().is_some() { Ready } else { no("no change is running") }
}

/// There is a run to be shown.
pub(in super::super) fn run(model: &Model) -> Availability {
    if model.changes.run.is_some() { Ready } else { no("nothing was run from here yet") }
}

/// Some change is open.
pub(in super::super) fn resume(model: &Model) -> Availability {
    let open = |shelf: &std::sync::Arc<change::Shelf>| shelf.unfinished().next().is_some();
    if model.changes.shelf.as_ref().is_some_and(open) { Ready } else { no("no change is open") }
}
