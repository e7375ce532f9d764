//! What a check read: opened, searched, kept.

use tui_input::Input as Field;

use crate::console::commands::Call;
use crate::console::findings;
use crate::console::model::{Model, Overlay, Screen};
use crate::console::msg::{Effect, Notice};
use crate::console::nav;

/// Opens what was read for what is under the cursor.
pub(in super::super) fn open(model: &mut Model) {
    let Some((inquiry, spot)) = model.inquiry.as_ref().zip(findings::spot(model)) else { return };
    let lines = findings::lines(inquiry, &spot, model.look.glyphs).into();
    nav::push(model, Screen::Evidence { spot: Some(spot), lines, search: String::new(), scroll: 0 });
}

/// Lists the flows of the tenant whose path is on screen, as they are at this moment.
pub(in super::super) fn flows(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    let Some(lines) = findings::tracked(model) else { return Vec::new() };
    nav::push(model, Screen::Evidence { spot: None, lines: lines.into(), search: String::new(), scroll: 0 });
    Vec::new()
}

pub(in super::super) fn search(model: &mut Model, call: &Call<'_>) -> Vec<Effect> {
    let Screen::Evidence { search, scroll, .. } = model.screen() else { return Vec::new() };
    let before = (search.clone(), *scroll);
    if call.rest.is_empty() {
        model.overlay = Overlay::Search { field: Field::default(), before };
    } else {
        look_for(model, call.rest, before.1);
    }
    Vec::new()
}

/// Shows the first line from `from` on that holds `text`.
pub(in crate::console) fn look_for(model: &mut Model, text: &str, from: usize) {
    let Some(Screen::Evidence { lines, search, scroll, .. }) = model.stack.last_mut() else { return };
    text.clone_into(search);
    match findings::find(lines, text, from, false) {
        Some(at) => *scroll = at,
        None => *scroll = from,
    }
}

pub(in super::super) fn next_match(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    turn(model, false)
}

pub(in super::super) fn previous_match(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    turn(model, true)
}

fn turn(model: &mut Model, back: bool) -> Vec<Effect> {
    let Some(Screen::Evidence { lines, search, scroll, .. }) = model.stack.last_mut() else { return Vec::new() };
    let from = if back { *scroll } else { *scroll + 1 };
    match findings::find(lines, search, from, back) {
        Some(at) => *scroll = at,
        None => {
            let text = format!("nothing holds \"{search}\"");
            model.say(Notice::info(text));
        }
    }
    Vec::new()
}

pub(in super::super) fn save(model: &mut Model, call: &Call<'_>) -> Vec<Effect> {
    if matches!(model.screen(), Screen::Change(_)) {
        return crate::console::change::proposal::save(model);
    }
    if call.rest.is_empty() {
        findings::start_saving(model);
        return Vec::new();
    }
    findings::save(model, call.rest)
}

/// Takes a numbered next step: its command is copied; a way on with a change leads to a plan.
pub(in super::super) fn step(model: &mut Model, call: &Call<'_>) -> Vec<Effect> {
    if matches!(model.screen(), Screen::Change(_)) {
        return super::changes::step(model, call);
    }
    let number = call.args.first().and_then(|word| word.parse::<usize>().ok()).unwrap_or(0);
    let steps = findings::steps(model);
    match number.checked_sub(1).and_then(|at| steps.get(at)) {
        None => model.say(Notice::warning(format!("there is no step {number} here, only 1 to {}", steps.len()))),
        Some(step) => match &step.command {
            Some(command) => return vec![Effect::Copy(command.clone())],
            None => {
                let text = format!("{number}: {} (danger {}); there is no command for it", step.text, step.danger);
                model.say(Notice::info(text));
            }
        },
    }
    Vec::new()
}
