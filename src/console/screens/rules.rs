//! Perimeter rules at full width: below them what must not exist, the way back to the tenants, and the selected rule.

use ratatui::layout::Rect;

use super::list::{self, Options};
use crate::console::list::{Cell, ListId, Scope};
use crate::console::lists;
use crate::console::theme::Role;
use crate::console::view::ctx::Ctx;
use crate::console::widgets::canvas::{Bit, Canvas};
use crate::console::widgets::frame::{Titles, rule};
use crate::inventory::{Class, Gap, Inventory, Mark, Pattern, Seen};

/// Patterns a row.
const COLUMNS: u16 = 3;

/// Draws the screen into `area`. Where rows are few the list has its usual detail instead.
pub fn draw(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, scope: &Scope) {
    let patterns = &ctx.inv().perimeter.patterns;
    if area.height < 30 || patterns.is_empty() {
        list::draw(canvas, ctx, area, (ListId::Rules, scope), Options::default());
        return;
    }
    let grid = u16::try_from(patterns.len()).unwrap_or(u16::MAX).div_ceil(COLUMNS);
    let (route, detail) = (3, 6);
    let below = Some(1 + grid + route + detail);
    let rest = list::draw(canvas, ctx, area, (ListId::Rules, scope), Options { below, ..Options::default() });
    let at = |y: u16, height: u16| Rect { y: rest.y + y, height, ..rest };
    self::patterns(canvas, ctx, at(0, 1 + grid));
    way_back(canvas, ctx, at(1 + grid, route));
    selected(canvas, ctx, at(1 + grid + route, detail), scope);
}

/// `must not exist: ✓ 0 of 9`, for the title of the board's pane.
#[must_use]
pub fn forbidden(canvas: &Canvas<'_>, inv: &Inventory) -> Vec<Bit> {
    let all = inv.perimeter.patterns.len();
    let (class, text) = match &inv.perimeter.must_not_exist {
        Ok(0) => (Class::Fine, format!(" 0 of {all}")),
        Ok(n) => (Class::Fault, format!(" {n} found")),
        Err(gap) => match found(&inv.perimeter.patterns) {
            0 => (Class::Unknown, format!(" {}", gap.word())),
            n => (Class::Fault, format!(" {n} found, not all checked")),
        },
    };
    vec![Bit::muted("must not exist: "), canvas.glyph(class), Bit::muted(text)]
}

fn found(patterns: &[Pattern]) -> usize {
    patterns.iter().filter_map(|p| p.found.as_ref().ok()).sum()
}

fn patterns(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect) {
    let all = &ctx.inv().perimeter.patterns;
    let unknown = all.iter().filter(|p| p.found.is_err()).count();
    let right = match (found(all), unknown) {
        (0, 0) => vec![canvas.glyph(Class::Fine), Bit::muted(" none found")],
        (0, n) => vec![canvas.glyph(Class::Unknown), Bit::muted(format!(" {n} not known"))],
        (n, _) => vec![canvas.glyph(Class::Fault), Bit::new(format!(" {n} found"), Role::Fault)],
    };
    let title = format!("must not exist · {} patterns", all.len());
    rule(canvas, Rect { height: 1, ..area }, &Titles { right, ..Titles::new(title) });
    let width = area.width.saturating_sub(2) / COLUMNS;
    for (i, pattern) in (0u16..).zip(all) {
        let (x, y) = (area.x + 2 + width * (i % COLUMNS), area.y + 1 + i / COLUMNS);
        let class = match &pattern.found {
            Ok(0) => Class::Fine,
            Ok(_) => Class::Fault,
            Err(_) => Class::Unknown,
        };
        let bits = [canvas.glyph(class), Bit::text(format!(" {}", pattern.name))];
        canvas.bits((x, y), width.saturating_sub(1), &bits);
    }
}

fn way_back(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect) {
    let view = &ctx.inv().perimeter;
    rule(canvas, Rect { height: 1, ..area }, &Titles::new("route back and resolver"));
    let overlay = ctx.inv().site.numbering.overlay;
    let mark = |mark: &Seen<Mark>| match mark {
        Ok(mark) => Cell::state(mark.class, &*mark.word),
        Err(gap) => why(gap),
    };
    let lines = [
        vec![Cell::muted(format!("route {overlay}")), mark(&view.route)],
        vec![Cell::muted("resolver"), mark(&view.resolver)],
    ];
    for (y, line) in (area.y + 1..area.bottom()).zip(&lines) {
        canvas.line((area.x + 2, y), area.width.saturating_sub(3), line);
    }
}

fn why(gap: &Gap) -> Cell {
    Cell::state(Class::Unknown, gap.why.to_string())
}

fn selected(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, scope: &Scope) {
    let rows = ctx.rows(ListId::Rules, scope);
    let chosen = rows.selected().filter(|_| !rows.order.is_empty());
    let row = chosen.and_then(|i| ctx.inv().rules.get(i));
    let id = row.map(|r| format!("uuid {}", r.uuid));
    let right = id.into_iter().map(Bit::muted).collect();
    rule(canvas, Rect { height: 1, ..area }, &Titles { right, ..Titles::new("selected rule") });
    let lines = chosen.map(|i| (lists::def(ListId::Rules).detail)(ctx.cx, i)).unwrap_or_default();
    let mut y = area.y + 1;
    for line in &lines {
        let left = area.bottom().saturating_sub(y);
        if left == 0 {
            return;
        }
        let bits = canvas.line_bits(line);
        y += canvas.flow(Rect::new(area.x + 1, y, area.width.saturating_sub(2), left), &bits).min(left);
    }
}
