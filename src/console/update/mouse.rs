//! The mouse, by what the last frame says its places mean.

use ratatui::layout::Position;

use super::{overlay, run_line};
use crate::console::commands::run_lists::sort_by;
use crate::console::commands::{Step, in_list, moving, rail_moved};
use crate::console::list::{ListId, Scope};
use crate::console::model::{Focus, Layout, Model, Overlay, Screen};
use crate::console::msg::{Effect, Hit};
use crate::console::{nav, select};
use crate::inventory::ObjectId;
use crate::terminal::input::{Button, Mouse, MouseKind};

/// Rows a notch of the wheel moves.
const NOTCH: isize = 3;

/// With a modifier held the mouse belongs to the terminal.
pub(super) fn take(model: &mut Model, mouse: Mouse) -> Vec<Effect> {
    if mouse.ctrl || mouse.alt || mouse.shift {
        return Vec::new();
    }
    let at = (mouse.x, mouse.y);
    match mouse.kind {
        MouseKind::Down(Button::Left) => click(model, at),
        MouseKind::ScrollUp => wheel(model, at, -NOTCH),
        MouseKind::ScrollDown => wheel(model, at, NOTCH),
        MouseKind::Down(_) | MouseKind::Up(_) | MouseKind::Drag(_) => Vec::new(),
    }
}

/// The smallest place around a point.
fn hit(model: &Model, (x, y): (u16, u16)) -> Option<Hit> {
    let around = model.hits.iter().filter(|(rect, _)| rect.contains(Position { x, y }));
    around.min_by_key(|(rect, _)| u32::from(rect.width) * u32::from(rect.height)).map(|(_, hit)| hit.clone())
}

fn click(model: &mut Model, at: (u16, u16)) -> Vec<Effect> {
    let hit = hit(model, at);
    let clicked = model.kept.clicked.take();
    model.notice = None;
    model.prefix.clear();
    if !matches!(model.overlay, Overlay::None) {
        return match hit {
            Some(Hit::Candidate(position)) => overlay::take(model, position),
            _ => Vec::new(),
        };
    }
    match hit {
        Some(Hit::Row(list, id)) => row(model, list, id, clicked),
        Some(Hit::List(list)) => {
            focus(model, list);
            Vec::new()
        }
        Some(Hit::Column(list, column)) => {
            if let Some(key) = focus(model, list) {
                sort_by(model, &key, column);
            }
            Vec::new()
        }
        Some(Hit::Command(name)) => run_line(model, name),
        Some(Hit::Candidate(_) | Hit::Text { .. }) | None => Vec::new(),
    }
}

/// A first click selects, a second one on the same object opens.
fn row(model: &mut Model, list: ListId, id: ObjectId, clicked: Option<(ListId, ObjectId)>) -> Vec<Effect> {
    let Some(key) = focus(model, list) else { return Vec::new() };
    if !select::move_to_id(model, &key, &id) {
        return Vec::new();
    }
    if clicked.as_ref() == Some(&(list, id.clone())) {
        return run_line(model, "open");
    }
    rail_moved(model, &key);
    nav::follow_now(model);
    model.kept.clicked = Some((list, id));
    Vec::new()
}

/// Gives the focus to a list on screen.
fn focus(model: &mut Model, list: ListId) -> Option<(ListId, Scope)> {
    let key = model.visible_lists().into_iter().find(|(l, _)| *l == list)?;
    let rail = list == ListId::Tenants && matches!(model.screen(), Screen::Tenants);
    nav::focus(model, if rail { Focus::Rail } else { Focus::Pane(list) });
    Some(key)
}

fn wheel(model: &mut Model, at: (u16, u16), by: isize) -> Vec<Effect> {
    if !matches!(model.overlay, Overlay::None | Overlay::Filter { .. } | Overlay::Command { .. }) {
        overlay::go(model, Step::By(by));
        return Vec::new();
    }
    let list = match hit(model, at) {
        Some(Hit::Row(list, _) | Hit::List(list) | Hit::Column(list, _)) => Some(list),
        _ => None,
    };
    let key = list.and_then(|l| model.visible_lists().into_iter().find(|(v, _)| *v == l));
    match key {
        Some(key) => {
            in_list(model, &key, Step::By(by));
            let rail = key.0 == ListId::Tenants && matches!(model.screen(), Screen::Tenants);
            if rail && model.layout() > Layout::Compact {
                nav::follow_now(model);
            }
        }
        None if model.screen().is_text() => {
            moving(model, Step::By(by));
        }
        None => {}
    }
    Vec::new()
}
