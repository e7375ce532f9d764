//! What goes on right now: new connections by the tenant's translation rules, and the flows that are tracked. Activity, which
//! is no health.

use super::Row;
use crate::console::findings::Inquiry;
use crate::console::view::ctx::Ctx;
use crate::console::widgets::canvas::{Bit, Canvas};
use crate::console::widgets::format;
use crate::inventory::{Class, Vrf};

/// One row an exit node of the tenant; none where nobody in particular was asked about.
pub(super) fn rows(canvas: &Canvas<'_>, ctx: &Ctx<'_>, inquiry: &Inquiry, width: u16) -> Vec<Row> {
    let Some(tenant) = inquiry.tenant.as_ref().filter(|_| inquiry.has_path()) else { return Vec::new() };
    let mine = ctx.inv().vrfs.iter().filter(|vrf| vrf.tenant == *tenant);
    mine.map(|vrf| row(canvas, ctx, vrf, width)).collect()
}

fn row(canvas: &Canvas<'_>, ctx: &Ctx<'_>, vrf: &Vrf, width: u16) -> Row {
    let wide = width >= super::WIDE;
    let unknown = |word: &str| [canvas.glyph(Class::Unknown), Bit::text(format!(" {word}"))];
    let mut out = vec![Bit::muted(format!("  now on {}  ", ctx.inv().site.short_name(&vrf.node))), Bit::text("SNAT ")];
    match &vrf.flow {
        Ok(flow) => {
            out.extend(flow.per_second.map(|rate| Bit::text(format!("{} new/s ", format::rate(rate)))));
            out.push(Bit::text(format::trend(&flow.history)));
            out.extend(wide.then(|| Bit::muted(format!(" {} so far", format::count(flow.total)))));
        }
        Err(gap) => out.extend(unknown(gap.word())),
    }
    match &vrf.tracked {
        Some(Ok(tracked)) => {
            let (total, silent) = (format::count(tracked.total), format::count(tracked.unreplied));
            out.push(Bit::text(format!(" · {total} flows, {silent} unanswered")));
            let key = ctx.key("flows");
            out.extend((wide && !key.is_empty()).then(|| Bit::muted(format!(" ({key} lists them)"))));
        }
        Some(Err(gap)) => {
            out.push(Bit::text(" · flows "));
            out.extend(unknown(gap.word()));
        }
        None => {}
    }
    out.push(Bit::muted(if wide { " · activity, not health" } else { " · activity" }));
    out
}
