//! A change that did not come to its end (screens.md 14): what the journal says, what is there now, and the ways on.

use ratatui::layout::Rect;

use super::{folded, lines, names, ways, window};
use crate::console::change::{Came, journal as shelf, run as running, words};
use crate::console::list::Cell;
use crate::console::model::Model;
use crate::console::theme::Role;
use crate::console::widgets::canvas::{Bit, Canvas};
use crate::console::widgets::format;
use crate::console::widgets::frame::{Titles, rule};
use crate::inventory::Class;
use crate::provision::conduct::Course;
use crate::provision::journal::{ChangeId, Entry, StepState};
use crate::provision::plan::Preview;
use crate::text::{pad, sentence};

/// Draws the page.
pub fn draw(canvas: &mut Canvas<'_>, model: &Model, area: Rect, id: ChangeId) {
    let Some(entry) = shelf::entry(model, id) else {
        rule(canvas, Rect { height: 1, ..area }, &Titles { focused: true, ..Titles::new(id.to_string()) });
        return super::waiting(canvas, area, "It is not in the journal.");
    };
    let right = vec![Bit::muted(format!("journal, {}", format::when(entry.last(), model.now)))];
    let title = if entry.closed().is_some() { "A change that is over" } else { "A change was cut off" };
    rule(canvas, Rect { height: 1, ..area }, &Titles { right, focused: true, ..Titles::new(title) });
    let (step, why) = shelf::cut(entry);
    let total = entry.plan.steps.len();
    let head = format!(
        "{id}  {} · started by {} {} · cut at step {} of {total}",
        entry.plan.title,
        entry.who.user,
        format::when(entry.at, model.now),
        (step + 1).min(total)
    );
    let mut above = folded(canvas, area, &head, Role::Title);
    above.extend(folded(canvas, area, &sentence(&why), Role::Text));
    let roomy = area.height >= 18;
    if roomy {
        above.insert(0, Vec::new());
    }
    let mut on = Vec::new();
    if shelf::holds(entry) {
        let text = "The SDN lock is this change's: nobody else can change the SDN before it is given back.";
        on.extend(folded(canvas, area, text, Role::Warn));
        on.extend(roomy.then(Vec::new));
    }
    on.extend(ways(canvas, area, &running::ways(id)));
    let (top, foot) = (u16::try_from(above.len()).unwrap_or(0), u16::try_from(on.len()).unwrap_or(0));
    lines(canvas, Rect { y: area.y + 1, height: top, ..area }, above);
    let len = u16::try_from(total).unwrap_or(u16::MAX);
    let room = area.height.saturating_sub(2 + top + foot + u16::from(roomy)).max(1);
    let body = Rect { y: area.y + 2 + top, height: len.min(room).max(1), ..area };
    table(canvas, model, entry, step, body);
    let y = body.bottom() + u16::from(roomy);
    lines(canvas, Rect { y, height: area.bottom().saturating_sub(y), ..area }, on);
}

/// What the journal says of a step.
fn recorded(state: &StepState, reached: bool) -> Cell {
    match (state.verified, state.todo.is_empty()) {
        (true, true) => Cell::state(Class::Fine, "nothing to do"),
        (true, false) => Cell::state(Class::Fine, "done"),
        (false, false) => Cell::state(Class::Progress, "sent"),
        (false, true) if reached => Cell::state(Class::Absent, "refused or stopped"),
        (false, true) => Cell::state(Class::Absent, ""),
    }
}

/// What is there now; "…" until it was read.
fn now(preview: Option<&Preview>, failed: bool, number: usize) -> Cell {
    match preview {
        Some(preview) => words::now(preview, number),
        None if failed => Cell::state(Class::Unknown, "unknown"),
        None => Cell::state(Class::Progress, ""),
    }
}

fn table(canvas: &mut Canvas<'_>, model: &Model, entry: &Entry, cut_at: usize, body: Rect) {
    let proposal = model.changes.proposal.as_ref();
    let own = proposal.and_then(|p| p.offer.as_ref()).filter(|offer| offer.course == Course::Resume(entry.id));
    let preview = own.map(|offer| &offer.preview);
    let failed = proposal.is_some_and(|proposal| matches!(proposal.came, Came::Failed(_)));
    let rest = usize::from(body.width.saturating_sub(8));
    let (name, journal) = ((rest * 2 / 5).max(20), 20.min(rest / 4));
    let (charset, names) = (canvas.charset(), names::of(canvas, &entry.plan, name));
    let head = format!("  #  {:<name$} {:<journal$} NOW", "STEP", "JOURNAL");
    canvas.bits((body.x + 1, body.y - 1), body.width.saturating_sub(2), &[Bit::muted(head)]);
    let states = entry.steps();
    let top = window(cut_at, states.len(), body.height);
    let steps = names.iter().zip(&states).enumerate().skip(top);
    for (y, (number, (text, state))) in (body.y..body.bottom()).zip(steps) {
        let bits = [Bit::text(format!("{:>3}  ", number + 1)), Bit::text(pad(text, name + 1, charset).into_owned())];
        let used = canvas.bits((body.x + 1, y), body.width.saturating_sub(2), &bits);
        let bits = canvas.cell_bits(&recorded(state, number <= cut_at));
        canvas.bits((body.x + 1 + used, y), u16::try_from(journal).unwrap_or(0), &bits);
        let x = body.x + 2 + used + u16::try_from(journal).unwrap_or(0);
        let bits = canvas.cell_bits(&now(preview, failed, number));
        canvas.bits((x, y), body.right().saturating_sub(x + 1), &bits);
    }
}
