//! Fabric: members, underlay and controller, pending edits, the lock, and what is not known.

use ratatui::layout::Rect;

use super::list::{self, Options};
use super::pane;
use crate::backends::proxmox::model::{Change, LockState};
use crate::console::list::{Cell, ListId, Scope};
use crate::console::view::ctx::Ctx;
use crate::console::widgets::canvas::{Bit, Canvas};
use crate::console::widgets::format;
use crate::console::widgets::frame::{Titles, rule};
use crate::inventory::{Class, Seen};

/// Draws the screen into `area`.
pub fn draw(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect) {
    let members = u16::try_from(ctx.inv().fabric.members.len()).unwrap_or(u16::MAX).clamp(1, 6);
    let roomy = area.height >= 26;
    let top = members + 3;
    let opts = Options { below: Some(area.height.saturating_sub(top)), ..Options::default() };
    let mut rest = list::draw(canvas, ctx, area, (ListId::Members, &Scope::All), opts);
    let blocks: [(&str, Vec<Vec<Cell>>); 3] =
        [("underlay and controller", underlay(ctx)), ("SDN lock", lock(ctx)), ("not known", unknown(ctx))];
    let pending_wanted = pending_rows(ctx);
    let [underlay, lock, unknown] = blocks;
    let keep = |lines: &[Vec<Cell>]| u16::try_from(lines.len()).unwrap_or(u16::MAX) + 1;
    let unknown_height = if unknown.1.is_empty() || !roomy { 0 } else { keep(&unknown.1).min(6) };
    let after = if roomy { keep(&lock.1) + unknown_height } else { 2 };
    let saying = ctx.saying(canvas, &ctx.rows(ListId::Members, &Scope::All));
    let right = if saying.stale { saying.right } else { Vec::new() };
    let old = Titles { right, ..Titles::new(underlay.0) };
    rest = block(canvas, rest, (&old, &underlay.1), if roomy { keep(&underlay.1) } else { 3.min(rest.height / 4 + 1) });
    let pending = pending_wanted.min(rest.height.saturating_sub(after));
    rest = self::pending(canvas, ctx, rest, pending);
    rest = block(canvas, rest, (&Titles::new(lock.0), &lock.1), if roomy { keep(&lock.1) } else { 2 });
    block(canvas, rest, (&Titles::new(unknown.0), &unknown.1), unknown_height);
}

/// Draws a titled block of `height` rows; returns what is left below.
fn block(canvas: &mut Canvas<'_>, area: Rect, (titles, lines): (&Titles, &[Vec<Cell>]), height: u16) -> Rect {
    let height = height.min(area.height);
    if height > 0 {
        rule(canvas, Rect { height: 1, ..area }, titles);
    }
    for (y, line) in (area.y + 1..area.y + height).zip(lines) {
        canvas.line((area.x + 2, y), area.width.saturating_sub(3), line);
    }
    Rect { y: area.y + height, height: area.height - height, ..area }
}

fn pending_rows(ctx: &Ctx<'_>) -> u16 {
    let count = ctx.inv().fabric.pending.as_ref().map_or(1, Vec::len);
    u16::try_from(count).unwrap_or(u16::MAX).saturating_add(4).max(5)
}

fn pending(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, height: u16) -> Rect {
    let area_used = Rect { height, ..area };
    let rows = ctx.rows(ListId::Pending, &Scope::All);
    let saying = ctx.saying(canvas, &rows);
    let unknown = !saying.body.is_empty() && !saying.right.is_empty();
    let right = if saying.right.is_empty() && !rows.order.is_empty() {
        vec![Bit::muted("an apply takes all of them")]
    } else {
        saying.right.clone()
    };
    let focused = ctx.focused(ListId::Pending);
    let titles = Titles { title: rows.title(unknown), right, focused, ..Titles::default() };
    if height > 0 {
        rule(canvas, Rect { height: 1, ..area_used }, &titles);
        canvas.hit(area_used, crate::console::msg::Hit::List(ListId::Pending));
        let note = u16::from(rows.order.iter().any(|_| true) && height > 4);
        let inside = Rect { y: area.y + 1, height: height - 1 - note, ..area };
        pane::body(canvas, ctx, inside, &rows, &saying);
        if note > 0 {
            let text = if area.width < 100 {
                "\"?\" marks a guess from the task log: Proxmox records no author of an edit."
            } else {
                "\"?\" marks an author taken from the task log: Proxmox does not record who edited an SDN object."
            };
            canvas.bits((area.x + 2, inside.bottom()), area.width.saturating_sub(3), &[Bit::muted(text)]);
        }
    }
    Rect { y: area.y + height, height: area.height - height, ..area }
}

fn underlay(ctx: &Ctx<'_>) -> Vec<Vec<Cell>> {
    let f = &ctx.inv().fabric;
    let mut out = Vec::new();
    out.push(labelled("fabric", &f.fabrics, |all| {
        all.iter()
            .map(|(id, protocol, prefix)| {
                let prefix = prefix.as_deref().map_or_else(String::new, |p| format!(" {p}"));
                Cell::text(format!("{id} {protocol}{prefix}"))
            })
            .collect()
    }));
    out.push(labelled("controller", &f.controllers, |all| {
        all.iter()
            .map(|(id, kind, asn)| {
                let asn = asn.map_or_else(String::new, |n| format!(" AS {n}"));
                Cell::text(format!("{id} {kind}{asn}"))
            })
            .collect()
    }));
    let quorum = labelled("quorum", &f.quorate, |quorate| {
        vec![match quorate {
            Some(true) => Cell::state(Class::Fine, "quorate"),
            Some(false) => Cell::state(Class::Fault, "no quorum: nothing can be changed"),
            None => Cell::muted("one node: no quorum to lose"),
        }]
    });
    // Where rows are few the first ones are shown: a lost quorum is not to be among those that are not.
    let first = if matches!(f.quorate, Ok(Some(false))) { 0 } else { out.len() };
    out.insert(first, quorum);
    out.push(labelled("other zones", &f.foreign_zones, |zones| {
        let text = |z: &crate::inventory::ForeignZone| match z.change {
            Change::None => Cell::text(format!("{} ({}): {}", z.zone, z.kind, z.why)),
            _ => Cell::state(Class::Pending, format!("{} ({}): {}", z.zone, z.kind, z.why)),
        };
        zones.iter().map(text).collect()
    }));
    out.push(labelled("Proxmox VE", &f.version, |v| vec![Cell::text(v.clone())]));
    out
}

fn labelled<T>(label: &str, value: &Seen<T>, cells: impl FnOnce(&T) -> Vec<Cell>) -> Vec<Cell> {
    let mut line = vec![Cell::muted(format!("{label:<12}"))];
    match value {
        Ok(v) => {
            let cells = cells(v);
            line.extend(if cells.is_empty() { vec![Cell::state(Class::Absent, "none")] } else { cells });
        }
        Err(gap) => line.push(Cell::state(Class::Unknown, gap.why.to_string())),
    }
    line
}

fn lock(ctx: &Ctx<'_>) -> Vec<Vec<Cell>> {
    match &ctx.inv().fabric.lock {
        LockState::NotTried => vec![vec![Cell::state(
            Class::Unknown,
            "not known: Proxmox shows a lock only to a write, and none was tried",
        )]],
        LockState::Held { seen_at } => vec![
            vec![Cell::state(
                Class::Warning,
                format!("held by somebody, seen when we tried, {}", format::moment(*seen_at, ctx.cx.now)),
            )],
            vec![Cell::muted(
                "Proxmox names no owner and no age. SDN writes by anybody else fail, the web page included.",
            )],
        ],
    }
}

/// Parts that sources did not give although they answer.
fn unknown(ctx: &Ctx<'_>) -> Vec<Vec<Cell>> {
    ctx.inv()
        .sources
        .iter()
        .flat_map(|(id, health)| {
            health.gaps.iter().map(move |gap| {
                vec![Cell::muted(format!("{:<12}", id.label())), Cell::state(Class::Unknown, gap.why.to_string())]
            })
        })
        .collect()
}
