//! What lies over the screen: help, actions, the `:` line, the choosers.

use ratatui::layout::Rect;

use super::field;
use crate::console::change::handover;
use crate::console::commands::{self, Action, Availability, Danger, HelpRow};
use crate::console::complete::{self, Candidate};
use crate::console::list::ListId;
use crate::console::lists;
use crate::console::model::{Layout, Model, Overlay, Saving};
use crate::console::msg::Hit;
use crate::console::theme::Role;
use crate::console::widgets::canvas::{Bit, Canvas, wrap};
use crate::console::widgets::frame::{Titles, boxed, rule};
use crate::console::widgets::table::{Turn, window};
use crate::inventory::Class;
use crate::provision::plans::table::maker;
use crate::text::sentence;

/// Draws the open overlay.
pub fn draw(canvas: &mut Canvas<'_>, model: &Model) {
    match &model.overlay {
        Overlay::None | Overlay::Filter { .. } | Overlay::Search { .. } => {}
        Overlay::Save { field, saving } => save(canvas, model, field, saving),
        Overlay::Help { scroll, search } => help(canvas, model, *scroll, search),
        Overlay::Actions { search, at } => actions(canvas, model, search, *at),
        Overlay::Command { field, at, .. } => command(canvas, model, field, *at),
        Overlay::Paste(paste) => super::paste::draw(canvas, model, paste),
        Overlay::Approve(open) => crate::console::screens::change::approve::draw(canvas, model, open),
        Overlay::Sort { at } => columns(canvas, model, "Sort by", *at, sort_sign),
        Overlay::Columns { at } => columns(canvas, model, "Columns", *at, column_sign),
    }
}

/// A blank box in the middle of the body.
pub(in crate::console) fn popup(canvas: &mut Canvas<'_>, size: (u16, u16), titles: &Titles) -> Rect {
    let screen = canvas.area();
    let (width, height) = (size.0.min(screen.width - 4), size.1.min(screen.height - 5));
    let area = Rect::new((screen.width - width) / 2, 3.min(screen.height - height), width, height);
    canvas.cover();
    canvas.clear(area, Role::Text);
    boxed(canvas, area, titles)
}

/// Where a bundle, or something of a hand-over, is to be kept.
fn save(canvas: &mut Canvas<'_>, model: &Model, field: &tui_input::Input, saving: &Saving) {
    const ROWS: usize = 4;
    let width = canvas.area().width.saturating_sub(4).min(112);
    let room = width.saturating_sub(6);
    let (class, said) = match saving {
        Saving::Asked => (Class::Info, Vec::new()),
        Saving::Running => (Class::Progress, vec!["saving".to_owned()]),
        Saving::Refused(why) => (Class::Warning, wrap(&canvas.plain(why), room)),
    };
    let shown = said.len().min(ROWS);
    let evidence = ["Save the evidence", "secrets are taken out", "a directory that is not there yet, or is empty"];
    let [title, remark, foot] = handover::prompt(model).unwrap_or(evidence);
    let titles = Titles {
        title: title.to_owned(),
        right: vec![Bit::muted(remark)],
        foot: vec![Bit::muted(foot)],
        focused: true,
    };
    let inside = popup(canvas, (width, 3 + u16::try_from(shown).unwrap_or(0)), &titles);
    canvas.bits((inside.x + 1, inside.y), 3, &[Bit::new("in", Role::Accent)]);
    field::draw(canvas, (inside.x + 4, inside.y), inside.width.saturating_sub(5), field, "");
    for (n, (y, text)) in (inside.y + 1..inside.bottom()).zip(&said).enumerate() {
        let sign = if n == 0 { canvas.glyph(class) } else { Bit::text(" ") };
        let cut = (n + 1 == shown && said.len() > shown).then(|| canvas.charset().ellipsis());
        let text = text.chars().chain(cut).collect::<String>();
        canvas.bits((inside.x + 1, y), room + 3, &[sign, Bit::text(" "), Bit::text(text)]);
    }
}

fn help(canvas: &mut Canvas<'_>, model: &Model, scroll: usize, search: &tui_input::Input) {
    let help = commands::help(model);
    let two = model.layout() > Layout::Compact;
    let titles = Titles {
        title: format!("Keys · {}", help.place),
        right: vec![Bit::muted(format!("keymap: {}", help.keymap))],
        foot: vec![Bit::muted("type to search  ↑↓ scroll  esc close")],
        focused: true,
    };
    let screen = canvas.area();
    let inside = popup(canvas, (if two { 112 } else { 74 }, screen.height), &titles);
    canvas.bits((inside.x + 1, inside.y), 2, &[Bit::new("/", Role::Accent)]);
    field::draw(canvas, (inside.x + 3, inside.y), inside.width.saturating_sub(4), search, "");
    let mut lines: Vec<Vec<Bit>> = Vec::new();
    for section in &help.sections {
        if !lines.is_empty() {
            lines.push(Vec::new());
        }
        lines.push(vec![Bit::new(section.title.clone(), Role::Title)]);
        lines.extend(section.rows.iter().flat_map(|row| help_lines(canvas, row, inside.width)));
    }
    if help.sections.iter().all(|s| s.rows.is_empty()) {
        lines.push(vec![Bit::muted("No key or command has these words.")]);
    }
    let legend = alphabet(canvas);
    let legend_rows = u16::try_from(legend.len()).unwrap_or(0);
    let body = Rect { y: inside.y + 1, height: inside.height.saturating_sub(2 + legend_rows), ..inside };
    let height = usize::from(body.height);
    let end = lines.len().saturating_sub(height);
    let top = scroll.min(end);
    canvas.hit(body, Hit::Text { top, end });
    for (y, line) in (body.y..body.bottom()).zip(lines.iter().skip(top)) {
        canvas.bits((body.x + 1, y), body.width.saturating_sub(2), line);
    }
    if lines.len() > height {
        let more = format!("lines {}–{} of {}", top + 1, (top + height).min(lines.len()), lines.len());
        canvas.bits_right(inside.right() - 1, body.bottom(), 30, &[Bit::muted(more)]);
    }
    for (y, line) in (body.bottom() + 1..inside.bottom()).zip(&legend) {
        canvas.bits((inside.x + 1, y), inside.width.saturating_sub(2), line);
    }
}

/// Keys and words; beside them, where there is room, the sentence, whole.
fn help_lines(canvas: &Canvas<'_>, row: &HelpRow, width: u16) -> Vec<Vec<Bit>> {
    const KEYS: u16 = 14;
    const TITLE: u16 = 26;
    let keys = if row.keys.is_empty() { format!(":{}", row.line) } else { row.keys.clone() };
    let fill = |used: u16, to: u16| " ".repeat(usize::from(to.saturating_sub(used).max(1)));
    let mut line = vec![Bit::new(keys.clone(), Role::Accent), Bit::text(fill(canvas.width(&keys), KEYS))];
    line.push(Bit::text(row.title.clone()));
    if width <= 90 {
        line.extend(row.disabled.as_ref().map(|why| Bit::muted(format!(" – {why}"))));
        return vec![line];
    }
    let used = KEYS.max(canvas.width(&keys) + 1) + canvas.width(&row.title);
    let start = used.max(KEYS + TITLE - 1) + 1;
    let doc =
        row.disabled.as_ref().map_or_else(|| row.doc.clone(), |why| format!("{} Not now: {}", row.doc, sentence(why)));
    let mut lines = Vec::new();
    for (i, part) in wrap(&doc, width.saturating_sub(start + 3)).into_iter().enumerate() {
        let lead = if i == 0 { fill(used, start) } else { fill(0, start) };
        let mut next = if i == 0 { std::mem::take(&mut line) } else { Vec::new() };
        next.extend([Bit::text(lead), Bit::muted(part)]);
        lines.push(next);
    }
    if lines.is_empty() { vec![line] } else { lines }
}

/// The glyphs of every screen and the digit rule: they are part of help.
fn alphabet(canvas: &Canvas<'_>) -> Vec<Vec<Bit>> {
    let g = canvas.look().glyphs;
    let row = |pairs: &[(Bit, &'static str)]| -> Vec<Bit> {
        pairs.iter().flat_map(|(glyph, word)| [glyph.clone(), Bit::muted(format!(" {word}  "))]).collect()
    };
    let class = |class| canvas.glyph(class);
    vec![
        row(&[
            (class(Class::Fine), "fine"),
            (class(Class::Warning), "warning"),
            (class(Class::Fault), "fault"),
            (class(Class::Progress), "in progress"),
            (class(Class::Pending), "pending"),
            (class(Class::Absent), "absent"),
        ]),
        row(&[
            (class(Class::Differs), "differs"),
            (class(Class::Unknown), "unknown"),
            (Bit::new(g.source_denied, Role::Denied), "denied"),
            (Bit::new(g.source_stale, Role::Stale), "stale"),
            (Bit::muted(g.source_off), "off"),
            (class(Class::NotRun), "not run here"),
        ]),
    ]
}

fn actions(canvas: &mut Canvas<'_>, model: &Model, search: &tui_input::Input, at: usize) {
    let menu = commands::actions(model);
    let rows = u16::try_from(menu.rows.len()).unwrap_or(u16::MAX);
    let titles = Titles {
        title: format!("Actions · {}", menu.title),
        right: Vec::new(),
        foot: vec![Bit::muted("type to narrow  ↵ do  esc close")],
        focused: true,
    };
    let inside = popup(canvas, (74, rows.saturating_add(4)), &titles);
    canvas.bits((inside.x + 1, inside.y), 2, &[Bit::new("/", Role::Accent)]);
    field::draw(canvas, (inside.x + 3, inside.y), inside.width.saturating_sub(4), search, "");
    let body = Rect { y: inside.y + 1, height: inside.height.saturating_sub(1), ..inside };
    if menu.rows.is_empty() {
        canvas.bits((body.x + 2, body.y), body.width, &[Bit::muted("No action has these words.")]);
    }
    let top = window(0, at, menu.rows.len(), usize::from(body.height), Turn::Line);
    for (y, (i, action)) in (body.y..body.bottom()).zip(menu.rows.iter().enumerate().skip(top)) {
        let row = Rect { y, height: 1, ..body };
        action_row(canvas, row, action, i == at);
        canvas.hit(row, Hit::Candidate(i));
    }
}

fn action_row(canvas: &mut Canvas<'_>, area: Rect, action: &Action, selected: bool) {
    let disabled = action.disabled.as_deref();
    let key = if disabled.is_some() { "–".to_owned() } else { action.key.clone() };
    if selected {
        canvas.bits((area.x + 1, area.y), 1, &[Bit::new(canvas.look().glyphs.cursor, Role::Accent)]);
    }
    canvas.bits((area.x + 2, area.y), 5, &[Bit::new(key, Role::Accent)]);
    let role = if disabled.is_some() { Role::Muted } else { Role::Text };
    let danger = match action.danger {
        Danger::Look => Bit::muted("look"),
        other => Bit::new(format!("danger {}", other.level()), Role::Warn),
    };
    let end = canvas.bits_right(area.right() - 1, area.y, 10, &[danger]);
    let mut bits = vec![Bit::new(action.command.title, role)];
    bits.extend(disabled.map(|why| Bit::muted(format!("  {why}"))));
    canvas.bits((area.x + 8, area.y), end.saturating_sub(area.x + 10), &bits);
    if selected {
        canvas.restyle(area, Role::Selection);
    }
}

fn command(canvas: &mut Canvas<'_>, model: &Model, line: &tui_input::Input, at: Option<usize>) {
    let screen = canvas.area();
    let (message, hints) = (screen.height - 2, screen.height - 1);
    canvas.cover();
    let all = complete::candidates(model);
    let chosen = at.and_then(|i| all.get(i)).or_else(|| all.first());
    candidates(canvas, model, &all, (at, chosen, line.value()), message);
    for y in [message, hints] {
        canvas.clear(Rect::new(0, y, screen.width, 1), Role::Text);
    }
    canvas.bits((1, message), 1, &[Bit::new(":", Role::Accent)]);
    let rest = complete::rest(model);
    field::draw(canvas, (2, message), screen.width - 3, line, &rest);
    let keys = [("→", "take"), ("tab", "next"), ("↑↓", "history"), ("↵", "run"), ("esc", "close")];
    let bits: Vec<Bit> = keys
        .iter()
        .flat_map(|(key, word)| {
            let key = if model.look.glyphs.ascii { ascii_key(key) } else { key };
            [Bit::new(key, Role::Accent), Bit::muted(format!(" {word}  "))]
        })
        .collect();
    canvas.bits((1, hints), screen.width - 2, &bits);
}

fn ascii_key(key: &'static str) -> &'static str {
    match key {
        "→" => "right",
        "↑↓" => "up down",
        "↵" => "enter",
        other => other,
    }
}

/// Candidates grow upward from the line; they never move the list above.
fn candidates(
    canvas: &mut Canvas<'_>,
    model: &Model,
    all: &[Candidate],
    (at, chosen, typed): (Option<usize>, Option<&Candidate>, &str),
    bottom: u16,
) {
    let screen = canvas.area();
    // The candidate's command, else that of the line: words that nothing completes are typed all the same.
    let line = chosen.map_or(typed, |c| c.line.as_str());
    let doc = commands::parse(line).ok().map(|(command, _)| command);
    let doc_rows = if doc.is_some() { 3 } else { 0 };
    let most = (screen.height.saturating_sub(8 + doc_rows)).min(10);
    let rows = u16::try_from(all.len()).unwrap_or(u16::MAX).min(most).max(1);
    let top = bottom.saturating_sub(rows + doc_rows + 1);
    canvas.clear(Rect::new(0, top, screen.width, bottom - top), Role::Text);
    let titles = Titles { right: vec![Bit::muted(all.len().to_string())], ..Titles::new("candidates") };
    rule(canvas, Rect::new(0, top, screen.width, 1), &titles);
    if all.is_empty() {
        canvas.bits(
            (3, top + 1),
            screen.width - 4,
            &[Bit::muted(if doc.is_some() {
                "Nothing is offered here: type it."
            } else {
                "Nothing starts like this."
            })],
        );
    }
    let first = window(0, at.unwrap_or(0), all.len(), usize::from(rows), Turn::Line);
    let labels = all.iter().map(|c| canvas.width(&c.label)).max().unwrap_or(0).clamp(12, screen.width / 2);
    for (y, (i, candidate)) in (top + 1..top + 1 + rows).zip(all.iter().enumerate().skip(first)) {
        let row = Rect::new(0, y, screen.width, 1);
        let selected = at == Some(i);
        if selected {
            canvas.bits((1, y), 1, &[Bit::new(canvas.look().glyphs.cursor, Role::Accent)]);
        }
        let role = if candidate.disabled.is_some() { Role::Muted } else { Role::Text };
        canvas.bits((3, y), labels, &[Bit::new(candidate.label.clone(), role)]);
        let words = candidate.disabled.as_ref().map_or_else(|| candidate.words.clone(), |why| format!("– {why}"));
        canvas.bits((3 + labels + 2, y), screen.width.saturating_sub(labels + 6), &[Bit::muted(words)]);
        if selected {
            canvas.restyle(row, Role::Selection);
        }
        canvas.hit(row, Hit::Candidate(i));
    }
    let Some(command) = doc else { return };
    let danger = format!("{} · danger {}", command.danger.word(), command.danger.level());
    let titles = Titles { right: vec![Bit::muted(danger)], ..Titles::new(command.usage()) };
    rule(canvas, Rect::new(0, top + 1 + rows, screen.width, 1), &titles);
    let mut text = planned(line).unwrap_or_else(|| command.doc.to_owned());
    if let Availability::Disabled(why) = command.availability(model) {
        text = format!("{text} Not now: {}", sentence(&why));
    }
    for (y, line) in (top + 2 + rows..bottom).zip(wrap(&text, screen.width - 6)) {
        canvas.bits((3, y), screen.width - 4, &[Bit::text(line)]);
    }
}

/// The words of the plan that a line asks for.
fn planned(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let maker = words.next().filter(|word| *word == "plan").and(words.next()).and_then(maker)?;
    Some(format!("Words: {}", if maker.form.is_empty() { "none." } else { maker.form }))
}

/// What stands before a column in a chooser.
type Sign = fn(&Model, ListId, &str) -> &'static str;

fn columns(canvas: &mut Canvas<'_>, model: &Model, title: &str, at: usize, sign: Sign) {
    let Some((list, _)) = model.focused() else { return };
    let def = lists::def(list);
    let choices: Vec<_> = def.columns.iter().filter(|c| c.max > 0).collect();
    let rows = u16::try_from(choices.len()).unwrap_or(u16::MAX);
    let titles = Titles {
        title: format!("{title} · {}", def.title),
        right: Vec::new(),
        foot: vec![Bit::muted("↵ choose  esc close")],
        focused: true,
    };
    let inside = popup(canvas, (44, rows.saturating_add(2)), &titles);
    for (y, (i, column)) in (inside.y..inside.bottom()).zip(choices.iter().enumerate()) {
        let row = Rect { y, height: 1, ..inside };
        let cursor = if i == at { canvas.look().glyphs.cursor } else { " " };
        let bits = [
            Bit::new(cursor, Role::Accent),
            Bit::text(" "),
            Bit::new(sign(model, list, column.key), Role::Accent),
            Bit::text(" "),
            Bit::text(format!("{:<16} ", column.title)),
            Bit::muted(column.key),
        ];
        canvas.bits((inside.x + 1, y), inside.width.saturating_sub(2), &bits);
        if i == at {
            canvas.restyle(row, Role::Selection);
            canvas.point(inside.x + 1, y);
        }
        canvas.hit(row, Hit::Candidate(i));
    }
}

fn sort_sign(model: &Model, list: ListId, key: &str) -> &'static str {
    let sort = model.focused_state().map_or((lists::def(list).sort, false), |s| (s.sort.column, s.sort.descending));
    match sort {
        (column, false) if column == key => "▾",
        (column, true) if column == key => "▴",
        _ => " ",
    }
}

fn column_sign(model: &Model, _: ListId, key: &str) -> &'static str {
    if model.focused_state().is_some_and(|s| s.hidden.contains(key)) { "–" } else { "✓" }
}
