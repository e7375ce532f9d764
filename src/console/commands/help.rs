//! The help overlay and `docs/keys.md`, from the table and the keymap in force.

use std::collections::BTreeMap;

use super::{Command, Group, all};
use crate::console::keymap::{self, Keymap, Mode};
use crate::console::lists::def;
use crate::console::model::{Model, Overlay, Screen};
use crate::console::update::screen_mode;

/// What the help overlay shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Help {
    /// e.g. `Workloads`: what `Here` is.
    pub place: String,
    /// Keymap in force.
    pub keymap: String,
    /// Parts, the focused pane's first.
    pub sections: Vec<HelpSection>,
}

/// A part of the help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelpSection {
    /// Heading.
    pub title: String,
    /// Rows.
    pub rows: Vec<HelpRow>,
}

/// A row of the help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelpRow {
    /// Keys in force; empty = by `:` only.
    pub keys: String,
    /// Command line, e.g. `go tenants`.
    pub line: String,
    /// What it does in a few words.
    pub title: String,
    /// What it does, in a sentence.
    pub doc: String,
    /// Why it cannot run now, when it cannot.
    pub disabled: Option<String>,
}

/// The help for what is on screen, narrowed by the overlay's search text.
#[must_use]
pub fn help(model: &Model) -> Help {
    let mode = screen_mode(model, model.screen());
    let search = match &model.overlay {
        Overlay::Help { search, .. } => search.value().trim().to_lowercase(),
        _ => String::new(),
    };
    let place = match (model.screen(), model.focused()) {
        (Screen::Text { .. }, _) | (_, None) => "Text".to_owned(),
        (_, Some((list, _))) => def(list).title.to_owned(),
    };
    let disabled = |c: &Command| c.availability(model).reason().map(str::to_owned);
    let mut sections = sections(&model.keymap, mode, model.look.glyphs.ascii, disabled);
    for section in &mut sections {
        section.rows.retain(|row| {
            search.is_empty()
                || [&row.keys, &row.line, &row.title, &row.doc].iter().any(|t| t.to_lowercase().contains(&search))
        });
    }
    sections.retain(|s| !s.rows.is_empty());
    Help { place, keymap: model.keymap.name.clone(), sections }
}

/// Every command with its keys in `mode`. A command whose lines have keys of their own (`go tenants`) has a row for each.
fn sections(map: &Keymap, mode: Mode, ascii: bool, disabled: impl Fn(&Command) -> Option<String>) -> Vec<HelpSection> {
    let part = |group: Group| {
        let mine = all().filter(|c| c.group == group);
        let mode = if group == Group::Line { Mode::Field } else { mode };
        let rows = mine.flat_map(|c| rows(map, mode, ascii, c, disabled(c))).collect();
        HelpSection { title: group.title().to_owned(), rows }
    };
    Group::ALL.into_iter().map(part).collect()
}

fn rows(map: &Keymap, mode: Mode, ascii: bool, command: &Command, disabled: Option<String>) -> Vec<HelpRow> {
    let mut keys: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for binding in map.bindings(mode) {
        if super::parse(&binding.line).is_ok_and(|(c, _)| c.name == command.name) {
            keys.entry(&binding.line).or_default().push(keymap::display(&binding.keys, ascii));
        }
    }
    let row = |line: String, title: String, keys: String| HelpRow {
        keys,
        line,
        title,
        doc: command.doc.to_owned(),
        disabled: disabled.clone(),
    };
    if command.name == "step" && keys.len() > 1 {
        let first = keys.values().flatten().min().cloned().unwrap_or_default();
        let last = keys.values().flatten().max().cloned().unwrap_or_default();
        return vec![row(
            command.usage(),
            command.title.to_owned(),
            format!("{first}{}{last}", if ascii { "-" } else { "–" }),
        )];
    }
    let plain = keys.remove(command.name).unwrap_or_default().join(" ");
    let mut out = Vec::new();
    if keys.is_empty() || !plain.is_empty() {
        out.push(row(command.usage(), command.title.to_owned(), plain));
    }
    for (line, keys) in keys {
        let rest = line.split_once(' ').map_or("", |(_, rest)| rest);
        out.push(row(line.to_owned(), format!("{} {rest}", command.title), keys.join(" ")));
    }
    out
}

/// The tables of `docs/keys.md`.
#[must_use]
pub fn reference(maps: &[Keymap]) -> String {
    let mut out = String::new();
    for map in maps {
        out.push_str(&format!("\n## Keymap `{}`\n", map.name));
        for (mode, title) in [
            (Mode::Board, "On the board and in lists"),
            (Mode::Text, "In texts"),
            (Mode::Overlay, "In menus"),
            (Mode::Field, "In text fields"),
        ] {
            out.push_str(&format!("\n### {title}\n\n| keys | command | does |\n|---|---|---|\n"));
            out.push_str(&table(map, mode));
        }
    }
    out.push_str("\n## Commands\n\n| command | danger | does |\n|---|---|---|\n");
    for group in Group::ALL {
        for c in all().filter(|c| c.group == group) {
            out.push_str(&format!("| `:{}` | {} | {} |\n", c.usage(), c.danger.word(), c.doc));
        }
    }
    out
}

/// One mode's own keys; the board's come with those of everywhere.
fn table(map: &Keymap, mode: Mode) -> String {
    let own = map.modes.get(&mode).map_or(&[][..], Vec::as_slice);
    let everywhere = map.modes.get(&Mode::Everywhere).map_or(&[][..], Vec::as_slice);
    let all = own.iter().chain(if mode == Mode::Board { everywhere } else { &[] });
    let mut lines: Vec<(&str, Vec<String>)> = Vec::new();
    for binding in all {
        let keys = format!("`{}`", keymap::name(&binding.keys));
        match lines.iter_mut().find(|(line, _)| *line == binding.line) {
            Some((_, all)) => all.push(keys),
            None => lines.push((&binding.line, vec![keys])),
        }
    }
    let row = |(line, keys): &(&str, Vec<String>)| {
        let title = super::parse(line).map_or("", |(c, _)| c.title);
        format!("| {} | `{line}` | {title} |\n", keys.join(" "))
    };
    lines.iter().map(row).collect()
}
