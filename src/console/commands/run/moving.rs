//! Moving the cursor, in lists, texts, menus and the history of the command line.

use crate::console::change::{self, Page};
use crate::console::commands::Call;
use crate::console::list::{ListId, Scope};
use crate::console::model::{Focus, Layout, Model, Overlay, Screen};
use crate::console::msg::{Effect, Hit};
use crate::console::update::overlay;
use crate::console::{describe, findings, isolation, select};
use crate::inventory::ObjectId;

/// How far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Rows, negative = up.
    By(isize),
    /// Pages, negative = up.
    Pages(isize),
    /// Half pages, negative = up.
    Halves(isize),
    /// The first row.
    Top,
    /// The last row.
    Bottom,
}

/// How long the rail's cursor rests before the board follows (screens.md 1).
const REST: jiff::SignedDuration = jiff::SignedDuration::from_millis(150);

impl Step {
    /// The position `self` leads to from `at`, of `len`, with `page` rows on screen.
    #[must_use]
    pub fn from(self, at: usize, len: usize, page: usize) -> usize {
        let page = isize::try_from(page.max(1)).unwrap_or(isize::MAX);
        let by = match self {
            Self::By(n) => n,
            Self::Pages(n) => n.saturating_mul(page),
            Self::Halves(n) => n.saturating_mul((page / 2).max(1)),
            Self::Top => return 0,
            Self::Bottom => return len.saturating_sub(1),
        };
        at.saturating_add_signed(by).min(len.saturating_sub(1))
    }
}

/// Moves whatever has the keys.
pub fn go(model: &mut Model, step: Step) -> Vec<Effect> {
    match (&model.overlay, model.screen()) {
        (Overlay::None | Overlay::Filter { .. } | Overlay::Search { .. }, screen) if screen.is_text() => {
            scroll_text(model, step)
        }
        (Overlay::None, Screen::Isolation { .. }) => isolation::go(model, step),
        (Overlay::None, Screen::Change(Page::Form)) => {
            if let Step::By(by) = step {
                change::form::turn(model, by);
            }
        }
        (Overlay::None, Screen::Change(_)) => change::journal::go(model, step),
        (Overlay::None | Overlay::Filter { .. }, _) => {
            if let Some(key) = model.focused() {
                in_list(model, &key, step);
            }
        }
        _ => overlay::go(model, step),
    }
    Vec::new()
}

/// Moves the cursor of a list.
pub fn in_list(model: &mut Model, key: &select::Key, step: Step) {
    let Some(state) = model.lists.get(key) else { return };
    let at = step.from(state.at, state.order.len(), page(model, key.0));
    if at == state.at {
        return;
    }
    select::move_to(model, key, at);
    rail_moved(model, key);
}

/// The board follows the rail's cursor once that rests.
pub fn rail_moved(model: &mut Model, key: &select::Key) {
    let rail = matches!(model.screen(), Screen::Tenants) && *key == (ListId::Tenants, Scope::All);
    if !rail {
        return;
    }
    let cursor = model.lists.get(key).and_then(|s| s.cursor.as_ref());
    if matches!((cursor, &model.board), (Some(ObjectId::Tenant(t)), Some(board)) if t == board) {
        model.follow_at = None;
    } else if model.layout() > Layout::Compact && model.focus == Focus::Rail {
        model.follow_at = Some(model.now.saturating_add(REST).unwrap_or(model.now));
    } else {
        crate::console::nav::follow_now(model);
    }
}

/// Rows of `list` in the last frame; a guess from the terminal's height before there was one.
#[must_use]
pub fn page(model: &Model, list: ListId) -> usize {
    let rows = model.hits.iter().filter(|(_, hit)| matches!(hit, Hit::Row(l, _) if *l == list)).count();
    if rows == 0 { usize::from(model.size.1.saturating_sub(9)).max(1) } else { rows }
}

/// Lines of a text screen that fit: all but header, breadcrumb, two rules, message and hints.
#[must_use]
pub fn text_page(model: &Model) -> usize {
    usize::from(model.size.1.saturating_sub(6)).max(1)
}

/// How far the text of the last frame scrolls.
#[must_use]
pub fn text_end(model: &Model) -> Option<usize> {
    model.hits.iter().find_map(|(_, hit)| match hit {
        Hit::Text { end, .. } => Some(*end),
        _ => None,
    })
}

/// Lines of it that the last frame showed.
#[must_use]
pub fn text_height(model: &Model) -> Option<usize> {
    model.hits.iter().find_map(|(area, hit)| matches!(hit, Hit::Text { .. }).then_some(usize::from(area.height)))
}

fn scroll_text(model: &mut Model, step: Step) {
    if let (Screen::Diagnose { .. }, Step::By(by)) = (model.screen(), step)
        && findings::step(model, by)
    {
        return;
    }
    let page = text_height(model).unwrap_or_else(|| text_page(model));
    let (scroll, lines) = match model.screen() {
        Screen::Text { subject, form, scroll } => (*scroll, describe::lines(model, subject, *form).len()),
        Screen::Resolve { scroll }
        | Screen::Diagnose { scroll, .. }
        | Screen::Finding { scroll, .. }
        | Screen::Evidence { scroll, .. }
        | Screen::Cell { scroll, .. }
        | Screen::Change(Page::Text { scroll, .. }) => (*scroll, 0),
        _ => return,
    };
    let end = text_end(model).unwrap_or_else(|| lines.saturating_sub(page));
    let to = step.from(scroll, end + 1, page);
    if let Some(Screen::Diagnose { follow, .. }) = model.stack.last_mut() {
        *follow = false;
    }
    if let Some(scroll) = model.stack.last_mut().and_then(Screen::scroll_mut) {
        *scroll = to;
    }
}

pub(in super::super) fn up(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    go(model, Step::By(-1))
}

pub(in super::super) fn down(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    go(model, Step::By(1))
}

pub(in super::super) fn page_up(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    go(model, Step::Pages(-1))
}

pub(in super::super) fn page_down(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    go(model, Step::Pages(1))
}

pub(in super::super) fn half_up(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    go(model, Step::Halves(-1))
}

pub(in super::super) fn half_down(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    go(model, Step::Halves(1))
}

pub(in super::super) fn top(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    go(model, Step::Top)
}

pub(in super::super) fn bottom(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    go(model, Step::Bottom)
}
