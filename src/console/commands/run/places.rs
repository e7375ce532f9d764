//! Going somewhere and coming back.

use std::sync::Arc;

use super::lists::set_filter;
use super::moving::rail_moved;
use crate::console::change::run as running;
use crate::console::commands::{Call, availability};
use crate::console::complete::clean_line;
use crate::console::file::did_you_mean;
use crate::console::list::{ListId, Scope};
use crate::console::lists;
use crate::console::model::{Focus, Layout, Model, Overlay, Screen};
use crate::console::msg::{Effect, Notice};
use crate::console::update::overlay;
use crate::console::{findings, isolation, nav, resolve, select};
use crate::inventory::{Inventory, ObjectId};

/// A place: its word, and the screen it is.
pub type Place = (&'static str, fn() -> Screen);

/// The places of `go`.
pub const PLACES: [Place; 6] = [
    ("overview", || Screen::Overview),
    ("tenants", || Screen::Tenants),
    ("fabric", || Screen::Fabric),
    ("diagnose", Screen::diagnose),
    ("activity", || Screen::Activity),
    ("sources", || Screen::Sources),
];

fn warn(model: &mut Model, text: String) -> Vec<Effect> {
    model.say(Notice::warning(text));
    Vec::new()
}

pub(in super::super) fn go(model: &mut Model, call: &Call<'_>) -> Vec<Effect> {
    let word = call.args.first().copied().unwrap_or_default();
    match PLACES.iter().find(|(name, _)| *name == word) {
        Some((_, screen)) => {
            nav::from_home(model, screen());
            Vec::new()
        }
        None => {
            let names = || PLACES.iter().map(|(name, _)| *name);
            let help = did_you_mean(word, names())
                .unwrap_or_else(|| format!("places: {}", names().collect::<Vec<_>>().join(" ")));
            warn(model, format!("there is no place \"{}\"; {help}", clean_line(word)))
        }
    }
}

/// The tenant called `word`, or one sentence why not.
pub(in super::super) fn find_tenant(inv: &Inventory, word: &str) -> Result<Arc<str>, String> {
    if let Some(tenant) = inv.tenant(word) {
        return Ok(Arc::clone(&tenant.name));
    }
    if let Some(gap) = &inv.tenants_gap {
        return Err(format!("whether there is a tenant \"{}\" is not known: {}", clean_line(word), gap.why));
    }
    let near = did_you_mean(word, inv.tenants.iter().map(|t| &*t.name));
    let help = near.map_or_else(String::new, |n| format!("; {n}"));
    Err(format!("there is no tenant \"{}\"{help}", clean_line(word)))
}

pub(in super::super) fn tenant(model: &mut Model, call: &Call<'_>) -> Vec<Effect> {
    let Some(inv) = model.picture().cloned() else { return Vec::new() };
    match find_tenant(&inv, call.rest) {
        Ok(name) => nav::open_board(model, &name, None),
        Err(why) => return warn(model, why),
    }
    Vec::new()
}

pub(in super::super) fn workload(model: &mut Model, call: &Call<'_>) -> Vec<Effect> {
    let Some(inv) = model.picture().cloned() else { return Vec::new() };
    let wanted = call.rest;
    let found = match (wanted.split_once('/'), wanted.parse::<u32>()) {
        (Some((tenant, name)), _) => inv.workloads.iter().find(|w| &*w.tenant == tenant && &*w.name == name),
        (None, Ok(vmid)) => inv.workloads.iter().find(|w| w.vmid == vmid),
        (None, Err(_)) => {
            let mut named = inv.workloads.iter().filter(|w| &*w.name == wanted);
            let first = named.next();
            if let (Some(one), Some(_)) = (first, named.next()) {
                let name = clean_line(wanted);
                return warn(model, format!("several tenants have \"{name}\"; write e.g. {}/{name}", one.tenant));
            }
            first
        }
    };
    match (found, &inv.workloads_gap) {
        (Some(w), _) => nav::goto(model, &ObjectId::Workload(w.vmid)),
        (None, Some(gap)) => {
            let why = format!("whether there is \"{}\" is not known: {}", clean_line(wanted), gap.why);
            return warn(model, why);
        }
        (None, None) => return warn(model, format!("there is no workload \"{}\"", clean_line(wanted))),
    }
    Vec::new()
}

/// Runs every command that is named after a list.
pub(in super::super) fn list(model: &mut Model, call: &Call<'_>) -> Vec<Effect> {
    let Some(list) = lists::ALL.into_iter().find(|id| lists::def(*id).word == call.command.name) else {
        return Vec::new();
    };
    let scope = match (call.args.first(), model.picture().cloned()) {
        (None, _) => Scope::All,
        (Some(word), Some(inv)) => match find_tenant(&inv, word) {
            Ok(tenant) => Scope::Tenant(tenant),
            Err(why) => return warn(model, why),
        },
        (Some(_), None) => return warn(model, "nothing was read yet".to_owned()),
    };
    if matches!(model.screen(), Screen::List { .. }) {
        nav::pop(model);
    }
    nav::push(model, Screen::List { list, scope });
    Vec::new()
}

pub(in super::super) fn zoom(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    if matches!(model.screen(), Screen::List { .. }) {
        nav::pop(model);
        return Vec::new();
    }
    let Some((from, scope)) = model.focused() else { return Vec::new() };
    let list = nav::zoomed(from);
    let scope = if list == from { scope } else { Scope::All };
    widen(model, list, scope);
    Vec::new()
}

/// Shows `list` at full width with the cursor on the same object.
fn widen(model: &mut Model, list: ListId, scope: Scope) {
    let cursor = model.selected().map(|id| nav::same_in(list, id));
    nav::push(model, Screen::List { list, scope: scope.clone() });
    if let Some(id) = cursor {
        nav::cursor_to(model, &(list, scope), &id);
    }
}

pub(in super::super) fn scope(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    let Some((list, now)) = model.focused() else { return Vec::new() };
    let to = match (now, availability::tenant_for(model, list)) {
        (Scope::Tenant(_), _) => Scope::All,
        (Scope::All, Some(tenant)) => Scope::Tenant(tenant),
        (Scope::All, None) => return Vec::new(),
    };
    let list = if to == Scope::All { nav::zoomed(list) } else { list };
    if !availability::by_tenant(list) {
        return Vec::new();
    }
    let cursor = model.selected().map(|id| nav::same_in(list, id));
    if let Some(Screen::List { list: shown, scope }) = model.stack.last_mut() {
        (*shown, *scope) = (list, to.clone());
        model.focus = Focus::Pane(list);
        if let Some(id) = cursor {
            nav::cursor_to(model, &(list, to), &id);
        }
    } else {
        widen(model, list, to);
    }
    Vec::new()
}

pub(in super::super) fn next_pane(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    turn(model, 1)
}

pub(in super::super) fn previous_pane(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    turn(model, -1)
}

fn turn(model: &mut Model, by: isize) -> Vec<Effect> {
    if matches!(model.screen(), Screen::Isolation { .. }) {
        isolation::turn(model, by);
        return Vec::new();
    }
    let stops = nav::stops(model);
    let len = isize::try_from(stops.len()).unwrap_or(0);
    let at = stops.iter().position(|f| *f == model.focus).and_then(|i| isize::try_from(i).ok()).unwrap_or(0);
    let next = (at + by).checked_rem_euclid(len).and_then(|i| usize::try_from(i).ok());
    if let Some(to) = next.and_then(|i| stops.get(i)) {
        nav::focus(model, *to);
    }
    Vec::new()
}

pub(in super::super) fn back(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    if !matches!(model.overlay, Overlay::None) {
        overlay::close(model);
        return Vec::new();
    }
    if matches!(model.screen(), Screen::Resolve { .. }) && resolve::stop(model) {
        return vec![Effect::StopResolve];
    }
    if matches!(model.screen(), Screen::Diagnose { .. } | Screen::Isolation { .. }) && findings::stop(model) {
        return vec![Effect::StopCheck];
    }
    if running::to_whole(model) {
        return Vec::new();
    }
    if let Some(key) = model.focused() {
        let state = nav::state_mut(model, &key);
        if !state.filter.is_empty() {
            set_filter(model, &key, "");
            return Vec::new();
        }
        if !state.marks.is_empty() {
            state.marks.clear();
            return Vec::new();
        }
    }
    if matches!(model.screen(), Screen::Tenants) && model.focus != Focus::Rail && model.layout() > Layout::Compact {
        model.focus = Focus::Rail;
    } else if !nav::pop(model) {
        let quit = model.keymap.key_for(crate::console::update::mode(model), "quit", model.look.glyphs.ascii);
        let quit = quit.map_or_else(String::new, |key| format!("; {key} quits"));
        model.notice = Some(Notice::info(format!("this is the first screen{quit}")));
    } else if let Some(key) = model.focused() {
        select::ensure(model);
        rail_moved(model, &key);
        model.follow_at = None;
    }
    Vec::new()
}
