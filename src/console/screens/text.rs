//! Text about one object: description, YAML, JSON.

use ratatui::layout::Rect;

use crate::console::describe::{self, TextLine};
use crate::console::model::TextForm;
use crate::console::msg::Hit;
use crate::console::theme::Role;
use crate::console::view::ctx::Ctx;
use crate::console::widgets::canvas::{Bit, Canvas, wrap};
use crate::console::widgets::frame::{Titles, rule};
use crate::inventory::ObjectId;

/// Cells of the widest label for which the values of a description move to the right.
const LABEL: u16 = 28;

/// Draws the text about `subject` into `area`, from line `scroll` on.
pub fn draw(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, (subject, form): (&ObjectId, TextForm), scroll: usize) {
    let lines = describe::lines(ctx.model, subject, form);
    let name = crate::console::nav::name_of(ctx.inv(), subject);
    let title = match form {
        TextForm::Describe => name,
        TextForm::Yaml => format!("{name} · YAML"),
        TextForm::Json => format!("{name} · JSON"),
    };
    sheet(canvas, area, title, &lines, scroll);
}

/// Draws `lines` into `area`, from line `scroll` on.
pub fn sheet(canvas: &mut Canvas<'_>, area: Rect, title: String, lines: &[TextLine], scroll: usize) {
    let label = label_width(canvas, lines);
    let room = area.width.saturating_sub(2);
    let rows: Vec<Vec<Bit>> = lines.iter().flat_map(|line| line_rows(canvas, line, (label, room))).collect();
    page(canvas, area, &Titles { focused: true, ..Titles::new(title) }, &rows, scroll);
}

/// Draws `rows` between two rules, from row `scroll` on; the lower rule says which these are.
pub fn page(canvas: &mut Canvas<'_>, area: Rect, titles: &Titles, rows: &[Vec<Bit>], scroll: usize) {
    let body = Rect { y: area.y + 1, height: area.height.saturating_sub(2), ..area };
    rule(canvas, Rect { height: 1, ..area }, titles);
    let (height, room) = (usize::from(body.height), body.width.saturating_sub(2));
    let total = rows.len();
    let end = total.saturating_sub(height);
    let top = scroll.min(end);
    canvas.hit(body, Hit::Text { top, end });
    for (y, row) in (body.y..body.bottom()).zip(rows.iter().skip(top)) {
        canvas.bits((body.x + 1, y), room, row);
    }
    canvas.scrolls(body);
    canvas.point(body.x, body.y);
    let place = if total == 0 {
        String::new()
    } else {
        format!("lines {}–{} of {total}", top + 1, (top + height).min(total))
    };
    let titles = Titles { right: vec![Bit::muted(place)], ..Titles::default() };
    rule(canvas, Rect { y: body.bottom(), height: 1, ..area }, &titles);
}

/// Cells of the labels, the blanks behind them included.
fn label_width(canvas: &Canvas<'_>, lines: &[TextLine]) -> u16 {
    let widest = lines.iter().filter_map(|line| match line {
        TextLine::Pair { label, .. } => Some(canvas.width(label)),
        _ => None,
    });
    widest.max().unwrap_or(0).min(LABEL) + 2
}

/// The rows of a line: what is too long goes on below its own start.
fn line_rows(canvas: &Canvas<'_>, line: &TextLine, (label_width, room): (u16, u16)) -> Vec<Vec<Bit>> {
    match line {
        TextLine::Head(text) => vec![vec![Bit::new(text.clone(), Role::Title)]],
        TextLine::Plain(text) => {
            let indent = text.len() - text.trim_start().len();
            let lead = " ".repeat(indent);
            folded(canvas, text.trim_start(), room.saturating_sub(canvas.width(&lead)))
                .into_iter()
                .map(|part| vec![Bit::text(lead.clone()), Bit::text(part)])
                .collect()
        }
        TextLine::Pair { label, value, class } => {
            let fill = label_width.saturating_sub(canvas.width(label)).max(1);
            let mut first = vec![Bit::muted(format!("  {label}{}", " ".repeat(usize::from(fill))))];
            if let Some(class) = class {
                first.extend([canvas.glyph(*class), Bit::text(" ")]);
            }
            let start = canvas.bits_width(&first);
            let mut rows = Vec::new();
            for part in folded(canvas, value, room.saturating_sub(start)) {
                let lead = Bit::text(" ".repeat(usize::from(start)));
                let mut row = if rows.is_empty() { std::mem::take(&mut first) } else { vec![lead] };
                row.push(Bit::text(part));
                rows.push(row);
            }
            rows
        }
    }
}

/// `text` as it stands where it fits, else folded between words; one row at least.
pub(in crate::console) fn folded(canvas: &Canvas<'_>, text: &str, width: u16) -> Vec<String> {
    let plain = canvas.plain(text);
    if canvas.width(text) <= width || plain.trim().is_empty() {
        return vec![plain.into_owned()];
    }
    wrap(&plain, width)
}
