//! What was read for a leg or a finding: one text, the values first, then every answer; searched like a page.

use ratatui::layout::Rect;

use super::text::folded;
use crate::console::findings::Line;
use crate::console::model::{Overlay, Screen};
use crate::console::msg::Hit;
use crate::console::theme::Role;
use crate::console::view::ctx::Ctx;
use crate::console::view::field;
use crate::console::widgets::canvas::{Bit, Canvas};
use crate::console::widgets::format::plural;
use crate::console::widgets::frame::{Titles, rule};
use crate::text::{Cut, cut};

/// Cells of a label.
const LABEL: u16 = 22;

type Row = Vec<Bit>;

/// Draws the text into `area`. Only what is shown is folded: an answer may have thousands of lines.
pub fn draw(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect) {
    let Screen::Evidence { lines, search, scroll, .. } = ctx.model.screen() else { return };
    let room = area.width.saturating_sub(2);
    let head = Titles { focused: true, ..Titles::new("Evidence") };
    rule(canvas, Rect { height: 1, ..area }, &head);
    let mut body = Rect { y: area.y + 1, height: area.height.saturating_sub(2), ..area };
    if let Overlay::Search { field, .. } = &ctx.model.overlay {
        canvas.bits((body.x + 1, body.y), 1, &[Bit::new("/", Role::Accent)]);
        field::draw(canvas, (body.x + 2, body.y), room.saturating_sub(2), field, "");
        body = Rect { y: body.y + 1, height: body.height.saturating_sub(1), ..body };
    }
    let height = usize::from(body.height);
    let end = last_top(canvas, lines, room, height);
    let top = (*scroll).min(end);
    canvas.hit(body, Hit::Text { top, end });
    let wanted = search.to_lowercase();
    let mut y = body.y;
    let mut shown = top;
    for line in lines.iter().skip(top) {
        let found = !wanted.is_empty() && line.plain().to_lowercase().contains(&wanted);
        for row in rows(canvas, line, room, found) {
            if y < body.bottom() {
                canvas.bits((body.x + 1, y), room, &row);
            }
            y += 1;
        }
        if y > body.bottom() {
            break;
        }
        shown += 1;
    }
    if !matches!(ctx.model.overlay, Overlay::Search { .. }) {
        canvas.point(body.x, body.y);
    }
    canvas.scrolls(body);
    let place = format!("lines {}–{} of {}", top + 1, shown.max(top + 1), lines.len());
    let matches =
        lines.iter().filter(|line| !wanted.is_empty() && line.plain().to_lowercase().contains(&wanted)).count();
    let title = if wanted.is_empty() { String::new() } else { format!("/{search} · {}", plural(matches, "line")) };
    let foot = Titles { right: vec![Bit::muted(place)], ..Titles::new(title) };
    rule(canvas, Rect { y: area.bottom().saturating_sub(1), height: 1, ..area }, &foot);
}

/// The line that is on top when the last one is at the bottom.
fn last_top(canvas: &Canvas<'_>, lines: &[Line], room: u16, height: usize) -> usize {
    let mut left = height;
    for (at, line) in lines.iter().enumerate().rev() {
        let own = rows(canvas, line, room, false).len();
        if own > left {
            return (at + 1).min(lines.len().saturating_sub(1));
        }
        left -= own;
    }
    0
}

fn rows(canvas: &Canvas<'_>, line: &Line, room: u16, found: bool) -> Vec<Row> {
    let role = if found { Role::Match } else { Role::Text };
    match line {
        Line::Head(text) => {
            let role = if found { Role::Match } else { Role::Title };
            folded(canvas, text, room).into_iter().map(|part| vec![Bit::new(part, role)]).collect()
        }
        Line::Pair(label, value) => {
            let label = cut(&canvas.plain(label), usize::from(LABEL), Cut::End, canvas.charset()).into_owned();
            let fill = LABEL.saturating_sub(canvas.width(&label)) + 1;
            let mut lead = vec![Bit::muted(format!("  {label}{}", " ".repeat(usize::from(fill))))];
            let start = canvas.bits_width(&lead);
            let blank = || vec![Bit::text(" ".repeat(usize::from(start)))];
            let parts = folded(canvas, value, room.saturating_sub(start));
            parts
                .into_iter()
                .map(|part| {
                    let mut row = std::mem::replace(&mut lead, blank());
                    row.push(Bit::new(part, role));
                    row
                })
                .collect()
        }
        Line::Text(text) => {
            broken(&canvas.plain(text), room).into_iter().map(|part| vec![Bit::new(part, role)]).collect()
        }
    }
}

/// `text` in pieces of at most `width` cells, broken behind a blank where one is near: the blanks of an answer stay as they are.
fn broken(text: &str, width: u16) -> Vec<String> {
    let width = usize::from(width.max(2));
    if crate::text::width(text) <= width {
        return vec![text.to_owned()];
    }
    let mut out = Vec::new();
    let (mut piece, mut used) = (String::new(), 0);
    for c in text.chars() {
        let own = crate::text::width(c.encode_utf8(&mut [0; 4]));
        if used + own > width {
            let blank = piece.rfind(' ').map(|at| at + 1).filter(|at| c != ' ' && *at * 3 > piece.len());
            let rest = blank.map(|at| piece.split_off(at)).unwrap_or_default();
            out.push(std::mem::replace(&mut piece, rest));
            used = crate::text::width(&piece);
        }
        piece.push(c);
        used += own;
    }
    out.push(piece);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_broken_where_it_must_and_keeps_its_blanks() {
        assert_eq!(broken("  ab  cd", 4), ["  ab", "  cd"]);
        assert_eq!(broken("日本語", 4), ["日本", "語"]);
        assert_eq!(broken("tcp replies seen", 9), ["tcp ", "replies ", "seen"]);
        assert_eq!(broken("10.20.129.10:40000 tcp", 9), ["10.20.129", ".10:40000", " tcp"], "a word that is longer");
        assert_eq!(broken("", 4), [""]);
    }
}
