//! Plans, runs, the journal.

use crate::console::change::{self, Page, Sheet, Wish, form, handover, journal as shelf, proposal, run as running};
use crate::console::commands::Call;
use crate::console::complete::clean_line;
use crate::console::file::did_you_mean;
use crate::console::model::Model;
use crate::console::msg::{Effect, Notice};
use crate::provision::plans::table::{MAKERS, maker};

fn warn(model: &mut Model, why: String) -> Vec<Effect> {
    model.say(Notice::warning(why));
    Vec::new()
}

pub(in super::super) fn write(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    change::toggle(model);
    Vec::new()
}

pub(in super::super) fn onboard(model: &mut Model, call: &Call<'_>) -> Vec<Effect> {
    let name = call.args.first().map(|name| clean_line(name));
    form::open(model, name.as_deref())
}

/// Any plan of the table, by its name.
pub(in super::super) fn plan(model: &mut Model, call: &Call<'_>) -> Vec<Effect> {
    let Some((name, words)) = call.args.split_first() else { return Vec::new() };
    match maker(name) {
        Some(found) => {
            let words: Vec<String> = words.iter().map(|word| clean_line(word)).collect();
            match found.accepts(&words) {
                Ok(()) => proposal::ask(model, Wish { name: found.name, words }),
                Err(why) => warn(model, why),
            }
        }
        None => {
            let names = || MAKERS.iter().map(|maker| maker.name);
            let help = did_you_mean(name, names())
                .unwrap_or_else(|| format!("plans: {}", names().collect::<Vec<_>>().join(" ")));
            warn(model, format!("there is no plan \"{}\"; {help}", clean_line(name)))
        }
    }
}

pub(in super::super) fn apply(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    proposal::apply(model)
}

pub(in super::super) fn stop(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    running::stop(model)
}

pub(in super::super) fn run(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    running::show(model)
}

pub(in super::super) fn undo(model: &mut Model, call: &Call<'_>) -> Vec<Effect> {
    match shelf::meant(model, call.args.first().copied()) {
        Ok(id) => proposal::ask(model, Wish::of("undo", id)),
        Err(why) => warn(model, format!("undo: {why}")),
    }
}

pub(in super::super) fn resume(model: &mut Model, call: &Call<'_>) -> Vec<Effect> {
    let open = model.changes.shelf.as_ref().and_then(|shelf| shelf.unfinished().next()).map(|entry| entry.id);
    let id = match (call.args.first(), open) {
        (None, Some(id)) => Ok(id),
        (word, _) => shelf::meant(model, word.copied()),
    };
    match id {
        Ok(id) if shelf::entry(model, id).is_some() => shelf::unfinished(model, id),
        Ok(id) => warn(model, format!("{id} is no change of this site")),
        Err(why) => warn(model, format!("resume: {why}")),
    }
}

pub(in super::super) fn journal(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    shelf::open(model)
}

/// The sheet for a tenant's people.
pub(in super::super) fn hand_over(model: &mut Model, call: &Call<'_>) -> Vec<Effect> {
    let named = match (call.args.first(), model.picture()) {
        (Some(name), Some(inv)) => super::places::find_tenant(inv, name),
        (Some(_), None) => Err("nothing was read yet".to_owned()),
        (None, _) => handover::ready(model),
    };
    match named {
        Ok(tenant) => handover::open(model, tenant),
        Err(why) => warn(model, format!("hand over: {why}")),
    }
}

/// Opens what is under the cursor of a page.
pub(in super::super) fn open(model: &mut Model) -> Vec<Effect> {
    let of = match change::page(model) {
        Some(Page::Form) => return form::next(model),
        Some(Page::Unfinished { id }) => Sheet::Entry(*id),
        Some(Page::Plan { at }) => Sheet::Step(*at),
        Some(Page::Run { at }) => match &model.changes.run {
            Some(run) => Sheet::Log(at.unwrap_or_else(|| run.current())),
            None => return Vec::new(),
        },
        Some(Page::Journal { .. }) => match shelf::under_cursor(model) {
            Some(id) => Sheet::Entry(id),
            None => return Vec::new(),
        },
        Some(Page::Text { .. }) | None => return Vec::new(),
    };
    change::show(model, Page::Text { of, scroll: 0 });
    Vec::new()
}

/// Shows the plan as YAML.
pub(in super::super) fn data(model: &mut Model) -> Vec<Effect> {
    if !matches!(change::page(model), Some(Page::Text { .. })) {
        change::show(model, Page::Text { of: Sheet::Yaml, scroll: 0 });
    }
    Vec::new()
}

/// Takes a numbered way on.
pub(in super::super) fn step(model: &mut Model, call: &Call<'_>) -> Vec<Effect> {
    let number = call.args.first().and_then(|word| word.parse::<usize>().ok()).unwrap_or(0);
    if handover::is_shown(model) {
        return handover::take(model, number);
    }
    let ways = match (change::page(model), &model.changes.run) {
        (Some(Page::Unfinished { id }), _) => running::ways(*id),
        (Some(Page::Run { .. }), Some(run)) => running::ways_on(run),
        _ => Vec::new(),
    };
    running::take(model, &ways, number)
}

/// Reads what is on a page again.
pub(in super::super) fn again(model: &mut Model) -> Vec<Effect> {
    match change::page(model) {
        Some(Page::Plan { .. } | Page::Unfinished { .. }) => proposal::again(model),
        Some(Page::Journal { .. }) => shelf::open(model),
        Some(Page::Text { of: Sheet::HandOver, .. }) => {
            let mut effects: Vec<Effect> =
                handover::tenant(model).into_iter().flat_map(|tenant| handover::open(model, tenant)).collect();
            effects.push(Effect::Refresh(None));
            effects
        }
        _ => {
            model.say(Notice::progress("reading all sources again"));
            vec![Effect::Refresh(None)]
        }
    }
}
