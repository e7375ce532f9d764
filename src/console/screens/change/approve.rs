//! What is asked before something runs: yes, or the name typed back with everything that it reaches (screens.md 13).

use ratatui::layout::Rect;

use super::{folded, lines};
use crate::console::change::{Approve, Asks};
use crate::console::keymap::Mode;
use crate::console::model::Model;
use crate::console::msg::Hit;
use crate::console::theme::Role;
use crate::console::view::overlay::popup;
use crate::console::widgets::canvas::{Bit, Canvas, wrap};
use crate::console::widgets::frame::{Titles, rule};
use crate::inventory::Class;
use crate::provision::plan::{Preview, Reach};

/// Rows of the field, its rule included.
const FIELD: u16 = 5;
/// From this width on what goes and what stays stand side by side.
const WIDE: u16 = 72;

/// Draws the question.
pub fn draw(canvas: &mut Canvas<'_>, model: &Model, open: &Approve) {
    let preview = model.changes.proposal.as_ref().and_then(|p| p.offer.as_ref()).map(|offer| &offer.preview);
    match (&open.asks, preview) {
        (Asks::Name { because, name, typed, last }, Some(preview)) => {
            let turns = model.keymap.key_for(Mode::Field, "page-down", canvas.look().glyphs.ascii);
            let scroll = (open.scroll, turns.unwrap_or_else(|| ":page-down".to_owned()));
            name_back(canvas, preview, (because, name, typed, *last), &scroll);
        }
        (Asks::Leave, _) => leave(canvas, model),
        (_, Some(preview)) => yes(canvas, preview),
        (_, None) => {}
    }
}

/// What the message line says while the question is open.
pub fn sentence(open: &Approve) -> Option<(Class, String)> {
    let said = open.said.clone().map(|said| (Class::Warning, said));
    said.or_else(|| match (&open.asks, open.missing()) {
        (_, Some(missing)) => Some((Class::Info, missing)),
        (Asks::Yes, None) => Some((Class::Info, "y runs it; nothing is sent before".to_owned())),
        (Asks::Leave, None) => Some((Class::Progress, "a change is running".to_owned())),
        (Asks::Name { last, .. }, None) => {
            Some((Class::Warning, format!("the name is complete: {} runs it", if *last { 'D' } else { 'A' })))
        }
    })
}

fn yes(canvas: &mut Canvas<'_>, preview: &Preview) {
    let titles = Titles {
        right: vec![super::danger(preview.danger())],
        focused: true,
        ..Titles::new(preview.plan.title.clone())
    };
    let screen = canvas.area();
    let inside = popup(canvas, (screen.width.saturating_sub(8).min(72), 7), &titles);
    let doing = (0..preview.plan.steps.len()).filter(|number| preview.does(*number)).count();
    let text = format!("{} of {} change something.", super::steps(doing), preview.plan.steps.len());
    let mut rows = folded(canvas, inside, &text, Role::Text);
    rows.push(Vec::new());
    rows.push(vec![Bit::new("y", Role::Accent), Bit::text("  runs it. Anything else sends nothing.")]);
    lines(canvas, inside, rows);
}

fn leave(canvas: &mut Canvas<'_>, model: &Model) {
    let name = model.changes.running().map_or_else(|| "A change".to_owned(), crate::console::change::Run::name);
    let titles = Titles { focused: true, ..Titles::new(format!("{name} is running")) };
    let screen = canvas.area();
    let inside = popup(canvas, (screen.width.saturating_sub(8).min(72), 10), &titles);
    let text = "Leaving stops it: no further step begins, what is under way is awaited for 20 s at most, and what is held is \
                given back. The next start offers to go on.";
    let mut rows = folded(canvas, inside, text, Role::Text);
    rows.push(Vec::new());
    rows.push(vec![Bit::new("y", Role::Accent), Bit::text("  stops it and leaves")]);
    rows.push(vec![Bit::new("esc", Role::Accent), Bit::text("  stays")]);
    lines(canvas, inside, rows);
}

type Field<'a> = (&'a str, &'a str, &'a str, bool);

/// The whole body: what goes, what stays, who notices, from line `scroll` on; then the field.
fn name_back(
    canvas: &mut Canvas<'_>,
    preview: &Preview,
    (because, name, typed, last): Field<'_>,
    (scroll, turns): &(usize, String),
) {
    let screen = canvas.area();
    let area = Rect { y: 2, height: screen.height.saturating_sub(4), ..screen };
    canvas.cover();
    canvas.clear(area, Role::Text);
    let right = vec![super::danger(preview.danger())];
    let titles = Titles { right, focused: true, ..Titles::new(preview.plan.title.clone()) };
    rule(canvas, Rect { height: 1, ..area }, &titles);
    let mut rows = reached(canvas, area.width, &preview.reach());
    // Why the name is asked for stands still, unless it leaves no room for the rest.
    let mut why =
        folded(canvas, area, &format!("The name is asked for because {}", crate::text::sentence(because)), Role::Warn);
    if why.len() > usize::from(area.height / 3) {
        why.push(Vec::new());
        rows.splice(0..0, std::mem::take(&mut why));
    }
    let whole = u16::try_from(why.len()).unwrap_or(u16::MAX);
    let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1 + FIELD + whole), ..area };
    let shown = usize::from(body.height);
    let end = rows.len().saturating_sub(shown);
    let top = (*scroll).min(end);
    canvas.hit(body, Hit::Text { top, end });
    let place = format!("lines {}–{} of {}", top + 1, top + shown, rows.len());
    lines(canvas, body, rows.into_iter().skip(top).take(shown).collect());
    lines(canvas, Rect { y: body.bottom(), height: whole, ..body }, why);
    let y = body.bottom() + whole;
    let right = match (end, top < end) {
        (0, _) => Vec::new(),
        (_, true) => vec![Bit::new(format!("{place} · {turns} goes on"), Role::Warn)],
        (_, false) => vec![Bit::muted(place)],
    };
    rule(canvas, Rect { y, height: 1, ..area }, &Titles { right, ..Titles::default() });
    field(canvas, Rect { y: y + 1, height: 3, ..area }, (name, typed, last));
}

/// Where the name is typed.
fn field(canvas: &mut Canvas<'_>, area: Rect, (name, typed, last): (&str, &str, bool)) {
    let ask = format!("  Type {name} to run it:   ");
    let used = canvas.bits((area.x, area.y), area.width, &[Bit::text(ask)]);
    let closed = typed == name;
    let sign = if closed { "" } else { canvas.look().glyphs.input };
    let role = if closed { Role::Ok } else { Role::Input };
    let bits = [Bit::new(typed.to_owned(), role), Bit::new(sign, Role::Accent)];
    canvas.bits((area.x + used, area.y), area.width.saturating_sub(used), &bits);
    if !closed {
        canvas.type_at(area.x + used + canvas.width(typed), area.y);
    }
    let key = if last { 'D' } else { 'A' };
    let text = format!("Once the name is complete {key} runs it; nothing is sent before.");
    lines(canvas, Rect { y: area.y + 2, height: 1, ..area }, vec![vec![Bit::muted(text)]]);
}

/// What goes at the left, what stays at the right; below each other where it is narrow. Then who notices.
fn reached(canvas: &Canvas<'_>, width: u16, reach: &Reach) -> Vec<Vec<Bit>> {
    let wide = width >= WIDE && !reach.stays.is_empty() && !reach.destroyed.is_empty();
    let half = if wide { width / 2 } else { width };
    let (goes, stays) = (column("Will be destroyed", &reach.destroyed, half), column("Will stay", &reach.stays, half));
    let mut rows = Vec::new();
    if wide {
        let mut stays = stays.into_iter();
        let mut goes = goes.into_iter();
        for _ in 0..goes.len().max(stays.len()) {
            let (mut row, right) = (goes.next().unwrap_or_default(), stays.next().unwrap_or_default());
            let fill = half.saturating_sub(canvas.bits_width(&row));
            row.push(Bit::text(" ".repeat(usize::from(fill))));
            rows.push(row.into_iter().chain(right).collect());
        }
    } else {
        rows.extend(goes.into_iter().chain(stays));
    }
    if !rows.is_empty() && !reach.noticed.is_empty() {
        rows.push(Vec::new());
    }
    rows.extend(column("Others who notice", &reach.noticed, width));
    rows
}

fn column(title: &'static str, all: &[String], width: u16) -> Vec<Vec<Bit>> {
    let mut rows: Vec<Vec<Bit>> = Vec::new();
    if !all.is_empty() {
        rows.push(vec![Bit::new(title, Role::Title)]);
    }
    for line in all {
        for (n, part) in wrap(line, width.saturating_sub(6)).into_iter().enumerate() {
            rows.push(vec![Bit::text(if n == 0 { " " } else { "   " }), Bit::text(part)]);
        }
    }
    rows
}
