//! What concerns the console as a whole.

use std::sync::Arc;

use tui_input::Input as Field;

use crate::console::commands::Call;
use crate::console::complete::clean_line;
use crate::console::file::did_you_mean;
use crate::console::model::{Model, Overlay, Screen};
use crate::console::msg::{Effect, Notice};
use crate::console::update::overlay;
use crate::console::widgets::format;
use crate::console::{change, findings, isolation, resolve, select, theme};
use crate::inventory::SourceId;

pub(in super::super) fn quit(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    change::quit(model)
}

pub(in super::super) fn suspend(_: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    vec![Effect::Suspend]
}

pub(in super::super) fn redraw(_: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    vec![Effect::Redraw]
}

pub(in super::super) fn command(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    model.overlay = Overlay::Command { field: Field::default(), at: None, history: None };
    Vec::new()
}

pub(in super::super) fn help(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    model.overlay = Overlay::Help { scroll: 0, search: Field::default() };
    Vec::new()
}

pub(in super::super) fn complete(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    if matches!(model.overlay, Overlay::None) {
        change::form::turn(model, 1);
        return Vec::new();
    }
    overlay::walk(model, 1);
    Vec::new()
}

pub(in super::super) fn complete_back(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    if matches!(model.overlay, Overlay::None) {
        change::form::turn(model, -1);
        return Vec::new();
    }
    overlay::walk(model, -1);
    Vec::new()
}

pub(in super::super) fn refresh(model: &mut Model, call: &Call<'_>) -> Vec<Effect> {
    let Some(word) = call.args.first() else {
        if matches!(model.screen(), Screen::Change(_)) {
            return super::changes::again(model);
        }
        if matches!(model.screen(), Screen::Resolve { .. }) {
            return resolve::again(model);
        }
        if matches!(model.screen(), Screen::Diagnose { .. } | Screen::Finding { .. } | Screen::Evidence { .. }) {
            return findings::again(model);
        }
        if matches!(model.screen(), Screen::Isolation { .. } | Screen::Cell { .. }) {
            return isolation::again(model);
        }
        model.say(Notice::progress("reading all sources again"));
        return vec![Effect::Refresh(None)];
    };
    let source = SourceId::ALL.into_iter().find(|s| s.label().eq_ignore_ascii_case(word));
    let off = |s: SourceId| model.picture().is_some_and(|inv| !inv.sources.get(s).configured);
    match source {
        Some(source) if off(source) => {
            model.say(Notice::warning(format!("{} is not set up for this site", source.label())));
            Vec::new()
        }
        Some(source) => {
            model.say(Notice::progress(format!("reading {} again", source.label())));
            vec![Effect::Refresh(Some(source))]
        }
        None => {
            let labels = || SourceId::ALL.into_iter().map(SourceId::label);
            let help = did_you_mean(word, labels())
                .unwrap_or_else(|| format!("sources: {}", labels().collect::<Vec<_>>().join(" ")));
            model.say(Notice::warning(format!("there is no source \"{}\"; {help}", clean_line(word))));
            Vec::new()
        }
    }
}

pub(in super::super) fn freeze(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    if let Some(before) = model.frozen.take() {
        select::picture_changed(model, Some(before));
        model.say(Notice::info("the picture moves again"));
    } else {
        model.frozen.clone_from(&model.inv);
        let at = format::minute(model.now);
        model.say(Notice::info(format!("frozen as of {at}; reading goes on behind it")));
    }
    Vec::new()
}

pub(in super::super) fn theme(model: &mut Model, call: &Call<'_>) -> Vec<Effect> {
    let themes = Arc::clone(&model.themes);
    let chosen = match call.args.first() {
        Some(name) => themes.iter().find(|t| t.name == *name),
        None => {
            let at = themes.iter().position(|t| t.name == model.look.theme).map_or(0, |i| i + 1);
            themes.iter().cycle().nth(at)
        }
    };
    match (chosen, call.args.first()) {
        (Some(theme), _) => {
            model.look = Arc::new(theme::resolve(theme, model.look.depth, model.look.glyphs));
            model.say(Notice::info(format!("theme {}", theme.name)));
        }
        (None, word) => {
            let word = word.copied().unwrap_or_default();
            let names = || themes.iter().map(|t| t.name.as_str());
            let help = did_you_mean(word, names())
                .unwrap_or_else(|| format!("themes: {}", names().collect::<Vec<_>>().join(" ")));
            model.say(Notice::warning(format!("there is no theme \"{}\"; {help}", clean_line(word))));
        }
    }
    Vec::new()
}
