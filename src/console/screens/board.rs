//! Tenant rail and board: the master and the panes of the selected tenant.

use std::sync::Arc;

use ratatui::layout::Rect;

use super::{pane, rail, tabs};
use crate::console::list::{Cell, Cx, ListId, Scope};
use crate::console::lists;
use crate::console::model::{Layout, Screen};
use crate::console::view::ctx::Ctx;
use crate::console::widgets::canvas::{Bit, Canvas};
use crate::console::widgets::format;
use crate::console::widgets::frame::{Titles, boxed};
use crate::inventory::{Class, Tenant};

/// Columns of the rail, borders included.
const RAIL: u16 = 28;

/// Draws rail and board into `area`.
pub fn draw(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect) {
    rail::draw(canvas, ctx, Rect { width: RAIL, ..area });
    let board = Rect { x: area.x + RAIL, width: area.width.saturating_sub(RAIL), ..area };
    let rows = ctx.rail();
    let pointed = || rows.selected().and_then(|i| ctx.inv().tenants.get(i)).map(|t| Arc::clone(&t.name));
    let name = match ctx.model.screen() {
        Screen::Board { tenant } => Some(Arc::clone(tenant)),
        _ => ctx.model.board.clone().or_else(pointed),
    };
    let Some(name) = name else {
        let saying = ctx.saying(canvas, &rows);
        let inside = boxed(canvas, board, &Titles { right: saying.right.clone(), ..Titles::new("No tenant") });
        pane::paragraphs(canvas, inside, &saying);
        return;
    };
    panes(canvas, ctx, board, &name);
}

fn panes(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, name: &Arc<str>) {
    let scope = Scope::Tenant(Arc::clone(name));
    let one = ctx.model.one_pane();
    let tab_row = u16::from(one);
    if one {
        tabs::draw(canvas, ctx, Rect { height: 1, ..area }, name);
    }
    let [summary_at, rest] = rows(Rect { y: area.y + tab_row, height: area.height - tab_row, ..area }, [4, 0]);
    match ctx.inv().tenant(name) {
        Some(tenant) => summary(canvas, ctx, summary_at, tenant),
        None => gone(canvas, ctx, summary_at, name),
    }
    let draw = |canvas: &mut Canvas<'_>, area, list| pane::draw(canvas, ctx, area, list, &scope);
    if one {
        draw(canvas, rest, ctx.model.tab);
    } else if ctx.model.layout() == Layout::Wide {
        let [top, middle, rules] = rows(rest, wide_heights(rest.height));
        let third = top.width / 3;
        let [left, vrf] =
            [Rect { width: top.width - third, ..top }, Rect { x: top.right() - third, width: third, ..top }];
        draw(canvas, left, ListId::Workloads);
        draw(canvas, vrf, ListId::VrfFacts);
        let columns = [ListId::Vnets, ListId::Records, ListId::Checkins];
        for (list, area) in columns.into_iter().zip(thirds(middle)) {
            draw(canvas, area, list);
        }
        draw(canvas, rules, ListId::Rules);
    } else {
        let [workloads, egress, names, rules] = rows(rest, heights(rest.height));
        draw(canvas, workloads, ListId::Workloads);
        let [left, right] = halves(egress);
        draw(canvas, left, ListId::VrfFacts);
        draw(canvas, right, ListId::Vnets);
        let [left, right] = halves(names);
        draw(canvas, left, ListId::Records);
        draw(canvas, right, ListId::Checkins);
        draw(canvas, rules, ListId::Rules);
    }
}

/// Heights of workloads, egress, names and rules. They depend on the screen alone, so that panes stand still.
fn heights(total: u16) -> [u16; 4] {
    let mut heights = [6, 6, 5, 5];
    let mut left = total.saturating_sub(22);
    for (i, most) in [(1, 8), (2, 9), (3, 7)] {
        if let Some(height) = heights.get_mut(i) {
            let more = left.min(most - *height);
            *height += more;
            left -= more;
        }
    }
    let [workloads, rest @ ..] = heights;
    let [egress, names, rules] = rest;
    [workloads + left, egress, names, rules]
}

fn wide_heights(total: u16) -> [u16; 3] {
    let rules = (total / 5).clamp(5, 8);
    let middle = ((total - rules.min(total)) / 2).clamp(6, 12);
    [total.saturating_sub(rules + middle), middle, rules]
}

/// `area` cut into rows of these heights; the last takes what is left.
fn rows<const N: usize>(area: Rect, heights: [u16; N]) -> [Rect; N] {
    let mut y = area.y;
    let mut n = 0;
    heights.map(|height| {
        n += 1;
        let left = area.bottom().saturating_sub(y);
        let height = if n == N { left } else { height.min(left) };
        let row = Rect { y, height, ..area };
        y += height;
        row
    })
}

const fn halves(area: Rect) -> [Rect; 2] {
    let left = area.width / 2;
    [Rect { width: left, ..area }, Rect { x: area.x + left, width: area.width - left, ..area }]
}

/// Three columns, the first a little wider: its table has more that must not be cut.
const fn thirds(area: Rect) -> [Rect; 3] {
    let third = area.width / 3 - 2;
    let (second, last) = (area.x + third + 4, area.x + 2 * third + 4);
    [
        Rect { width: third + 4, ..area },
        Rect { x: second, width: third, ..area },
        Rect { x: last, width: area.width - 2 * third - 4, ..area },
    ]
}

/// The six layers in words, and what is derived from the index.
fn summary(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, tenant: &Tenant) {
    let cx = ctx.cx;
    let titles = Titles {
        right: vec![Bit::muted(if area.width < 88 { short(tenant) } else { derived(tenant) })],
        ..Titles::new(format!("{} · index {} · {}", tenant.name, tenant.index, status(cx, tenant)))
    };
    let inside = boxed(canvas, area, &titles);
    let quarter = inside.width / 4;
    let (first, second) = (["fabric", "node", "dns", "resolver"], ["workloads", "", "bootstrap", "egress"]);
    for (y, names) in (inside.y..inside.bottom()).zip([first, second]) {
        for (column, name) in (0..4u16).zip(names) {
            let span = if name == "workloads" { 2 } else { 1 };
            let bits = match tenant.layers.all().into_iter().find(|(_, n, _)| *n == name) {
                Some((letter, _, layer)) => layer_bits(canvas, name, lists::layer_cell(cx, letter, layer)),
                None if name == "egress" => layer_bits(canvas, name, verdict(ctx, &tenant.name, quarter)),
                None => continue,
            };
            let width = (quarter * span).saturating_sub(1);
            canvas.bits((inside.x + 1 + quarter * column, y), width, &bits);
        }
    }
}

/// Egress has a verdict only after a check: the last one, with its time.
fn verdict(ctx: &Ctx<'_>, tenant: &str, width: u16) -> Cell {
    if let Some(verdict) = ctx.model.verdicts.get(tenant) {
        return Cell::state(verdict.class, format::minute(verdict.at));
    }
    Cell::state(Class::NotRun, if width > 20 { "not run here" } else { "not run" })
}

/// A layer as `node ✗ no SNAT rule`.
fn layer_bits(canvas: &Canvas<'_>, name: &'static str, cell: Cell) -> Vec<Bit> {
    let mut bits = vec![Bit::muted(name), Bit::text(" ")];
    bits.extend(canvas.cell_bits(&cell));
    bits
}

/// Numbers that follow from the index.
#[must_use]
pub fn derived(tenant: &Tenant) -> String {
    let (first, last) = (tenant.vnet_vni, tenant.vnet_vni + 9);
    format!("VRF {} · VNets {first}–{last} · {}", tenant.vrf_vni, tenant.subnet)
}

/// The same where there is less room.
fn short(tenant: &Tenant) -> String {
    format!("VRF {} · {}", tenant.vrf_vni, tenant.subnet)
}

fn status(cx: Cx<'_>, tenant: &Tenant) -> &'static str {
    use crate::inventory::TenantStatus;
    match lists::status_now(cx, tenant) {
        TenantStatus::Ready => "ready",
        TenantStatus::Provisioning => "provisioning",
        TenantStatus::Deleting => "deleting",
        TenantStatus::Unknown => "unknown",
    }
}

/// The tenant the screen speaks of is not in the picture: gone, or not known.
fn gone(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, name: &str) {
    let inside = boxed(canvas, area, &Titles::new(name));
    let text = match &ctx.inv().tenants_gap {
        Some(gap) => format!("The tenant list is not known: {}", gap.why),
        None => format!("{name} is not there any more: no zone of the index band has that name."),
    };
    let area = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    canvas.flow(area, &[canvas.glyph(Class::Unknown), Bit::text(text)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_design_size_gives_the_documented_heights() {
        assert_eq!(heights(32), [8, 8, 9, 7]);
        assert_eq!(heights(22), [6, 6, 5, 5]);
        assert_eq!(heights(60).iter().sum::<u16>(), 60);
    }

    #[test]
    fn rows_cover_their_area() {
        let area = Rect::new(3, 2, 10, 20);
        let [a, b, c] = rows(area, [4, 9, 1]);
        assert_eq!((a.y, a.height, b.y, b.height, c.y, c.height), (2, 4, 6, 9, 15, 7));
        let [a, b] = rows(Rect { height: 3, ..area }, [4, 9]);
        assert_eq!((a.height, b.height), (3, 0));
    }
}
