//! The field for a pasted result: what is to be run, the text, and how it is read.

use ratatui::layout::Rect;

use crate::console::isolation::{Paste, said};
use crate::console::model::Model;
use crate::console::theme::Role;
use crate::console::widgets::canvas::{Bit, Canvas, wrap};
use crate::console::widgets::frame::{Titles, boxed, rule};
use crate::inventory::Class;

/// Rows for how it is read.
const READING: u16 = 6;
/// Commands shown.
const COMMANDS: usize = 5;

/// Draws the field over the screen.
pub(super) fn draw(canvas: &mut Canvas<'_>, model: &Model, paste: &Paste) {
    let screen = canvas.area();
    let area = Rect::new(2, 2, screen.width - 4, screen.height - 4);
    canvas.cover();
    canvas.clear(area, Role::Text);
    let keys = if paste.complete() { "enter takes it  esc closes" } else { "paste the output here  esc closes" };
    let titles = Titles {
        title: format!("Paste a result · {}", paste.title),
        right: vec![Bit::muted(format!("from {}", paste.from))],
        foot: vec![Bit::muted(keys)],
        focused: true,
    };
    let inside = boxed(canvas, area, &titles);
    let width = inside.width.saturating_sub(2);
    let mut y = inside.y;
    let mut place = "";
    for leg in paste.legs.iter().take(COMMANDS) {
        if leg.from.words != place {
            place = &leg.from.words;
            canvas.bits((inside.x + 1, y), width, &[Bit::muted(format!("Run {place}, then paste all of its output:"))]);
            y += 1;
        }
        let command = leg.ask.command().unwrap_or_default();
        canvas.bits((inside.x + 1, y), width, &[Bit::text(format!("  $ {command}"))]);
        y += 1;
    }
    if let Some(more) = paste.legs.len().checked_sub(COMMANDS).filter(|more| *more > 0) {
        canvas.bits((inside.x + 1, y), width, &[Bit::muted(format!("  and {more} more, on the cell's own page"))]);
        y += 1;
    }
    rule(canvas, Rect { x: inside.x, y, width: inside.width, height: 1 }, &Titles::new("text"));
    let reading = inside.bottom().saturating_sub(READING + 1);
    let text = Rect { x: inside.x + 1, y: y + 1, width, height: reading.saturating_sub(y + 1) };
    written(canvas, paste, text);
    let line = Rect { x: inside.x, y: reading, width: inside.width, height: 1 };
    rule(canvas, line, &Titles::new("read as"));
    read(canvas, model, paste, Rect { x: inside.x + 1, y: reading + 1, width, height: READING });
}

/// The end of the text, with the cursor behind it.
fn written(canvas: &mut Canvas<'_>, paste: &Paste, area: Rect) {
    let lines = crate::text::clean_lines(&paste.text);
    let mut lines: Vec<&str> = lines.split('\n').collect();
    let height = usize::from(area.height);
    let skipped = lines.len().saturating_sub(height);
    lines.drain(..skipped);
    let mut at = (area.x, area.y);
    for (y, line) in (area.y..area.bottom()).zip(lines) {
        let used = canvas.bits((area.x, y), area.width, &[Bit::new(line.to_owned(), Role::Input)]);
        at = (area.x + used, y);
    }
    canvas.type_at(at.0.min(area.right().saturating_sub(1)), at.1);
}

fn read(canvas: &mut Canvas<'_>, model: &Model, paste: &Paste, area: Rect) {
    let mut rows: Vec<Vec<Bit>> = Vec::new();
    match &paste.reading {
        Err(_) if paste.text.trim().is_empty() => {
            rows.push(vec![Bit::muted("Nothing yet. It counts as pasted, by you, and never as measured.")]);
        }
        Err((why, help)) => {
            let parts = wrap(&canvas.plain(&format!("not taken: {why}")), area.width.saturating_sub(2));
            for (n, part) in parts.into_iter().enumerate() {
                let sign = if n == 0 { canvas.glyph(Class::Warning) } else { Bit::text(" ") };
                rows.push(vec![sign, Bit::text(" "), Bit::text(part)]);
            }
            rows.push(vec![Bit::muted(format!("  {help}"))]);
        }
        Ok(all) => {
            for (leg, reading) in all {
                let came = paste.legs.get(*leg).map(|leg| leg.judge(reading));
                let (class, words) = said(came);
                rows.push(vec![canvas.glyph(class), Bit::text(format!(" {} · {words}", reading.words()))]);
            }
        }
    }
    let more = rows.len().saturating_sub(usize::from(area.height));
    for (y, row) in (area.y..area.bottom()).zip(rows) {
        canvas.bits((area.x, y), area.width, &row);
    }
    if more > 0 {
        let text = format!("{} {more} more", model.look.glyphs.more);
        canvas.bits_right(area.right(), area.bottom().saturating_sub(1), 12, &[Bit::muted(text)]);
    }
}
