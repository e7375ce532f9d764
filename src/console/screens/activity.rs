//! Activity: tasks of Proxmox, what this console asked by itself, and everything the message line ever said.

use jiff::Timestamp;
use ratatui::layout::Rect;

use super::list::{self, Options};
use crate::console::list::{Cell, ListId, Scope};
use crate::console::view::ctx::Ctx;
use crate::console::widgets::canvas::{Bit, Canvas};
use crate::console::widgets::format;
use crate::console::widgets::frame::{Titles, rule};
use crate::inventory::Class;

/// Draws the screen into `area`.
pub fn draw(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect) {
    let roomy = area.height >= 24;
    let [probes, messages] =
        if roomy { [area.height / 4; 2] } else { [4.min(area.height / 4), 5.min(area.height / 3)] };
    let opts = Options { below: Some(probes + messages), ..Options::default() };
    let rest = list::draw(canvas, ctx, area, (ListId::Tasks, &Scope::All), opts);
    let upper = Rect { height: probes.min(rest.height), ..rest };
    let lower = Rect { y: upper.bottom(), height: rest.height - upper.height, ..rest };
    let probes: Vec<Line> = ctx.model.probes.iter().rev().map(|p| (p.at, probe(p))).collect();
    block(canvas, ctx, upper, ("probes by you", "Nothing was asked yet."), &probes);
    let messages = ctx.model.messages.iter().rev();
    let messages: Vec<Line> = messages.map(|(at, n)| (*at, vec![Cell::state(n.class, n.text.clone())])).collect();
    block(canvas, ctx, lower, ("messages", "Nothing was said yet."), &messages);
}

/// When, and what.
type Line = (Timestamp, Vec<Cell>);

fn probe(probe: &crate::console::resolve::Probe) -> Vec<Cell> {
    let result = probe.result.clone().unwrap_or_else(|| Cell::state(Class::Progress, "asking"));
    vec![Cell::text(probe.what.clone()), result]
}

/// Lines under a title with their count.
fn block(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, (title, empty): (&str, &'static str), lines: &[Line]) {
    if area.height == 0 {
        return;
    }
    let title = format!("{title} · {}", lines.len());
    rule(canvas, Rect { height: 1, ..area }, &Titles { right: vec![Bit::muted("newest first")], ..Titles::new(title) });
    let room = area.width.saturating_sub(3);
    if lines.is_empty() && area.height > 1 {
        canvas.bits((area.x + 2, area.y + 1), room, &[Bit::muted(empty)]);
    }
    for (y, (at, cells)) in (area.y + 1..area.bottom()).zip(lines) {
        let mut bits = vec![Bit::muted(format!("{:<7} ", format::when(*at, ctx.cx.now)))];
        bits.extend(canvas.line_bits(cells));
        canvas.bits((area.x + 2, y), room, &bits);
    }
}
