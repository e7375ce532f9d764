//! The tenant rail: every tenant with its six letters, and what the letters mean.

use ratatui::layout::Rect;

use super::pane;
use crate::console::list::ListId;
use crate::console::msg::Hit;
use crate::console::view::ctx::Ctx;
use crate::console::widgets::Turn;
use crate::console::widgets::canvas::{Bit, Canvas};
use crate::console::widgets::format;
use crate::console::widgets::frame::{Titles, boxed};
use crate::inventory::{Class, Inventory};

/// Indices that may be given away; the one after them is for drills (domain.md §3).
const ALLOCATABLE: u8 = 62;
/// Rows of the legend, its blank row included.
const LEGEND: u16 = 10;

/// Draws the rail into `area`.
pub fn draw(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect) {
    let rows = ctx.rail();
    let saying = ctx.saying(canvas, &rows);
    let titles =
        Titles { right: saying.right.clone(), focused: ctx.focused(ListId::Tenants), ..Titles::new(title(ctx.inv())) };
    canvas.hit(area, Hit::List(ListId::Tenants));
    let inside = boxed(canvas, area, &titles);
    if !saying.body.is_empty() {
        pane::paragraphs(canvas, inside, &saying);
        return;
    }
    let wanted = u16::try_from(rows.order.len() + 1).unwrap_or(u16::MAX);
    let below = if wanted.saturating_add(LEGEND) <= inside.height { LEGEND } else { u16::from(inside.height > 6) };
    let table_area = Rect { height: inside.height - below, ..inside };
    let hidden = |key: &str| matches!(key, "status" | "subnet" | "vms" | "worst") || rows.switched_off(key);
    rows.table(ctx, &hidden, Turn::HalfPage, saying.stale).draw(canvas, table_area);
    legend(canvas, ctx, Rect { y: inside.bottom() - below, height: below, ..inside });
}

/// `Tenants 6/62`; a question mark where the list is not known.
#[must_use]
pub fn title(inv: &Inventory) -> String {
    if inv.tenants_gap.is_some() {
        return format!("Tenants ?/{ALLOCATABLE}");
    }
    let used = inv.tenants.iter().filter(|t| !t.drill).count();
    format!("Tenants {used}/{ALLOCATABLE}")
}

/// Indices nobody uses, e.g. `56 free: 6, 8–62`.
#[must_use]
pub fn free(inv: &Inventory) -> String {
    if inv.tenants_gap.is_some() {
        return "free indices ? unknown".into();
    }
    let used = |n: &u32| inv.tenants.iter().any(|t| u32::from(t.index) == *n);
    let free: Vec<u32> = (1..=u32::from(ALLOCATABLE)).filter(|n| !used(n)).collect();
    if free.is_empty() { "none free".to_owned() } else { format!("{} free: {}", free.len(), format::ranges(free)) }
}

fn legend(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect) {
    let x = area.x + 1;
    let room = area.width.saturating_sub(2);
    if area.height == LEGEND {
        let words = ["F fabric    N node", "D dns       R resolver", "W workloads B bootstrap"];
        for (y, line) in (area.y + 1..).zip(words) {
            canvas.bits((x, y), room, &[Bit::muted(line)]);
        }
        let glyphs = [
            [(Class::Fine, " present"), (Class::Absent, " absent")],
            [(Class::Pending, " pending"), (Class::Differs, " differs")],
            [(Class::Warning, " warning"), (Class::Fault, " fault")],
        ];
        for (y, line) in (area.y + 5..).zip(glyphs) {
            for (x, (class, word)) in [x, x + 11].into_iter().zip(line) {
                let bits = [canvas.glyph(class), Bit::muted(word)];
                canvas.bits((x, y), room, &bits);
            }
        }
    }
    if area.height == LEGEND {
        let off = canvas.look().glyphs.source_off;
        let bits = [canvas.glyph(Class::Unknown), Bit::muted(format!(" unknown  {off} off"))];
        canvas.bits((x, area.y + 8), room, &bits);
    }
    if let Some(last) = area.height.checked_sub(1) {
        canvas.bits((x, area.y + last), room, &[Bit::muted(free(ctx.inv()))]);
    }
}
