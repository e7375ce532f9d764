//! Overview: what needs a human now, every tenant layer by layer, the site.

use ratatui::layout::Rect;

use super::list::{self, Options};
use crate::console::list::{Cell, Cx, ListId, Scope};
use crate::console::lists;
use crate::console::model::Layout;
use crate::console::view::ctx::Ctx;
use crate::console::widgets::canvas::{Bit, Canvas};
use crate::console::widgets::format;
use crate::console::widgets::frame::{Titles, rule};
use crate::inventory::{Class, GapKind, Inventory, Layer, SourceId, SourceStatus, Tenant};

/// Rows of the site block, its rule included.
const SITE: u16 = 4;
/// Cells of the tenant's name in the matrix.
const NAME: u16 = 11;

/// Draws the screen into `area`.
pub fn draw(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect) {
    let tenants = u16::try_from(ctx.inv().tenants.len()).unwrap_or(u16::MAX);
    let site = if area.height >= 24 { SITE } else { 0 };
    let matrix = tenants.saturating_add(2).min((area.height - site) / 2);
    let opts = Options { below: Some(matrix + site), ..Options::default() };
    let rest = list::draw(canvas, ctx, area, (ListId::Attention, &Scope::All), opts);
    self::matrix(canvas, ctx, Rect { height: matrix, ..rest });
    if site > 0 {
        self::site(canvas, ctx, Rect { y: rest.y + matrix, height: site, ..rest });
    }
}

fn matrix(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect) {
    let inv = ctx.inv();
    let read = inv.sources.get(SourceId::Pve).observed_at.map_or_else(
        || "not read yet".to_owned(),
        |at| format!("expected from the index, observed {}", format::minute(at)),
    );
    rule(
        canvas,
        Rect { height: 1, ..area },
        &Titles { right: vec![Bit::muted(read)], ..Titles::new("tenant × layer") },
    );
    let inside = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    if let Some(gap) = &inv.tenants_gap {
        let text = Rect { x: inside.x + 2, width: inside.width.saturating_sub(3), ..inside };
        canvas.flow(text, &[canvas.glyph(Class::Unknown), Bit::text(gap.why.to_string())]);
        return;
    }
    let words = ctx.model.layout() > Layout::Compact;
    let tail = if words { 19 } else { 0 };
    let cell = if words { (inside.width.saturating_sub(NAME + 2 + tail)) / 6 } else { 10 };
    head(canvas, inside, cell, words);
    let room = usize::from(inside.height.saturating_sub(1));
    let fits = inv.tenants.len() <= room;
    let shown = if fits { room } else { room.saturating_sub(1) };
    let mut y = inside.y + 1;
    for tenant in inv.tenants.iter().take(shown) {
        row(canvas, ctx.cx, Rect { y, height: 1, ..inside }, tenant, (cell, words));
        y += 1;
    }
    if !fits {
        let more = format!("{} more: {} tenants", inv.tenants.len() - shown, ctx.key("go tenants"));
        canvas.bits((inside.x + 2, y), inside.width.saturating_sub(3), &[Bit::muted(more)]);
    }
}

fn head(canvas: &mut Canvas<'_>, area: Rect, cell: u16, words: bool) {
    let titles = ["FABRIC", "NODE", "DNS", "RESOLVER", "WORKLOADS", "BOOTSTRAP"];
    canvas.bits((area.x + 2, area.y), NAME, &[Bit::muted("TENANT")]);
    for (x, title) in (area.x + 2 + NAME..).step_by(usize::from(cell.max(1))).zip(titles) {
        canvas.bits((x, area.y), cell.saturating_sub(1), &[Bit::muted(title)]);
    }
    if words {
        canvas.bits((area.x + 2 + NAME + 6 * cell, area.y), 18, &[Bit::muted("INDEX")]);
    }
}

fn row(canvas: &mut Canvas<'_>, cx: Cx<'_>, area: Rect, tenant: &Tenant, (cell, words): (u16, bool)) {
    canvas.bits((area.x + 2, area.y), NAME - 1, &[Bit::text(tenant.name.to_string())]);
    canvas.hit(
        area,
        crate::console::msg::Hit::Row(ListId::Tenants, crate::inventory::ObjectId::Tenant(tenant.name.clone())),
    );
    let columns = (area.x + 2 + NAME..).step_by(usize::from(cell.max(1)));
    for (x, (letter, _, layer)) in columns.zip(tenant.layers.all()) {
        let shown = lists::layer_cell(cx, letter, layer);
        let bits = canvas.cell_bits(&Cell { text: word(shown.text.clone(), layer, cell), ..shown });
        canvas.bits((x, area.y), cell.saturating_sub(1), &bits);
    }
    if words {
        let index = format!("{} · {}", tenant.index, tenant.subnet);
        canvas.bits((area.x + 2 + NAME + 6 * cell, area.y), 18, &[Bit::muted(index)]);
    }
}

/// The words where they fit, else the one word of the layer's presence.
fn word(words: String, layer: &Layer, cell: u16) -> String {
    use crate::inventory::Presence;
    if crate::text::width(&words) + 3 <= usize::from(cell) {
        return words;
    }
    let short = match (layer.class, layer.presence) {
        (Class::Fault, _) => "fault",
        (_, Presence::Absent) => "absent",
        (_, Presence::Pending) => "pending",
        (_, Presence::Present) => "present",
        (_, Presence::Differs) => "differs",
        (_, Presence::Unknown) => "unknown",
    };
    short.to_owned()
}

fn site(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect) {
    let inv = ctx.inv();
    let saying = ctx.saying(canvas, &ctx.rail());
    let right = if saying.stale { saying.right } else { Vec::new() };
    rule(canvas, Rect { height: 1, ..area }, &Titles { right, ..Titles::new("site") });
    let half = area.width / 2;
    let left = [fabric(inv), index(inv), machines(inv)];
    let right = [perimeter(ctx), source(ctx, "DNS", SourceId::Dns), bootstrap(ctx)];
    for (y, (left, right)) in (area.y + 1..area.bottom()).zip(left.into_iter().zip(right)) {
        for (x, (label, text)) in [(area.x + 2, left), (area.x + 2 + half, right)] {
            let bits = [Bit::muted(format!("{label:<10} ")), Bit::text(text)];
            canvas.bits((x, y), half.saturating_sub(3), &bits);
        }
    }
}

fn fabric(inv: &Inventory) -> (&'static str, String) {
    let members = inv.fabric.members.iter().filter(|m| m.in_fabric == Ok(true)).count();
    let unknown = inv.fabric.members.iter().any(|m| m.in_fabric.is_err()) || inv.fabric.members.is_empty();
    let text = if unknown { "? members unknown".to_owned() } else { format::plural(members, "member") };
    ("fabric", text)
}

fn index(inv: &Inventory) -> (&'static str, String) {
    if inv.tenants_gap.is_some() {
        return ("index", "? unknown".into());
    }
    let used = inv.tenants.iter().filter(|t| !t.drill).count();
    let next = (1..=62).find(|n| !inv.tenants.iter().any(|t| t.index == *n));
    let next = next.map_or_else(|| "none free".into(), |n| format!("next {n}"));
    let drill = if inv.tenants.iter().any(|t| t.drill) { "drill 63 in use" } else { "drill 63 free" };
    ("index", format!("{used} of 62 used, {next}, {drill}"))
}

fn machines(inv: &Inventory) -> (&'static str, String) {
    if inv.workloads_gap.is_some() {
        return ("VMs", "? unknown".into());
    }
    let running = inv.workloads.iter().filter(|w| w.status == "running").count();
    let mem = inv.fabric.members.iter().filter_map(|m| m.mem).fold((0, 0), |sum, m| (sum.0 + m.0, sum.1 + m.1));
    let mem =
        if mem.1 == 0 { String::new() } else { format!(" · MEM {} of {}", format::size(mem.0), format::size(mem.1)) };
    ("VMs", format!("{}, {running} running{mem}", inv.workloads.len()))
}

/// How many deliveries are through, on their way, or in need of a hand; while they are of now.
fn bootstrap(ctx: &Ctx<'_>) -> (&'static str, String) {
    let inv = ctx.inv();
    let (label, text) = source(ctx, "bootstrap", SourceId::Boot);
    match &inv.checkins_gap {
        _ if inv.sources.get(SourceId::Boot).status(ctx.cx.now) != SourceStatus::Fresh => (label, text),
        Some(gap) if gap.kind == GapKind::Off => (label, "○ not offered".to_owned()),
        Some(gap) => (label, format!("? {}", gap.word())),
        None => {
            let count = |wanted: fn(Class) -> bool| inv.checkins.iter().filter(|c| wanted(c.class)).count();
            let through = count(|c| matches!(c, Class::Fine | Class::Info));
            let moving = count(|c| matches!(c, Class::Progress | Class::Pending));
            let needy = count(|c| c >= Class::Differs);
            (label, format!("{through} applied · {moving} on the way · {needy} need a human"))
        }
    }
}

/// `OPNsense 26.7.3, 66 rules, route ✓`; while it does not answer, that.
fn perimeter(ctx: &Ctx<'_>) -> (&'static str, String) {
    let view = &ctx.inv().perimeter;
    let fallback = source(ctx, "perimeter", SourceId::Fw);
    let status = ctx.inv().sources.get(SourceId::Fw).status(ctx.cx.now);
    if !matches!(status, SourceStatus::Fresh | SourceStatus::Stale) {
        return fallback;
    }
    let version = view.version.as_ref().map_or_else(|_| "OPNsense ?".to_owned(), |v| format!("OPNsense {v}"));
    let rules =
        view.rules.as_ref().map_or_else(|gap| format!("rules ? {}", gap.word()), |n| format::plural(*n, "rule"));
    let route = match &view.route {
        _ if status == SourceStatus::Stale => "◐ stale".to_owned(),
        Ok(mark) if mark.class == Class::Fine => "route ✓".to_owned(),
        Ok(_) => "route ✗".to_owned(),
        Err(gap) => format!("route ? {}", gap.word()),
    };
    ("perimeter", format!("{version}, {rules}, {route}"))
}

fn source(ctx: &Ctx<'_>, label: &'static str, id: SourceId) -> (&'static str, String) {
    let text = match ctx.inv().sources.get(id).status(ctx.cx.now) {
        SourceStatus::Off => "not set up for this site",
        SourceStatus::Loading => "… asked, no answer yet",
        SourceStatus::Fresh => "✓ answers",
        SourceStatus::Stale => "◐ stale",
        SourceStatus::Denied => "⊘ denied",
        SourceStatus::Failed => "✗ no answer",
        SourceStatus::Unusable => "✗ cannot be asked",
    };
    (label, text.to_owned())
}
