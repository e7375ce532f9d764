//! `update`: the only place that changes the model.

pub mod overlay;

mod demand;
mod mouse;
mod wake;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::change::{self, Page};
use super::commands::{self, Availability, Call, Command, Group};
use super::keymap::{self, Found, Mode};
use super::model::{Layout, Model, Overlay, Screen};
use super::msg::{Effect, Msg, Notice};
use super::{findings, isolation, nav, resolve, select};
use crate::inventory::{Class, Inventory};
use crate::terminal::input::{Input, Key, KeyCode};

/// Longest key sequence that is waited for.
const SEQUENCE: usize = 4;

/// Effects of the start: title and first wake-up.
pub fn start(model: &mut Model) -> Vec<Effect> {
    let title = Effect::Title(format!("{} · deevnet-console", crate::text::clean(&model.site_name)));
    let mut effects = vec![title];
    finish(model, &mut effects);
    effects
}

/// Takes one message in. Pure: no I/O, no clock, no waiting.
pub fn update(model: &mut Model, msg: Msg) -> Vec<Effect> {
    let mut effects = match msg {
        Msg::Input(input) => take_input(model, input),
        Msg::Inventory(inv) => {
            take_inventory(model, inv);
            Vec::new()
        }
        Msg::Now(now) => take_time(model, now),
        Msg::Drawn(hits) => {
            model.hits = hits;
            return demand::drawn(model);
        }
        Msg::Notice(notice) => {
            model.say(notice);
            Vec::new()
        }
        Msg::Heard(id, heard) => {
            resolve::heard(model, id, *heard);
            Vec::new()
        }
        Msg::Checking { id, diagnosis, took } => {
            findings::came(model, id, diagnosis, took);
            Vec::new()
        }
        Msg::Checked { id, diagnosis, took } => {
            findings::checked(model, id, diagnosis, took);
            Vec::new()
        }
        Msg::Saved { dir, result } => {
            findings::saved(model, &dir, result);
            Vec::new()
        }
        Msg::Table { id, matrix } => {
            isolation::came(model, id, matrix);
            Vec::new()
        }
        Msg::Judged { id, diagnosis, matrix } => {
            isolation::judged(model, id, diagnosis, matrix);
            Vec::new()
        }
        Msg::Edited(text) => {
            if text.is_some() {
                model.say(Notice::info("the edited text was thrown away: this console only reads"));
            }
            vec![Effect::Redraw]
        }
        Msg::Change(id, told) => change::told(model, id, *told),
        Msg::Journal(shelf) => change::journal::came(model, shelf),
        Msg::Shutdown => vec![Effect::Quit],
        Msg::Repaint => vec![Effect::Redraw],
    };
    finish(model, &mut effects);
    change::handover::mind(model, &effects);
    effects
}

/// Brings everything derived up to date.
fn finish(model: &mut Model, effects: &mut Vec<Effect>) {
    select::ensure(model);
    nav::settle(model);
    select::ensure(model);
    overlay::clamp(model);
    select::prepare_filter(model);
    let wake = wake::next(model);
    if model.kept.wake != Some(wake) {
        model.kept.wake = Some(wake);
        effects.push(Effect::WakeAt(wake));
    }
}

fn take_inventory(model: &mut Model, inv: Arc<Inventory>) {
    let before = model.inv.replace(inv);
    if model.frozen.is_none() {
        give_way(model, before.as_deref());
        resolve::picture_came(model);
        select::picture_changed(model, before);
    }
}

/// What was last said gives way to a finding that came since, and "reading again" to what was read.
fn give_way(model: &mut Model, before: Option<&Inventory>) {
    let news = model.inv.as_deref().map(|i| &i.attention) != before.map(|i| &i.attention);
    if model.notice.as_ref().is_some_and(|n| n.class == Class::Progress || n.class == Class::Info && news) {
        model.notice = None;
    }
}

/// Time never runs backwards; a wake-up that was asked for and has come is asked for anew.
fn take_time(model: &mut Model, now: jiff::Timestamp) -> Vec<Effect> {
    model.now = model.now.max(now);
    if model.kept.wake.is_some_and(|at| at <= model.now) {
        model.kept.wake = None;
    }
    if model.follow_at.is_some_and(|at| at <= model.now) {
        nav::follow_now(model);
    }
    change::take_time(model)
}

fn take_input(model: &mut Model, input: Input) -> Vec<Effect> {
    match input {
        Input::Key(key) => take_key(model, key.normal()),
        Input::Mouse(mouse) if model.layout() != Layout::TooSmall => mouse::take(model, mouse),
        Input::Paste(text) if model.layout() != Layout::TooSmall => {
            overlay::paste(model, &text);
            Vec::new()
        }
        Input::Resize { width, height } => {
            resize(model, (width, height));
            vec![Effect::Redraw]
        }
        Input::Mouse(_) | Input::Paste(_) | Input::FocusGained | Input::FocusLost => Vec::new(),
    }
}

/// A terminal that is too small changes nothing but the size, so that all is as before when it has grown.
fn resize(model: &mut Model, size: (u16, u16)) {
    model.size = size;
    model.hits = Arc::from([]);
    let now = model.layout();
    if now != Layout::TooSmall {
        let before = std::mem::replace(&mut model.arranged, now);
        select::ensure(model);
        nav::relayout(model, before);
    }
}

/// What has the keys.
#[must_use]
pub fn mode(model: &Model) -> Mode {
    if model.layout() == Layout::TooSmall {
        return Mode::Everywhere;
    }
    match (&model.overlay, model.screen()) {
        (
            Overlay::Command { .. }
            | Overlay::Filter { .. }
            | Overlay::Search { .. }
            | Overlay::Save { .. }
            | Overlay::Paste(_)
            | Overlay::Approve(_),
            _,
        )
        | (Overlay::None, Screen::Change(Page::Form)) => Mode::Field,
        (Overlay::None, screen) => screen_mode(model, screen),
        _ => Mode::Overlay,
    }
}

/// The mode of the screen beneath any overlay.
#[must_use]
pub fn screen_mode(model: &Model, screen: &Screen) -> Mode {
    match screen {
        Screen::Tenants if model.layout() > Layout::Compact => Mode::Board,
        Screen::Board { .. } => Mode::Board,
        screen if screen.is_text() => Mode::Text,
        _ => Mode::List,
    }
}

fn take_key(model: &mut Model, key: Key) -> Vec<Effect> {
    model.kept.clicked = None;
    model.notice = None;
    if let Some(effects) = change::approve::answer(model, key) {
        model.prefix.clear();
        return effects;
    }
    if model.layout() != Layout::TooSmall && overlay::edit(model, key) {
        model.prefix.clear();
        return Vec::new();
    }
    let mode = mode(model);
    let keymap = Arc::clone(&model.keymap);
    model.prefix.push(key);
    match keymap.find(mode, &model.prefix) {
        Found::Line(line) => {
            model.prefix.clear();
            run_line(model, line)
        }
        Found::Prefix if model.prefix.len() < SEQUENCE => Vec::new(),
        _ => {
            let keys = std::mem::take(&mut model.prefix);
            unknown(model, mode, &keys);
            Vec::new()
        }
    }
}

/// Says that a key does nothing; one that ends a sequence with `esc` is no mistake.
fn unknown(model: &mut Model, mode: Mode, keys: &[Key]) {
    let gave_up = keys.len() > 1 && keys.last().is_some_and(|k| k.code == KeyCode::Esc);
    if gave_up || model.layout() == Layout::TooSmall || !matches!(model.overlay, Overlay::None) {
        return;
    }
    let ascii = model.look.glyphs.ascii;
    let help = model.keymap.key_for(mode, "help", ascii);
    let help = help.unwrap_or_else(|| ":help".to_owned());
    let keys = crate::text::clean(&keymap::display(keys, ascii)).into_owned();
    model.notice = Some(Notice::info(format!("{keys} does nothing here. {help} shows the keys")));
}

/// Whether a command may run over an overlay or in a terminal that is too small.
fn admitted(model: &Model, command: &Command) -> bool {
    let works_in_overlays =
        command.group == Group::Move || matches!(command.name, "back" | "open" | "complete" | "complete-back");
    match (model.layout(), &model.overlay) {
        (Layout::TooSmall, _) => command.always,
        (_, Overlay::None) => true,
        _ => command.always || works_in_overlays,
    }
}

/// Runs a command line, from a key, the `:` line or the mouse. What cannot run says why.
pub fn run_line(model: &mut Model, line: &str) -> Vec<Effect> {
    let (command, rest) = match commands::parse(line) {
        Ok(found) => found,
        Err(why) => {
            model.say(Notice::warning(why));
            return Vec::new();
        }
    };
    if !admitted(model, command) {
        return Vec::new();
    }
    if let Availability::Disabled(why) = command.availability(model) {
        model.say(Notice::info(format!("{}: {why}", command.title)));
        return Vec::new();
    }
    let args: Vec<&str> = rest.split_whitespace().collect();
    if let Some(missing) = command.args.get(args.len()).filter(|a| !a.optional) {
        model.say(Notice::warning(format!("{} wants {}: {}", command.name, missing.name, command.usage())));
        return Vec::new();
    }
    let open_ended = command.args.iter().any(|a| matches!(a.kind, commands::ArgKind::Text));
    if !open_ended && args.len() > command.args.len() {
        let word = args.get(command.args.len()).map(|word| super::complete::clean_line(word)).unwrap_or_default();
        model.say(Notice::warning(format!("\"{word}\" is too much: {}", command.usage())));
        return Vec::new();
    }
    (command.run)(model, &Call { command, args: &args, rest })
}
