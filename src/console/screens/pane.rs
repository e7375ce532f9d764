//! A pane: rows, or what stands in their place, with what belongs below them.

use ratatui::layout::Rect;

use crate::console::list::{ListId, Scope};
use crate::console::lists;
use crate::console::model::Layout;
use crate::console::msg::Hit;
use crate::console::view::ctx::{Ctx, Rows};
use crate::console::widgets::canvas::{Bit, Canvas};
use crate::console::widgets::frame::{Titles, boxed};
use crate::console::widgets::state::Saying;
use crate::console::widgets::{Turn, format};
use crate::inventory::{Class, Inventory, Tenant};

/// Draws one boxed pane of a board.
pub fn draw(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, list: ListId, scope: &Scope) {
    let rows = ctx.rows(list, scope);
    let saying = ctx.saying(canvas, &rows);
    let unknown = !saying.body.is_empty() && rows.order.is_empty() && !saying.right.is_empty();
    let right = if saying.right.is_empty() { beside(canvas, ctx, &rows) } else { saying.right.clone() };
    let titles = Titles {
        title: title(&rows, unknown),
        right,
        foot: if saying.body.is_empty() { foot(ctx, &rows) } else { Vec::new() },
        focused: ctx.focused(list),
    };
    canvas.hit(area, Hit::List(list));
    let inside = boxed(canvas, area, &titles);
    body(canvas, ctx, inside, &rows, &saying);
}

fn title(rows: &Rows<'_>, unknown: bool) -> String {
    match rows.def.id {
        ListId::VrfFacts => rows.def.title.to_owned(),
        ListId::Workloads => rows.title(unknown),
        ListId::Rules if unknown => "Perimeter rules that touch this tenant".to_owned(),
        ListId::Rules => format!("Perimeter rules that touch this tenant · {}", rows.order.len()),
        _ if unknown => rows.def.title.to_owned(),
        _ => format!("{} · {}", rows.def.title, rows.order.len()),
    }
}

/// What stands at the right of the title while all is well.
fn beside(canvas: &Canvas<'_>, ctx: &Ctx<'_>, rows: &Rows<'_>) -> Vec<Bit> {
    if rows.def.id == ListId::Rules { super::rules::forbidden(canvas, ctx.inv()) } else { Vec::new() }
}

/// Draws rows and what belongs below them into `area`, or the paragraphs that stand in their place.
pub fn body(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, rows: &Rows<'_>, saying: &Saying) {
    if !saying.body.is_empty() {
        paragraphs(canvas, area, saying);
        return;
    }
    let head = u16::from(rows.def.id != ListId::VrfFacts);
    let mut room = area.height;
    let reason = u16::from(!saying.foot.is_empty() && room > 2 + head);
    room -= reason;
    let wanted = u16::try_from(rows.order.len()).unwrap_or(u16::MAX).saturating_add(head);
    let more = u16::from(wanted > room && room > 2 + head);
    let table_area = Rect { height: room - more, ..area };
    let hidden = |key: &str| hidden(ctx, rows, key, true);
    let mut table = rows.table(ctx, &hidden, Turn::HalfPage, saying.stale);
    table.head = head > 0;
    table.draw(canvas, table_area);
    if more > 0 {
        let shown = usize::from(room - more - head);
        let text = format!("{} more: {} zoom", rows.order.len().saturating_sub(shown), ctx.key("zoom"));
        canvas.bits((area.x + 2, area.y + room - 1), area.width.saturating_sub(2), &[Bit::muted(text)]);
    }
    if reason > 0 {
        canvas.bits((area.x + 2, area.bottom() - 1), area.width.saturating_sub(2), &saying.foot);
    }
    let below = Rect { y: area.y + wanted.min(room), height: room.saturating_sub(wanted), ..area };
    extras(canvas, ctx, below, rows);
}

/// The paragraphs of a state, with one blank row above where there is room.
pub fn paragraphs(canvas: &mut Canvas<'_>, area: Rect, saying: &Saying) {
    let mut area = Rect { x: area.x + 2, width: area.width.saturating_sub(3), ..area };
    if area.height > 3 {
        area.y += 1;
        area.height -= 1;
    }
    for paragraph in &saying.body {
        if area.height == 0 {
            return;
        }
        let used = canvas.flow(area, paragraph).min(area.height);
        area.y += used;
        area.height -= used;
    }
}

/// Columns that say nothing here: the tenant in a list of one tenant, the node where there is one.
#[must_use]
pub fn hidden(ctx: &Ctx<'_>, rows: &Rows<'_>, key: &str, pane: bool) -> bool {
    if rows.switched_off(key) {
        return true;
    }
    let one_tenant = rows.tenant().is_some();
    match (rows.def.id, key) {
        (_, "tenant") => one_tenant,
        (ListId::Vnets, "zone") => one_tenant || !ctx.inv().vnets.iter().any(|v| v.tenant.is_none()),
        (ListId::Vnets, "gateway") => pane,
        (ListId::Rules, key) => lists::left_out(key, pane, ctx.model.layout() <= Layout::Compact),
        (ListId::Vrfs | ListId::VrfFacts, "node") => ctx.inv().site.exit_nodes.len() < 2,
        (ListId::Workloads | ListId::Tasks, "node") => pane && ctx.inv().fabric.members.len() < 2,
        _ => false,
    }
}

/// What stands on the lower border.
fn foot(ctx: &Ctx<'_>, rows: &Rows<'_>) -> Vec<Bit> {
    let tenant = rows.tenant().and_then(|t| ctx.inv().tenant(t));
    match (rows.def.id, tenant) {
        (ListId::Workloads, Some(tenant)) => vec![Bit::muted(free(ctx.inv(), tenant))],
        _ => Vec::new(),
    }
}

/// Ordinals that are free and what the next workload would get, e.g. `38 of 40 ordinals free · next 2042 · 10.20.129.12`.
#[must_use]
pub fn free(inv: &Inventory, tenant: &Tenant) -> String {
    let plan = &inv.site.numbering;
    let per = plan.vmids_per_tenant;
    let used: Vec<u8> = inv.workloads_of(tenant).iter().filter_map(|w| w.ordinal).collect();
    let is_free = |k: &u32| !used.iter().any(|u| u32::from(*u) == *k);
    let count = (0..per).filter(is_free).count();
    let next = (0..per).find(is_free).map(|k| {
        let vmid = plan.vmid_base + per * u32::from(tenant.index) + k;
        let address = std::net::Ipv4Addr::from(u32::from(tenant.subnet.network()) + 10 + k);
        format!(" · next {vmid} · {address}")
    });
    format!("{count} of {per} ordinals free{}", next.unwrap_or_default())
}

/// Lines that belong to a pane beyond its rows, where there is room.
fn extras(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, rows: &Rows<'_>) {
    let Some(tenant) = rows.tenant().and_then(|t| ctx.inv().tenant(t)) else { return };
    let at = |y| (area.x + 2, y);
    let room = area.width.saturating_sub(2);
    match rows.def.id {
        ListId::VrfFacts if area.height > 0 => {
            canvas.bits(at(area.y), room, &flows(ctx, tenant));
        }
        ListId::Vnets if area.height > 2 => {
            let used: Vec<u32> = ctx.inv().vnets_of(tenant).iter().filter_map(|v| v.tag).collect();
            let unused = (tenant.vnet_vni..tenant.vnet_vni + 10).filter(|t| !used.contains(t));
            let tags = format!("tags {} ", format::ranges(unused));
            let bits = [Bit::muted(tags), canvas.glyph(Class::Absent), Bit::muted(" unused")];
            canvas.bits(at(area.y + 1), room, &bits);
        }
        _ => {}
    }
}

/// New connections through the tenant's translation rules: activity, said in `text`, never as a state.
fn flows(ctx: &Ctx<'_>, tenant: &Tenant) -> Vec<Bit> {
    let mut out = vec![Bit::muted("SNAT flows  ")];
    for vrf in ctx.inv().vrfs_of(tenant) {
        let Ok(flow) = &vrf.flow else {
            out.push(Bit::new("? ", crate::console::theme::Role::Unknown));
            continue;
        };
        let rate = flow.per_second.map_or_else(String::new, |r| format!("{} new/s · ", format::rate(r)));
        out.push(Bit::text(format!("{rate}{} ", format::count_narrow(flow.total))));
    }
    out.push(Bit::muted("activity"));
    out
}
