//! What lies over the screen: fields and menus.

use tui_input::{Input as Field, InputRequest};

use super::run_line;
use crate::console::change::{self, handover};
use crate::console::commands::run_lists::{set_filter, sort_by, toggle_column};
use crate::console::commands::{self, Step};
use crate::console::complete::{self, clean_line};
use crate::console::findings;
use crate::console::list::{Column, ListId};
use crate::console::lists::def;
use crate::console::model::{Model, Overlay, Saving, Screen};
use crate::console::msg::{Effect, Notice};
use crate::terminal::input::{Key, KeyCode};

/// Longest text a field takes, in characters.
const FIELD: usize = 400;

/// Command lines remembered.
const HISTORY: usize = 200;

/// The field that takes text.
fn field(model: &mut Model) -> Option<&mut Field> {
    if matches!(model.overlay, Overlay::None) {
        return change::form::field(model);
    }
    match &mut model.overlay {
        Overlay::Help { search, .. } | Overlay::Actions { search, .. } => Some(search),
        Overlay::Command { field, .. }
        | Overlay::Filter { field, .. }
        | Overlay::Search { field, .. }
        | Overlay::Save { field, .. } => Some(field),
        Overlay::None | Overlay::Sort { .. } | Overlay::Columns { .. } | Overlay::Paste(_) | Overlay::Approve(_) => {
            None
        }
    }
}

/// Lets a text field have the key; whether it took it.
pub fn edit(model: &mut Model, key: Key) -> bool {
    if key.alt || key.ctrl {
        return !key.alt && erase(model, key.code);
    }
    if let Overlay::Paste(paste) = &mut model.overlay {
        match key.code {
            KeyCode::Char(c) if crate::text::is_clean(&c.to_string()) => paste.typed(c),
            KeyCode::Backspace => paste.erased(),
            KeyCode::Enter | KeyCode::Esc | KeyCode::Tab => return false,
            _ => {}
        }
        return true;
    }
    let narrows = matches!(model.overlay, Overlay::Help { .. } | Overlay::Actions { .. });
    // A line that is opened by one key is closed by taking that key back; where to save was offered, and only esc closes it.
    let closes = !narrows && !matches!(model.overlay, Overlay::Save { .. });
    let taken = if key.code == KeyCode::Right && at_end(model) { complete::taken(model) } else { None };
    let Some(field) = field(model) else { return false };
    let request = match key.code {
        KeyCode::Char('/') if narrows && field.value().is_empty() => return true,
        KeyCode::Char(_) if field.value().chars().count() >= FIELD => return true,
        KeyCode::Char(c) if crate::text::is_clean(&c.to_string()) => InputRequest::InsertChar(c),
        KeyCode::Char(_) => return true,
        KeyCode::Backspace if field.value().is_empty() && closes => {
            close(model);
            return true;
        }
        KeyCode::Backspace => InputRequest::DeletePrevChar,
        KeyCode::Delete => InputRequest::DeleteNextChar,
        KeyCode::Left => InputRequest::GoToPrevChar,
        KeyCode::Right if taken.is_some() => {
            *field = Field::new(taken.unwrap_or_default());
            changed(model);
            return true;
        }
        KeyCode::Right => InputRequest::GoToNextChar,
        KeyCode::Home => InputRequest::GoToStart,
        KeyCode::End => InputRequest::GoToEnd,
        _ => return false,
    };
    if field.handle(request).is_some_and(|change| change.value) {
        changed(model);
    }
    true
}

/// What shells take for it: ctrl-u the whole text, ctrl-w its last word. In a menu without text they are its own keys.
fn erase(model: &mut Model, code: KeyCode) -> bool {
    let narrows = matches!(model.overlay, Overlay::Help { .. } | Overlay::Actions { .. });
    let Some(field) = field(model) else { return false };
    if narrows && field.value().is_empty() {
        return false;
    }
    let request = match code {
        KeyCode::Char('u') => InputRequest::DeleteLine,
        KeyCode::Char('w') => InputRequest::DeletePrevWord,
        _ => return false,
    };
    if field.handle(request).is_some_and(|change| change.value) {
        changed(model);
    }
    true
}

fn at_end(model: &Model) -> bool {
    match &model.overlay {
        Overlay::Command { field, .. } => field.cursor() == field.value().chars().count(),
        _ => false,
    }
}

/// Puts pasted text into the open field, as one clean line. Without a field it is dropped: pasted text is never keys.
pub fn paste(model: &mut Model, text: &str) {
    model.notice = None;
    if let Overlay::Paste(paste) = &mut model.overlay {
        paste.pasted(text);
        return;
    }
    if let Overlay::Approve(open) = &mut model.overlay {
        change::approve::pasted(open);
        return;
    }
    let Some(field) = field(model) else {
        model.notice = Some(Notice::info("nothing here takes text; what was pasted is dropped"));
        return;
    };
    let room = FIELD.saturating_sub(field.value().chars().count());
    for c in clean_line(text).chars().take(room) {
        field.handle(InputRequest::InsertChar(c));
    }
    changed(model);
}

/// The text of the field changed.
fn changed(model: &mut Model) {
    match &mut model.overlay {
        Overlay::Help { scroll, .. } => *scroll = 0,
        Overlay::Actions { at, .. } => *at = 0,
        Overlay::Command { at, history, .. } => (*at, *history) = (None, None),
        Overlay::Filter { field, .. } => {
            let text = field.value().to_owned();
            if let Some(key) = model.focused() {
                set_filter(model, &key, &text);
            }
        }
        Overlay::Search { field, before } => {
            let (text, from) = (field.value().to_owned(), before.1);
            commands::look_for(model, &text, from);
        }
        Overlay::Save { saving, .. } => *saving = Saving::Asked,
        Overlay::None => change::form::typed(model),
        Overlay::Sort { .. } | Overlay::Columns { .. } | Overlay::Paste(_) | Overlay::Approve(_) => {}
    }
}

/// Closes the overlay; the filter line gives the list its former filter back, the search line the text its former place.
pub fn close(model: &mut Model) {
    match std::mem::take(&mut model.overlay) {
        Overlay::Filter { before, .. } => {
            if let Some(key) = model.focused() {
                set_filter(model, &key, &before);
            }
        }
        Overlay::Search { before, .. } => {
            if let Some(Screen::Evidence { search, scroll, .. }) = model.stack.last_mut() {
                (*search, *scroll) = before;
            }
        }
        _ => {}
    }
}

/// The columns that can be chosen: those that are ever shown.
pub fn choices(list: ListId) -> impl Iterator<Item = &'static Column> {
    def(list).columns.iter().filter(|c| c.max > 0)
}

/// How many entries the open menu has.
#[must_use]
pub fn entries(model: &Model) -> usize {
    match &model.overlay {
        Overlay::None
        | Overlay::Filter { .. }
        | Overlay::Search { .. }
        | Overlay::Save { .. }
        | Overlay::Paste(_)
        | Overlay::Approve(_) => 0,
        Overlay::Help { .. } => commands::help(model).sections.iter().map(|s| s.rows.len() + 2).sum(),
        Overlay::Actions { .. } => commands::actions(model).rows.len(),
        Overlay::Command { .. } => complete::candidates(model).len(),
        Overlay::Sort { .. } | Overlay::Columns { .. } => model.focused().map_or(0, |(list, _)| choices(list).count()),
    }
}

/// The last position: of a menu its last entry, of a text the line with which the last frame showed its end.
fn last(model: &Model) -> usize {
    let text = matches!(model.overlay, Overlay::Help { .. } | Overlay::Approve(_));
    let drawn = if text { commands::text_end(model) } else { None };
    drawn.unwrap_or_else(|| entries(model).saturating_sub(1))
}

/// Keeps the position inside the menu.
pub fn clamp(model: &mut Model) {
    let position = |overlay: &Overlay| {
        matches!(
            overlay,
            Overlay::Help { .. }
                | Overlay::Actions { .. }
                | Overlay::Sort { .. }
                | Overlay::Columns { .. }
                | Overlay::Command { at: Some(_), .. }
        )
    };
    if !position(&model.overlay) {
        return;
    }
    let last = last(model);
    if let Overlay::Help { scroll: at, .. }
    | Overlay::Actions { at, .. }
    | Overlay::Sort { at }
    | Overlay::Columns { at }
    | Overlay::Command { at: Some(at), .. } = &mut model.overlay
    {
        *at = (*at).min(last);
    }
}

/// Moves within the menu, or through the history of the command line.
pub fn go(model: &mut Model, step: Step) {
    let len = last(model) + 1;
    let page = usize::from(model.size.1 / 2).max(1);
    let text = commands::text_height(model);
    match &mut model.overlay {
        // No line is passed over.
        Overlay::Approve(open) => open.scroll = step.from(open.scroll, len, text.unwrap_or(page)),
        Overlay::Help { scroll: at, .. }
        | Overlay::Actions { at, .. }
        | Overlay::Sort { at }
        | Overlay::Columns { at } => *at = step.from(*at, len, page),
        Overlay::Command { .. } => {
            if let Step::By(by) = step {
                remember(model, by);
            }
        }
        Overlay::None | Overlay::Filter { .. } | Overlay::Search { .. } | Overlay::Save { .. } | Overlay::Paste(_) => {}
    }
}

/// Goes through the history: up = older; below the newest line is the empty one.
fn remember(model: &mut Model, by: isize) {
    let len = model.history.len();
    let Overlay::Command { field, at, history } = &mut model.overlay else { return };
    let from = history.unwrap_or(len);
    let to = from.saturating_add_signed(by).min(len);
    *at = None;
    *history = (to < len).then_some(to);
    *field = Field::new(model.history.get(to).cloned().unwrap_or_default());
}

/// Walks through the candidates of the command line.
pub fn walk(model: &mut Model, by: isize) {
    let len = isize::try_from(entries(model)).unwrap_or(0);
    let Overlay::Command { at, .. } = &mut model.overlay else { return };
    let from = at.and_then(|i| isize::try_from(i).ok());
    let to = from.map_or(if by > 0 { 0 } else { len - 1 }, |i| i + by);
    *at = to.checked_rem_euclid(len).and_then(|i| usize::try_from(i).ok());
}

/// Takes what the menu offers, or runs the line.
pub fn accept(model: &mut Model) -> Vec<Effect> {
    match &model.overlay {
        Overlay::None | Overlay::Approve(_) => Vec::new(),
        Overlay::Help { .. } | Overlay::Filter { .. } | Overlay::Search { .. } => {
            model.overlay = Overlay::None;
            Vec::new()
        }
        Overlay::Save { saving: Saving::Running, .. } => Vec::new(),
        Overlay::Save { field, .. } => {
            let place = field.value().to_owned();
            match handover::is_shown(model) {
                true => handover::save(model, &place),
                false => findings::save(model, &place),
            }
        }
        Overlay::Actions { at, .. } => {
            let chosen = commands::actions(model).rows.into_iter().nth(*at);
            match chosen {
                None => Vec::new(),
                Some(action) => {
                    model.overlay = Overlay::None;
                    run_line(model, action.command.name)
                }
            }
        }
        Overlay::Command { .. } => run_command(model),
        Overlay::Paste(_) => crate::console::isolation::take(model),
        Overlay::Sort { at } | Overlay::Columns { at } => {
            let at = *at;
            choose_column(model, at);
            Vec::new()
        }
    }
}

fn choose_column(model: &mut Model, at: usize) {
    let Some(key) = model.focused() else { return };
    let Some(column) = choices(key.0).nth(at) else { return };
    if matches!(model.overlay, Overlay::Sort { .. }) {
        model.overlay = Overlay::None;
        sort_by(model, &key, column.key);
    } else {
        toggle_column(model, &key, column.key);
    }
}

/// Runs the line, or the candidate walked to. A candidate that needs more is taken into the line instead.
fn run_command(model: &mut Model) -> Vec<Effect> {
    let Overlay::Command { field, at, .. } = &model.overlay else { return Vec::new() };
    let mut line = field.value().trim().to_owned();
    if let Some(candidate) = at.and_then(|at| complete::candidates(model).into_iter().nth(at)) {
        line = candidate.line.trim_end().to_owned();
        let wants_more = commands::parse(&line)
            .is_ok_and(|(c, rest)| c.args.get(rest.split_whitespace().count()).is_some_and(|a| !a.optional));
        if wants_more && candidate.disabled.is_none() {
            model.overlay = Overlay::Command { field: Field::new(format!("{line} ")), at: None, history: None };
            return Vec::new();
        }
    }
    model.overlay = Overlay::None;
    if line.is_empty() {
        return Vec::new();
    }
    model.history.retain(|l| *l != line);
    if model.history.len() >= HISTORY {
        model.history.remove(0);
    }
    model.history.push(line.clone());
    run_line(model, &line)
}

/// Takes the candidate at a position, as a click does.
pub fn take(model: &mut Model, position: usize) -> Vec<Effect> {
    if position >= entries(model) {
        return Vec::new();
    }
    match &mut model.overlay {
        Overlay::Actions { at, .. } | Overlay::Sort { at } | Overlay::Columns { at } => *at = position,
        Overlay::Command { at, .. } => *at = Some(position),
        Overlay::None
        | Overlay::Help { .. }
        | Overlay::Filter { .. }
        | Overlay::Search { .. }
        | Overlay::Save { .. }
        | Overlay::Paste(_)
        | Overlay::Approve(_) => return Vec::new(),
    }
    accept(model)
}
