//! Which rows of a list are shown, in which order, and where the cursor is among them.
//!
//! Everything is held by identity. Order is computed when the picture, the filter, the sort or the scope changes, and
//! only for lists on screen; what a filter compares is made once per picture and list, and the rows are sorted once for
//! all letters of a filter.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::list::{Cx, ListDef, ListId, ListState, Scope, Sort, SortKey};
use super::lists::def;
use super::model::{Model, Overlay, Screen};
use super::msg::{Demand, Notice};
use super::query::{self, Judge, RowText};
use crate::inventory::{Inventory, ObjectId};

/// Rows whose texts are made at a time: one or two milliseconds of work.
const PORTION: usize = 1000;

/// A list as it is shown somewhere.
pub type Key = (ListId, Scope);

/// What was computed from the rest of the model and need not be computed again.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    /// Counts the pictures shown.
    epoch: u64,
    /// The picture shown before, while a new one is taken in: neighbours of vanished rows are looked up in it.
    before: Option<Arc<Inventory>>,
    /// What the order of a list was computed from.
    inputs: HashMap<Key, Inputs>,
    /// Where the cursor of a list that ran empty would like to be.
    wanted: HashMap<Key, ObjectId>,
    /// Rows of a scope in order, before any filter.
    sorted: HashMap<Key, (Sort, Arc<[u32]>)>,
    /// Comparable text of the first rows of a list; what is missing follows when it is needed.
    texts: HashMap<ListId, Vec<RowText>>,
    /// Demand last sent.
    pub demand: Demand,
    /// Wake-up last asked for.
    pub wake: Option<Timestamp>,
    /// Row of the last click, for the second one.
    pub clicked: Option<(ListId, ObjectId)>,
}

#[derive(Debug, Clone, PartialEq)]
struct Inputs {
    epoch: u64,
    filter: String,
    sort: Sort,
}

/// Another picture is shown from now on; `before` is the one shown until now.
pub fn picture_changed(model: &mut Model, before: Option<Arc<Inventory>>) {
    model.kept.epoch += 1;
    model.kept.before = before;
    model.kept.sorted.clear();
    model.kept.texts.clear();
    ensure(model);
    model.kept.before = None;
}

/// Brings every list on screen up to date; cheap when it is.
pub fn ensure(model: &mut Model) {
    if matches!(model.screen(), Screen::Tenants) {
        refresh(model, &(ListId::Tenants, Scope::All));
        settle_board(model);
    }
    for key in model.visible_lists() {
        refresh(model, &key);
    }
}

/// The board shows a tenant as soon as there is one, and another one when its own is gone.
fn settle_board(model: &mut Model) {
    let Some(ObjectId::Tenant(cursor)) = model.lists.get(&(ListId::Tenants, Scope::All)).and_then(|s| s.cursor.clone())
    else {
        return;
    };
    let known = |t: &Arc<str>| model.picture().is_some_and(|inv| inv.tenant(t).is_some());
    if !model.board.as_ref().is_some_and(known) {
        model.board = Some(cursor);
        model.follow_at = None;
    }
}

fn refresh(model: &mut Model, key: &Key) {
    let def = def(key.0);
    let state = model.lists.entry(key.clone()).or_insert_with(|| ListState::new(def.sort));
    let inputs = Inputs { epoch: model.kept.epoch, filter: state.filter.clone(), sort: state.sort.clone() };
    let old = model.kept.inputs.get(key);
    if old == Some(&inputs) {
        return;
    }
    let Some(inv) = model.picture().cloned() else { return };
    let old_epoch = old.map(|o| o.epoch);
    let old_inv = match old_epoch {
        Some(epoch) if epoch == inputs.epoch => Some(Arc::clone(&inv)),
        Some(epoch) if epoch + 1 == inputs.epoch => model.kept.before.clone(),
        _ => None,
    };
    let (order, total) = order_of(model, &inv, key, &inputs);
    let wanted = model.kept.wanted.remove(key);
    let Some(state) = model.lists.get_mut(key) else { return };
    let lost = if old_epoch == Some(inputs.epoch) { 0 } else { prune_marks(state, def, &inv, &key.1) };
    let cursor = state.cursor.clone().or(wanted);
    let at = place(def, &inv, &order, cursor.as_ref(), state, old_inv.as_deref());
    state.cursor = order.get(at).and_then(|i| (def.id_of)(&inv, *i as usize));
    state.at = if state.cursor.is_some() { at } else { 0 };
    state.top = state.top.min(order.len().saturating_sub(1));
    state.total = total;
    state.order = order;
    if state.cursor.is_none()
        && let Some(id) = cursor
    {
        model.kept.wanted.insert(key.clone(), id);
    }
    model.kept.inputs.insert(key.clone(), inputs);
    if lost > 0 {
        let (rows, are) = if lost == 1 { ("row", "is") } else { ("rows", "are") };
        model.say(Notice::warning(format!("{lost} marked {rows} of {} {are} gone", def.title)));
    }
}

/// Rows of `key` in order, and how many there are before the filter.
fn order_of(model: &mut Model, inv: &Arc<Inventory>, key: &Key, inputs: &Inputs) -> (Arc<[u32]>, usize) {
    let def = def(key.0);
    let rows = sorted(model, inv, key, &inputs.sort);
    let total = rows.len();
    let (query, _) = query::parse(&inputs.filter, def.columns);
    if query.is_empty() {
        return (rows, total);
    }
    prepare(model, def, usize::MAX);
    let texts = model.kept.texts.get(&def.id).map(Vec::as_slice).unwrap_or_default();
    let mut judge = Judge::default();
    let wanted = |i: &u32| texts.get(*i as usize).is_some_and(|row| judge.wants(&query, row));
    (rows.iter().copied().filter(wanted).collect(), total)
}

/// All rows of the scope of `key` in order. A filter takes rows away and never moves one: no letter of it sorts.
fn sorted(model: &mut Model, inv: &Arc<Inventory>, key: &Key, sort: &Sort) -> Arc<[u32]> {
    if let Some((by, rows)) = model.kept.sorted.get(key)
        && by == sort
    {
        return Arc::clone(rows);
    }
    let def = def(key.0);
    let len = u32::try_from((def.len)(inv)).unwrap_or(u32::MAX);
    let in_scope = |i: &u32| match &key.1 {
        Scope::All => true,
        Scope::Tenant(t) => def.is_of(inv, *i as usize, t),
    };
    let mut keyed: Vec<(SortKey, u32)> =
        (0..len).filter(in_scope).map(|i| ((def.sort_key)(inv, i as usize, sort.column), i)).collect();
    keyed.sort_by(|a, b| compare(&a.0, &b.0, sort.descending));
    let rows: Arc<[u32]> = keyed.into_iter().map(|(_, i)| i).collect();
    model.kept.sorted.insert(key.clone(), (sort.clone(), Arc::clone(&rows)));
    rows
}

/// Numbers before words before the unknown, whatever the direction.
fn compare(a: &SortKey, b: &SortKey, descending: bool) -> Ordering {
    let turn = |o: Ordering| if descending { o.reverse() } else { o };
    match (a, b) {
        (SortKey::Num(a), SortKey::Num(b)) => turn(a.total_cmp(b)),
        (SortKey::Text(a), SortKey::Text(b)) => turn(a.cmp(b)),
        (SortKey::None, SortKey::None) => Ordering::Equal,
        (SortKey::None, _) | (SortKey::Text(_), SortKey::Num(_)) => Ordering::Greater,
        (_, SortKey::None) | (SortKey::Num(_), SortKey::Text(_)) => Ordering::Less,
    }
}

/// Makes the texts of at most `most` further rows of a list.
fn prepare(model: &mut Model, def: &'static ListDef, most: usize) {
    let Some(inv) = model.picture().cloned() else { return };
    let cx = Cx { inv: &inv, now: model.now };
    let texts = model.kept.texts.entry(def.id).or_default();
    let (from, len) = (texts.len(), (def.len)(&inv));
    let row = |i| RowText::new(def.columns.iter().map(|c| (def.cell)(cx, i, c.key).text));
    texts.extend((from..len.min(from.saturating_add(most))).map(row));
}

/// Uses the time between `/` and the first letter: while the filter line is open, each call makes the texts of a few
/// more rows, so that no letter has to wait for all of them.
pub fn prepare_filter(model: &mut Model) {
    if let Some(def) = unprepared(model) {
        prepare(model, def, PORTION);
    }
}

/// The list whose filter line is open and whose texts are not all made.
pub fn unprepared(model: &Model) -> Option<&'static ListDef> {
    if !matches!(model.overlay, Overlay::Filter { .. }) {
        return None;
    }
    let def = def(model.focused()?.0);
    let made = model.kept.texts.get(&def.id).map_or(0, Vec::len);
    ((def.len)(model.picture()?) > made).then_some(def)
}

/// Takes marks off rows that are gone; returns how many. While rows are not known, nothing is gone.
fn prune_marks(state: &mut ListState, def: &ListDef, inv: &Inventory, scope: &Scope) -> usize {
    let len = (def.len)(inv);
    if state.marks.is_empty() || (len == 0 && (def.gap)(inv).is_some()) {
        return 0;
    }
    let in_scope = |i: &usize| match scope {
        Scope::All => true,
        Scope::Tenant(t) => def.is_of(inv, *i, t),
    };
    let ids: HashSet<ObjectId> = (0..len).filter(in_scope).filter_map(|i| (def.id_of)(inv, i)).collect();
    let before = state.marks.len();
    state.marks.retain(|id| ids.contains(id));
    before - state.marks.len()
}

/// Where the cursor goes: to its object, else to the nearest row that is left, else to the same place.
fn place(
    def: &ListDef,
    inv: &Inventory,
    order: &[u32],
    cursor: Option<&ObjectId>,
    state: &ListState,
    old_inv: Option<&Inventory>,
) -> usize {
    let Some(cursor) = cursor else { return 0 };
    let id_at = |i: &u32| (def.id_of)(inv, *i as usize);
    if let Some(at) = order.iter().position(|i| id_at(i).as_ref() == Some(cursor)) {
        return at;
    }
    let last = order.len().saturating_sub(1);
    let Some(old_inv) = old_inv else { return state.at.min(last) };
    let around = |survivor: &dyn Fn(u32) -> Option<usize>| {
        let at = |at: Option<usize>| survivor(*state.order.get(at?)?);
        (1..=state.order.len()).find_map(|d| at(state.at.checked_add(d)).or_else(|| at(state.at.checked_sub(d))))
    };
    let found = if std::ptr::eq(inv, old_inv) {
        // The same picture: rows are known by their position in it.
        let new: HashMap<u32, usize> = order.iter().enumerate().map(|(at, i)| (*i, at)).collect();
        around(&|i| new.get(&i).copied())
    } else {
        let new: HashMap<ObjectId, usize> =
            order.iter().enumerate().filter_map(|(at, i)| Some((id_at(i)?, at))).collect();
        around(&|i| new.get(&(def.id_of)(old_inv, i as usize)?).copied())
    };
    found.unwrap_or(state.at.min(last))
}

/// Puts the cursor of a list on row `at` (clamped).
pub fn move_to(model: &mut Model, key: &Key, at: usize) {
    let Some(inv) = model.picture().cloned() else { return };
    let Some(state) = model.lists.get_mut(key) else { return };
    let at = at.min(state.order.len().saturating_sub(1));
    let Some(i) = state.order.get(at) else { return };
    state.cursor = (def(key.0).id_of)(&inv, *i as usize);
    state.at = at;
}

/// Puts the cursor of a list on `id`; whether it is there.
pub fn move_to_id(model: &mut Model, key: &Key, id: &ObjectId) -> bool {
    refresh(model, key);
    let Some(inv) = model.picture().cloned() else { return false };
    let Some(state) = model.lists.get(key) else { return false };
    let is = |i: &u32| (def(key.0).id_of)(&inv, *i as usize).as_ref() == Some(id);
    let Some(at) = state.order.iter().position(is) else { return false };
    move_to(model, key, at);
    true
}
