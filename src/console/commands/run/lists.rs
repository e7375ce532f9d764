//! What happens to a list: filter, sort, columns, marks, the next finding.

use tui_input::Input as Field;

use super::moving::rail_moved;
use crate::console::commands::Call;
use crate::console::file::did_you_mean;
use crate::console::list::{Column, Cx, ListId, Sort};
use crate::console::lists::def;
use crate::console::model::{Model, Overlay, Screen};
use crate::console::msg::{Effect, Notice};
use crate::console::update::overlay;
use crate::console::{isolation, nav, query, select};
use crate::inventory::Class;

pub(in super::super) fn filter(model: &mut Model, call: &Call<'_>) -> Vec<Effect> {
    let Some(key) = model.focused() else { return Vec::new() };
    let before = nav::state_mut(model, &key).filter.clone();
    if call.rest.is_empty() {
        model.overlay = Overlay::Filter { field: Field::new(before.clone()), before };
    } else {
        set_filter(model, &key, call.rest);
        for problem in query::parse(call.rest, def(key.0).columns).1 {
            model.say(Notice::warning(problem));
        }
    }
    Vec::new()
}

/// Narrows a list; what is not understood is said for as long as it stands, and not kept.
pub fn set_filter(model: &mut Model, key: &select::Key, text: &str) {
    nav::state_mut(model, key).filter = text.trim_start().to_owned();
    let (_, problems) = query::parse(text, def(key.0).columns);
    model.notice = problems.into_iter().next().map(Notice::warning);
    select::ensure(model);
    rail_moved(model, key);
}

pub(in super::super) fn sort(model: &mut Model, call: &Call<'_>) -> Vec<Effect> {
    let Some(key) = model.focused() else { return Vec::new() };
    match call.args.first() {
        None => {
            let sorted = nav::state_mut(model, &key).sort.column;
            let at = overlay::choices(key.0).position(|c| c.key == sorted).unwrap_or(0);
            model.overlay = Overlay::Sort { at };
        }
        Some(word) => match column(key.0, word) {
            Ok(column) => sort_by(model, &key, column),
            Err(why) => model.say(Notice::warning(why)),
        },
    }
    Vec::new()
}

/// Sorts by `column`; the same again turns around.
pub fn sort_by(model: &mut Model, key: &select::Key, column: &'static str) {
    let state = nav::state_mut(model, key);
    let descending = state.sort.column == column && !state.sort.descending;
    state.sort = Sort { column, descending };
    select::ensure(model);
}

pub(in super::super) fn columns(model: &mut Model, call: &Call<'_>) -> Vec<Effect> {
    let Some(key) = model.focused() else { return Vec::new() };
    match call.args.first() {
        None => model.overlay = Overlay::Columns { at: 0 },
        Some(word) => match column(key.0, word) {
            Ok(column) => toggle_column(model, &key, column),
            Err(why) => model.say(Notice::warning(why)),
        },
    }
    Vec::new()
}

/// Shows or hides a column; the last one stays.
pub fn toggle_column(model: &mut Model, key: &select::Key, column: &'static str) {
    let all = def(key.0).columns.len();
    let state = nav::state_mut(model, key);
    if state.hidden.remove(column) {
        return;
    }
    if state.hidden.len() + 1 < all {
        state.hidden.insert(column);
    } else {
        model.say(Notice::warning("one column has to stay"));
    }
}

fn column(list: ListId, word: &str) -> Result<&'static str, String> {
    let columns: &'static [Column] = def(list).columns;
    let wanted = word.to_lowercase();
    let found = columns.iter().find(|c| c.key == wanted || c.title.to_lowercase() == wanted);
    found.map(|c| c.key).ok_or_else(|| {
        let keys = || columns.iter().map(|c| c.key);
        let help = did_you_mean(&wanted, keys())
            .unwrap_or_else(|| format!("columns: {}", keys().collect::<Vec<_>>().join(" ")));
        format!("no column \"{}\" here; {help}", crate::console::complete::clean_line(word))
    })
}

pub(in super::super) fn mark(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    let Some(key) = model.focused() else { return Vec::new() };
    let state = nav::state_mut(model, &key);
    if let Some(id) = state.cursor.clone()
        && !state.marks.remove(&id)
    {
        state.marks.insert(id);
    }
    Vec::new()
}

pub(in super::super) fn unmark(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    if let Some(key) = model.focused() {
        nav::state_mut(model, &key).marks.clear();
    }
    Vec::new()
}

pub(in super::super) fn next_finding(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    finding(model, true)
}

pub(in super::super) fn previous_finding(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    finding(model, false)
}

/// Goes to the next row with a state that differs, warns or fails, around the ends.
fn finding(model: &mut Model, forward: bool) -> Vec<Effect> {
    if matches!(model.screen(), Screen::Isolation { .. }) {
        if !isolation::next(model, forward) {
            model.say(Notice::info("every barrier stands by routes and rules"));
        }
        return Vec::new();
    }
    let Some(key) = model.focused() else { return Vec::new() };
    let Some(inv) = model.picture().cloned() else { return Vec::new() };
    let Some(state) = model.lists.get(&key) else { return Vec::new() };
    let (def, len) = (def(key.0), state.order.len());
    let cx = Cx { inv: &inv, now: model.now };
    let wrong = |at: &usize| {
        let row = state.order.get(*at).map_or(0, |i| *i as usize);
        def.columns.iter().any(|c| (def.cell)(cx, row, c.key).class.is_some_and(|class| class >= Class::Differs))
    };
    let step = |d: usize| if forward { (state.at + d) % len } else { (state.at + len - d) % len };
    let found = (1..len).map(step).find(wrong);
    match found {
        Some(at) => {
            select::move_to(model, &key, at);
            rail_moved(model, &key);
        }
        None if len > 0 && wrong(&state.at) => model.say(Notice::info("this is the only row with a finding")),
        None => model.say(Notice::info(format!("no row of {} differs, warns or fails", def.title))),
    }
    Vec::new()
}
