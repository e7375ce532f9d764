//! Check-ins at full width, and below them the story of the selected one: what is known, in order, with its times.

use ratatui::layout::Rect;

use super::list::{self, Options};
use crate::console::list::{Cell, ListId, Scope};
use crate::console::lists;
use crate::console::view::ctx::Ctx;
use crate::console::widgets::canvas::{Bit, Canvas};
use crate::console::widgets::format;
use crate::console::widgets::frame::{Titles, rule};
use crate::inventory::{CheckInEvent, CheckInRow, Class};

/// Draws the screen into `area`.
pub fn draw(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, scope: &Scope) {
    let below = if area.height >= 26 { area.height / 2 } else { 8.min(area.height / 3 + 1) };
    let opts = Options { below: Some(below), ..Options::default() };
    let rest = list::draw(canvas, ctx, area, (ListId::Checkins, scope), opts);
    let rows = ctx.rows(ListId::Checkins, scope);
    if !ctx.saying(canvas, &rows).body.is_empty() {
        return;
    }
    let Some((i, row)) = rows.selected().and_then(|i| Some((i, ctx.inv().checkins.get(i)?))) else { return };
    let facts = (lists::def(ListId::Checkins).detail)(ctx.cx, i);
    let wanted = u16::try_from(facts.len()).unwrap_or(u16::MAX);
    // The sentence is worth more than the oldest events.
    let told = wanted.min(if rest.height >= 14 { 6 } else { 1 });
    let story = Rect { height: rest.height.saturating_sub(told + u16::from(told > 1)), ..rest };
    timeline(canvas, ctx, story, row);
    let mut y = story.bottom();
    if told > 1 {
        rule(canvas, Rect { y, height: 1, ..rest }, &Titles::default());
        y += 1;
    }
    sentences(canvas, Rect { y, height: rest.bottom().saturating_sub(y), ..rest }, &facts);
}

fn sentences(canvas: &mut Canvas<'_>, area: Rect, facts: &[Vec<Cell>]) {
    let mut y = area.y;
    for line in facts {
        let left = area.bottom().saturating_sub(y);
        if left == 0 {
            return;
        }
        let bits = canvas.line_bits(line);
        let at = Rect::new(area.x + 1, y, area.width.saturating_sub(2), left);
        y += canvas.flow(at, &bits).min(left);
    }
}

/// The newest events that fit, oldest first, below a title with the token's key id.
fn timeline(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, row: &CheckInRow) {
    let kid = row.kid.as_ref().map(|kid| Bit::muted(format!("token dbt1.{kid}.…")));
    let titles = Titles {
        right: kid.into_iter().collect(),
        ..Titles::new(format!("{}/{} · first boot", row.tenant, row.workload))
    };
    rule(canvas, Rect { height: 1, ..area }, &titles);
    let room = usize::from(area.height.saturating_sub(1));
    let (x, width) = (area.x + 2, area.width.saturating_sub(3));
    if row.events.is_empty() {
        canvas.bits((x, area.y + 1), width, &[Bit::muted("Nothing was recorded.")]);
        return;
    }
    let hidden = row.events.len().saturating_sub(room);
    // Where the story is longer than the room, its first line says so.
    let skip = if hidden > 0 { hidden + 1 } else { 0 };
    let mut y = area.y + 1;
    if skip > 0 {
        let text = format!("{skip} earlier: {} describe", ctx.key("describe"));
        canvas.bits((x, y), width, &[Bit::muted(text)]);
        y += 1;
    }
    for (event, y) in row.events.iter().skip(skip).zip(y..area.bottom()) {
        canvas.bits((x, y), width, &bits(canvas, ctx, event));
    }
}

fn bits(canvas: &Canvas<'_>, ctx: &Ctx<'_>, event: &CheckInEvent) -> Vec<Bit> {
    let glyph = if event.class == Class::Absent { Bit::text(" ") } else { canvas.glyph(event.class) };
    let time = format::stamp(event.at, ctx.cx.now);
    vec![Bit::muted(format!("{time:>16}  ")), glyph, Bit::text(format!(" {:<12} {}", event.what, event.text))]
}
