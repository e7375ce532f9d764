//! VRF & egress at full width: live counters, and below them routes and translation of the selected VRF.

use ratatui::layout::Rect;

use super::list::{self, Options};
use crate::console::list::{Cx, ListId, Scope};
use crate::console::lists;
use crate::console::view::ctx::Ctx;
use crate::console::widgets::canvas::{Bit, Canvas};
use crate::console::widgets::frame::{Titles, rule};
use crate::console::widgets::{Table, Turn, format};
use crate::inventory::{Class, Inventory, SourceId, Vrf};

/// What must be read beside every rate (facts/exit-node.md §4).
const SENTENCE: &str =
    "A rate is activity, not health: with forwarding off the counter still rises. Verdicts come from a check.";
const SHORT_SENTENCE: &str = "A rate is activity, not health: with forwarding off it still rises.";

/// Draws the screen into `area`.
pub fn draw(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, scope: &Scope) {
    let below = if area.height >= 26 { area.height / 2 } else { 6.min(area.height / 3) };
    let rest =
        list::draw(canvas, ctx, area, (ListId::Vrfs, scope), Options { below: Some(below), ..Options::default() });
    let room = rest.width.saturating_sub(2);
    let sentence = if canvas.width(SENTENCE) <= room { SENTENCE } else { SHORT_SENTENCE };
    canvas.bits((rest.x + 1, rest.y), room, &[Bit::muted(sentence)]);
    let rest = Rect { y: rest.y + 1, height: rest.height.saturating_sub(1), ..rest };
    let rows = ctx.rows(ListId::Vrfs, scope);
    if !ctx.saying(canvas, &rows).body.is_empty() {
        return;
    }
    let Some(i) = rows.selected() else { return };
    let Some(vrf) = ctx.inv().vrfs.get(i) else { return };
    let facts = facts(ctx, i);
    let facts_rows = u16::try_from(facts.len()).unwrap_or(u16::MAX).min(6);
    if rest.height < 10 {
        lines(canvas, ctx, rest, vrf, &facts);
        return;
    }
    let routes_at = Rect { height: rest.height.saturating_sub(facts_rows + 1), ..rest };
    routes(canvas, ctx, routes_at, i, vrf);
    lines(canvas, ctx, Rect { y: routes_at.bottom(), height: facts_rows + 1, ..rest }, vrf, &facts);
}

fn facts(ctx: &Ctx<'_>, i: usize) -> Vec<Vec<crate::console::list::Cell>> {
    (lists::def(ListId::Vrfs).detail)(ctx.cx, i)
}

fn lines(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, vrf: &Vrf, facts: &[Vec<crate::console::list::Cell>]) {
    let node = ctx.inv().site.short_name(&vrf.node);
    rule(canvas, Rect { height: 1, ..area }, &Titles::new(format!("{} · translation and node {node}", vrf.tenant)));
    for (y, line) in (area.y + 1..area.bottom()).zip(facts) {
        canvas.line((area.x + 2, y), area.width.saturating_sub(3), line);
    }
}

fn routes(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, i: usize, vrf: &Vrf) {
    let order = positions(ctx.inv(), i);
    let read = ctx.inv().sources.get(SourceId::Exit).observed_at.map(|at| format!("read {} · ", format::minute(at)));
    let count =
        vrf.routes.as_ref().map_or_else(|gap| format!("? {}", gap.word()), |r| format::plural(r.len(), "route"));
    let right = format!("{}{count}", read.unwrap_or_default());
    let titles =
        Titles { right: vec![Bit::muted(right)], ..Titles::new(format!("{} · routes in {}", vrf.tenant, vrf.device)) };
    rule(canvas, Rect { height: 1, ..area }, &titles);
    let inside = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    if let Err(gap) = &vrf.routes {
        let text = Rect { x: inside.x + 2, width: inside.width.saturating_sub(3), ..inside };
        canvas.flow(text, &[canvas.glyph(Class::Unknown), Bit::text(gap.why.to_string())]);
        return;
    }
    let table = Table {
        def: lists::def(ListId::Routes),
        cx: Cx { inv: ctx.inv(), now: ctx.cx.now },
        order: &order,
        at: None,
        top: 0,
        marks: None,
        hidden: &|key| key == "tenant",
        sort: None,
        focused: false,
        stale: false,
        head: true,
        turn: Turn::Line,
    };
    let room = usize::from(inside.height.saturating_sub(1));
    if order.len() <= room {
        table.draw(canvas, inside);
        return;
    }
    table.draw(canvas, Rect { height: inside.height - 1, ..inside });
    let more = format!("{} more: : routes", order.len() + 1 - room);
    canvas.bits((inside.x + 2, inside.bottom() - 1), inside.width.saturating_sub(3), &[Bit::muted(more)]);
}

/// Positions of the routes of VRF `i` among all routes.
fn positions(inv: &Inventory, i: usize) -> Vec<u32> {
    let count = |v: &Vrf| v.routes.as_ref().map_or(0, Vec::len);
    let start: usize = inv.vrfs.iter().take(i).map(count).sum();
    let own = inv.vrfs.get(i).map_or(0, count);
    (start..start + own).filter_map(|n| u32::try_from(n).ok()).collect()
}
