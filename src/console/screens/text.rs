//! Text about one object: description, YAML, JSON.

use ratatui::layout::Rect;

use crate::console::describe::{self, TextLine};
use crate::console::model::TextForm;
use crate::console::theme::Role;
use crate::console::view::ctx::Ctx;
use crate::console::widgets::canvas::{Bit, Canvas};
use crate::console::widgets::frame::{Titles, rule};
use crate::inventory::ObjectId;

/// Cells of a label in a description.
const LABEL: usize = 18;

/// Draws the text about `subject` into `area`, from line `scroll` on.
pub fn draw(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, (subject, form): (&ObjectId, TextForm), scroll: usize) {
    let lines = describe::lines(ctx.model, subject, form);
    let name = crate::console::view::subject(ctx.inv(), subject);
    let title = match form {
        TextForm::Describe => name,
        TextForm::Yaml => format!("{name} · YAML"),
        TextForm::Json => format!("{name} · JSON"),
    };
    let body = Rect { y: area.y + 1, height: area.height.saturating_sub(2), ..area };
    rule(canvas, Rect { height: 1, ..area }, &Titles { focused: true, ..Titles::new(title) });
    let height = usize::from(body.height);
    let top = scroll.min(lines.len().saturating_sub(height));
    for (y, line) in (body.y..body.bottom()).zip(lines.iter().skip(top)) {
        let bits = line_bits(canvas, line);
        canvas.bits((body.x + 1, y), body.width.saturating_sub(2), &bits);
    }
    canvas.scrolls(body);
    canvas.point(body.x, body.y);
    let last = (top + height).min(lines.len());
    let place = format!("lines {}–{last} of {}", (top + 1).min(lines.len().max(1)), lines.len());
    let titles = Titles { right: vec![Bit::muted(place)], ..Titles::default() };
    rule(canvas, Rect { y: body.bottom(), height: 1, ..area }, &titles);
}

fn line_bits(canvas: &Canvas<'_>, line: &TextLine) -> Vec<Bit> {
    match line {
        TextLine::Head(text) => vec![Bit::new(text.clone(), Role::Title)],
        TextLine::Plain(text) => vec![Bit::text(text.clone())],
        TextLine::Pair { label, value, class } => {
            let mut bits = vec![Bit::muted(format!("  {label:<LABEL$}"))];
            if let Some(class) = class {
                bits.extend([canvas.glyph(*class), Bit::text(" ")]);
            }
            bits.push(Bit::text(value.clone()));
            bits
        }
    }
}
