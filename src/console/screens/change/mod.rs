//! Plans, runs and the journal on screen (screens.md 12a–14).

pub mod approve;
mod done;
mod form;
mod journal;
mod names;
mod plan;
mod run;
mod sheet;
mod unfinished;

use ratatui::layout::Rect;

use crate::console::change::{Came, Page, Proposal, Sheet, handover, journal as shelf, run as running};
use crate::console::model::{Model, Overlay};
use crate::console::theme::Role;
use crate::console::widgets::canvas::{Bit, Canvas, wrap};
use crate::console::widgets::format;
use crate::inventory::Class;
use crate::provision::object::Danger;
use crate::text::sentences;

/// Draws a page into `area`.
pub fn draw(canvas: &mut Canvas<'_>, model: &Model, area: Rect, page: &Page) {
    match page {
        Page::Form => form::draw(canvas, model, area),
        Page::Plan { at } => plan::draw(canvas, model, area, *at),
        Page::Run { at } => run::draw(canvas, model, area, *at),
        Page::Unfinished { id } => unfinished::draw(canvas, model, area, *id),
        Page::Journal { .. } => journal::draw(canvas, model, area),
        Page::Text { of, scroll } => sheet::draw(canvas, model, area, of, *scroll),
    }
}

/// Where a page is.
#[must_use]
pub fn path(model: &Model, page: &Page) -> Vec<String> {
    let changes = &model.changes;
    let of = |what: &str, name: Option<String>| std::iter::once(what.to_owned()).chain(name).collect::<Vec<_>>();
    let planned = || changes.proposal.as_ref().and_then(|p| p.offer.as_ref()).map(|o| o.preview.plan.title.clone());
    let ran = || changes.run.as_ref().map(|run| run.offer.preview.plan.title.clone());
    match page {
        Page::Form => of("Tenants", Some("onboard".to_owned())),
        Page::Plan { .. } => of("Plan", planned()),
        Page::Run { .. } => of("Change", ran()),
        Page::Unfinished { .. } => of("Start", Some("unfinished change".to_owned())),
        Page::Journal { .. } => of("Journal", None),
        Page::Text { of: sheet, .. } => match sheet {
            Sheet::Step(at) => of("Plan", Some(format!("step {}", at + 1))),
            Sheet::Yaml => of("Plan", Some("YAML".to_owned())),
            Sheet::Log(at) => of("Change", Some(format!("step {}", at + 1))),
            Sheet::Entry(id) => of("Journal", Some(id.to_string())),
            Sheet::HandOver => of("Hand over", changes.handover.as_ref().map(|of| of.tenant.to_string())),
        },
    }
}

/// What the message line says on a page, and of what is asked.
#[must_use]
pub fn message(model: &Model) -> Option<(Class, String)> {
    if let Overlay::Approve(open) = &model.overlay {
        return approve::sentence(open);
    }
    let changes = &model.changes;
    match crate::console::change::page(model)? {
        Page::Form => form::sentence(model),
        Page::Plan { .. } => changes.proposal.as_ref().map(|proposal| plan::message(model, proposal)),
        Page::Run { .. } => changes.run.as_ref().map(|run| running::sentence(run, model.now)),
        Page::Unfinished { id } => shelf::entry(model, *id).map(|entry| {
            let held = if shelf::holds(entry) { " · other people's SDN edits wait for the lock" } else { "" };
            (Class::Warning, format!("{id} is not finished{held}"))
        }),
        Page::Journal { .. } => journal::sentence(model),
        Page::Text { of: Sheet::HandOver, .. } => handover::sentence(model),
        Page::Text { .. } => None,
    }
}

/// How far something reaches, as a title has it.
fn danger(level: Danger) -> Bit {
    let role = match level.level() {
        0 => Role::Muted,
        1 => Role::Danger1,
        2 => Role::Danger2,
        _ => Role::Danger3,
    };
    Bit::new(crate::console::change::words::danger(level), role)
}

/// One sentence where there is nothing else yet.
fn waiting(canvas: &mut Canvas<'_>, area: Rect, text: &str) {
    let place = Rect { x: area.x + 2, y: area.y + 2, width: area.width.saturating_sub(4), height: 3 };
    canvas.flow(place, &[Bit::muted(text.to_owned())]);
}

/// What a proposal that has no plan yet says.
fn awaited(model: &Model, proposal: &Proposal) -> String {
    match &proposal.came {
        Came::Failed(trouble) => {
            format!("There is no plan: {}", sentences(&trouble.text, trouble.help()))
        }
        _ => format!("Looking at what is there, {}s. Keys work meanwhile.", proposal.waited(model.now)),
    }
}

/// Lines of text below each other, as many as fit; the last says that there is more.
fn lines(canvas: &mut Canvas<'_>, area: Rect, all: Vec<Vec<Bit>>) {
    let height = usize::from(area.height);
    let more = all.len() > height;
    let shown = if more { height.saturating_sub(1) } else { height };
    for (y, line) in (area.y..area.bottom()).zip(all.into_iter().take(shown)) {
        canvas.bits((area.x + 2, y), area.width.saturating_sub(3), &line);
    }
    if more && height > 0 {
        let sign = canvas.look().glyphs.more;
        canvas.bits(
            (area.x + 2, area.bottom() - 1),
            area.width.saturating_sub(3),
            &[Bit::muted(format!("{sign} more"))],
        );
    }
}

/// `text` folded into lines of `area`, in one role.
fn folded(canvas: &Canvas<'_>, area: Rect, text: &str, role: Role) -> Vec<Vec<Bit>> {
    let width = area.width.saturating_sub(4);
    wrap(&canvas.plain(text), width).into_iter().map(|part| vec![Bit::new(part, role)]).collect()
}

/// The numbered ways on.
fn ways(canvas: &Canvas<'_>, area: Rect, ways: &[running::Way]) -> Vec<Vec<Bit>> {
    let mut out = Vec::new();
    for (number, way) in ways.iter().enumerate() {
        let head = format!(" {}  {:<10} ", number + 1, way.word);
        let width = area.width.saturating_sub(4 + canvas.width(&head));
        for (n, part) in wrap(&canvas.plain(&way.text), width).into_iter().enumerate() {
            let lead = if n == 0 {
                Bit::new(head.clone(), Role::Accent)
            } else {
                Bit::text(" ".repeat(usize::from(canvas.width(&head))))
            };
            out.push(vec![lead, Bit::text(part)]);
        }
    }
    out
}

/// `11:05:51Z`.
fn second(at: jiff::Timestamp) -> String {
    at.strftime("%H:%M:%SZ").to_string()
}

/// The page of `len` rows that has row `at` on it.
fn window(at: usize, len: usize, height: u16) -> usize {
    crate::console::widgets::window(0, at, len, usize::from(height), crate::console::widgets::Turn::Line)
}

/// `5 steps`.
fn steps(n: usize) -> String {
    format::plural(n, "step")
}
