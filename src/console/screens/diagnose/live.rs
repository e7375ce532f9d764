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
    let node = ctx.inv().site.short_name(&vrf.node).to_owned();
    let mut out = vec![Bit::muted(format!("  now on {node}  "))];
    match &vrf.flow {
        Ok(flow) => {
            let rate =
                flow.per_second.map_or_else(|| "SNAT".to_owned(), |rate| format!("SNAT {} new/s", format::rate(rate)));
            out.extend([Bit::text(rate), Bit::text(" "), Bit::text(format::trend(&flow.history))]);
            out.push(Bit::muted(format!(" {} so far", format::count(flow.total))));
        }
        Err(gap) => {
            out.extend([Bit::text("SNAT "), canvas.glyph(Class::Unknown), Bit::text(format!(" {}", gap.word()))])
        }
    }
    match &vrf.tracked {
        Some(Ok(tracked)) => {
            out.push(Bit::text(format!(
                " · {} tracked",
                format::plural(usize::try_from(tracked.total).unwrap_or(usize::MAX), "flow")
            )));
            let key = ctx.key("flows");
            let key = if key.is_empty() { String::new() } else { format!(", {key} lists them") };
            out.push(Bit::text(format!(", {} unanswered{key}", format::count(tracked.unreplied))));
        }
        Some(Err(gap)) => {
            out.extend([Bit::text(" · flows "), canvas.glyph(Class::Unknown), Bit::text(format!(" {}", gap.word()))])
        }
        None => {}
    }
    let note = Bit::muted(" · activity, not health");
    if canvas.bits_width(&out) + canvas.width(&note.text) <= width {
        out.push(note);
    }
    out
}
