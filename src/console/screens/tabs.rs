//! The tab bar: every pane with its count, or with its glyph when something is wrong there.

use std::sync::Arc;

use ratatui::layout::Rect;

use crate::console::list::{ListId, Scope};
use crate::console::model::TABS;
use crate::console::msg::Hit;
use crate::console::theme::Role;
use crate::console::view::ctx::{Ctx, Rows};
use crate::console::widgets::canvas::{Bit, Canvas};
use crate::inventory::{Class, Tenant};

/// Short name of a tab.
const fn name(list: ListId) -> &'static str {
    match list {
        ListId::VrfFacts | ListId::Vrfs => "VRF",
        ListId::Vnets => "VNets",
        ListId::Workloads => "Workloads",
        ListId::Records => "DNS",
        ListId::Checkins => "Check-ins",
        ListId::Rules => "Rules",
        _ => "",
    }
}

/// Draws the tab bar of `tenant` into `area`; the open tab stands in brackets.
pub fn draw(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, tenant: &Arc<str>) {
    let scope = Scope::Tenant(Arc::clone(tenant));
    let next = ctx.key("next-pane");
    let hint = Bit::muted(format!("{} next", if next.is_empty() { "tab" } else { &next }));
    let end = canvas.bits_right(area.right().saturating_sub(1), area.y, 12, &[hint]);
    let mut x = area.x + 1;
    for list in TABS {
        let rows = ctx.rows(list, &scope);
        let saying = ctx.saying(canvas, &rows);
        let mark = saying
            .sign()
            .or_else(|| ctx.inv().tenant(tenant).and_then(|t| trouble(canvas, t, list)))
            .or_else(|| rules_trouble(canvas, ctx, &rows))
            .or_else(|| (list != ListId::VrfFacts).then(|| Bit::text(rows.total.to_string())))
            .unwrap_or_else(|| canvas.glyph(Class::Fine));
        let open = list == ctx.model.tab;
        let (left, right, role) = if open { ("[", "]", Role::Title) } else { (" ", " ", Role::Text) };
        let bits = [
            Bit::new(left, Role::BorderFocus),
            Bit::new(name(list), role),
            Bit::text(" "),
            mark,
            Bit::new(right, Role::BorderFocus),
        ];
        let used = canvas.bits((x.saturating_sub(1), area.y), end.saturating_sub(x), &bits);
        canvas.hit(Rect::new(x.saturating_sub(1), area.y, used, 1), Hit::List(list));
        x += used;
    }
}

/// The worst of the rules in sight, where one must not exist or is not in force.
fn rules_trouble(canvas: &Canvas<'_>, ctx: &Ctx<'_>, rows: &Rows<'_>) -> Option<Bit> {
    let of = |i: &u32| ctx.inv().rules.get(*i as usize).map(|r| r.class);
    let worst = rows.order.iter().filter_map(of).max().filter(|_| rows.def.id == ListId::Rules)?;
    (worst >= Class::Differs).then(|| canvas.glyph(worst))
}

/// The glyph of the layer behind a pane when it is not as it should be.
fn trouble(canvas: &Canvas<'_>, tenant: &Tenant, list: ListId) -> Option<Bit> {
    let layer = match list {
        ListId::VrfFacts => &tenant.layers.node,
        ListId::Vnets => &tenant.layers.fabric,
        ListId::Workloads => &tenant.layers.workloads,
        ListId::Checkins => &tenant.layers.bootstrap,
        ListId::Records => &tenant.layers.dns,
        _ => return None,
    };
    (layer.class > Class::NotRun).then(|| canvas.glyph(layer.class))
}
