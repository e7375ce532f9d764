//! A list at full width: only these scroll by lines. Below it, in fixed rows, the selected row in detail.

use ratatui::layout::Rect;

use super::{pane, rail};
use crate::console::list::{Cell, ListId, Scope};
use crate::console::lists;
use crate::console::model::{Layout, Overlay};
use crate::console::msg::Hit;
use crate::console::theme::Role;
use crate::console::view::ctx::{Ctx, Rows};
use crate::console::widgets::Turn;
use crate::console::widgets::canvas::{Bit, Canvas};
use crate::console::widgets::frame::{Titles, boxed, rule};
use crate::console::widgets::state::Saying;

/// Columns of the detail beside a list of a wide screen.
const BESIDE: u16 = 60;

/// What a full-width list is drawn with.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Whether the list stands under a tab bar that already names it.
    pub tabbed: bool,
    /// Rows kept free below the list for something else; there is no detail then.
    pub below: Option<u16>,
}

/// Draws a list with its detail into `area`; returns what was kept free below.
pub fn draw(
    canvas: &mut Canvas<'_>,
    ctx: &Ctx<'_>,
    area: Rect,
    (list, scope): (ListId, &Scope),
    opts: Options,
) -> Rect {
    let rows = ctx.rows(list, scope);
    let saying = ctx.saying(canvas, &rows);
    let wide = ctx.model.layout() == Layout::Wide && opts.below.is_none();
    let mut area = area;
    if wide {
        let beside = Rect { x: area.right() - BESIDE, width: BESIDE, ..area };
        area.width -= BESIDE;
        beside_detail(canvas, ctx, beside, &rows);
    }
    if filtering(ctx, &rows) {
        filter_row(canvas, ctx, Rect { height: 1, ..area }, &rows);
        area = Rect { y: area.y + 1, height: area.height - 1, ..area };
    }
    let below = opts.below.unwrap_or(0);
    let details = if wide || opts.below.is_some() { 0 } else { detail_rows(ctx, area.height) };
    let titled = u16::from(details > 0 && ctx.model.layout() <= Layout::Compact);
    let fixed = below + details + titled + 2;
    let table = Rect { y: area.y + 1, height: area.height.saturating_sub(fixed), ..area };

    canvas.hit(Rect { height: table.height + 1, ..area }, Hit::List(list));
    top_rule(canvas, ctx, Rect { height: 1, ..area }, &rows, &saying, opts);
    body(canvas, ctx, table, &rows, &saying);
    let mut y = table.bottom();
    if titled > 0 {
        let titles = Titles { right: subject_numbers(ctx, &rows), ..Titles::new(subject(ctx, &rows)) };
        rule(canvas, Rect { y, height: 1, ..area }, &titles);
        y += 1;
    } else {
        bottom_rule(canvas, ctx, Rect { y, height: 1, ..area }, &rows);
        y += 1;
    }
    detail(canvas, ctx, Rect { y, height: details, ..area }, &rows);
    if titled > 0 {
        bottom_rule(canvas, ctx, Rect { y: y + details, height: 1, ..area }, &rows);
    }
    Rect { y: area.bottom() - below, height: below, ..area }
}

/// Rows of detail by the height of the list's area: the first thing to shrink.
fn detail_rows(ctx: &Ctx<'_>, height: u16) -> u16 {
    match height {
        h if h >= 30 => 5,
        h if h >= 19 || (h >= 17 && ctx.model.layout() > Layout::Compact) => 3,
        _ => 1,
    }
}

fn body(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, rows: &Rows<'_>, saying: &Saying) {
    if !saying.body.is_empty() {
        pane::paragraphs(canvas, area, saying);
        return;
    }
    let reason = u16::from(!saying.foot.is_empty() && area.height > 3);
    let hidden = |key: &str| pane::hidden(ctx, rows, key, false);
    let table = Rect { height: area.height - reason, ..area };
    let shown = rows.table(ctx, &hidden, Turn::Line, saying.stale).draw(canvas, table);
    if shown.width == canvas.area().width {
        canvas.scrolls(shown);
    }
    if reason > 0 {
        canvas.bits((area.x + 2, area.bottom() - 1), area.width.saturating_sub(3), &saying.foot);
    }
}

fn top_rule(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, rows: &Rows<'_>, saying: &Saying, opts: Options) {
    let unknown = !saying.body.is_empty() && !saying.right.is_empty();
    let title = match rows.def.id {
        _ if opts.tabbed => String::new(),
        ListId::Tenants => rail::title(ctx.inv()),
        _ => rows.title(unknown),
    };
    let right = if saying.right.is_empty() { sorted(ctx, rows) } else { saying.right.clone() };
    rule(
        canvas,
        area,
        &Titles { title, right, focused: !opts.tabbed && ctx.focused(rows.def.id), ..Titles::default() },
    );
}

/// `sorted by VMID ▾`, `worst first`, and whether the numbers stand still.
fn sorted(ctx: &Ctx<'_>, rows: &Rows<'_>) -> Vec<Bit> {
    if ctx.model.frozen.is_some() {
        return vec![Bit::new("frozen", Role::Warn)];
    }
    let (column, descending) = rows.sort().map_or((rows.def.sort, false), |s| (s.column, s.descending));
    if column == "order" {
        let text = match rows.def.id {
            ListId::Attention => "worst first, then widest",
            ListId::Checkins => "what needs a human first",
            _ => "",
        };
        return if text.is_empty() { Vec::new() } else { vec![Bit::muted(text)] };
    }
    if (rows.def.id, column, descending) == (ListId::Records, "state", false) {
        return vec![Bit::muted("disagreements first")];
    }
    if (rows.def.id, column, descending) == (ListId::Rules, "place", false) {
        return vec![Bit::muted("in the order of evaluation")];
    }
    let title = rows.def.columns.iter().find(|c| c.key == column).map_or(column, |c| c.title);
    vec![Bit::muted(format!("sorted by {title} {}", if descending { "▴" } else { "▾" }))]
}

fn bottom_rule(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, rows: &Rows<'_>) {
    let mut parts = Vec::new();
    if let Some(at) = rows.at {
        parts.push(format!("row {} of {}", at + 1, rows.order.len()));
    }
    let marked = rows.marks().map_or(0, std::collections::BTreeSet::len);
    if marked > 0 {
        parts.push(format!("{marked} marked"));
    }
    match (rows.def.id, rows.tenant().and_then(|t| ctx.inv().tenant(t))) {
        (ListId::Tenants, _) => parts.push(rail::free(ctx.inv())),
        (ListId::Workloads, Some(tenant)) if ctx.inv().workloads_gap.is_none() => {
            parts.push(pane::free(ctx.inv(), tenant));
        }
        _ => {}
    }
    let right = if parts.is_empty() { Vec::new() } else { vec![Bit::muted(parts.join(" · "))] };
    rule(canvas, area, &Titles { right, ..Titles::default() });
}

/// What the selected row is called.
#[must_use]
pub fn subject(ctx: &Ctx<'_>, rows: &Rows<'_>) -> String {
    let id = rows.selected().and_then(|i| (rows.def.id_of)(ctx.inv(), i));
    id.map_or_else(String::new, |id| crate::console::nav::name_of(ctx.inv(), &id))
}

/// The numbers of the selected row, for the right end of its title.
fn subject_numbers(ctx: &Ctx<'_>, rows: &Rows<'_>) -> Vec<Bit> {
    let Some(i) = rows.selected() else { return Vec::new() };
    let text = match rows.def.id {
        ListId::Tenants => ctx.inv().tenants.get(i).map(super::board::derived),
        ListId::Workloads => ctx.inv().workloads.get(i).map(|w| match &w.mac {
            Ok(Some(mac)) => format!("{} · {mac}", w.vmid),
            _ => w.vmid.to_string(),
        }),
        _ => None,
    };
    text.into_iter().map(Bit::muted).collect()
}

/// Draws the detail lines of the selected row. A sentence that stands alone may take several rows.
fn detail(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, rows: &Rows<'_>) {
    let lines = rows.selected().map(|i| (rows.def.detail)(ctx.cx, i)).unwrap_or_default();
    let (x, room) = (area.x + 1, area.width.saturating_sub(2));
    let mut y = area.y;
    for line in &lines {
        let left = area.bottom().saturating_sub(y);
        if left == 0 {
            break;
        }
        if let [_] = line.as_slice() {
            let bits = canvas.line_bits(line);
            y += canvas.flow(Rect::new(x, y, room, left), &bits).min(left);
        } else {
            canvas.line((x, y), room, line);
            y += 1;
        }
    }
}

fn beside_detail(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, rows: &Rows<'_>) {
    let inside = boxed(canvas, area, &Titles::new(subject(ctx, rows)));
    let Some(i) = rows.selected() else { return };
    let mut cells: Vec<(&str, Cell)> = Vec::new();
    for column in lists::def(rows.def.id).columns.iter().filter(|c| c.max > 0 && c.title.len() > 1) {
        cells.push((column.title, (rows.def.cell)(ctx.cx, i, column.key)));
    }
    let mut y = inside.y;
    for (title, cell) in cells {
        if y >= inside.bottom() {
            return;
        }
        let mut bits = vec![Bit::muted(format!("{title:<12} "))];
        bits.extend(canvas.cell_bits(&cell));
        canvas.bits((inside.x + 1, y), inside.width.saturating_sub(2), &bits);
        y += 1;
    }
    y += 1;
    for line in (rows.def.detail)(ctx.cx, i) {
        let area = Rect::new(inside.x + 1, y, inside.width.saturating_sub(2), inside.bottom().saturating_sub(y));
        if area.is_empty() {
            return;
        }
        let bits = canvas.line_bits(&line);
        y += canvas.flow(area, &bits);
    }
}

/// Whether the filter row of this list is shown.
#[must_use]
pub fn filtering(ctx: &Ctx<'_>, rows: &Rows<'_>) -> bool {
    let open = matches!(ctx.model.overlay, Overlay::Filter { .. }) && ctx.focused(rows.def.id);
    open || !rows.filter().is_empty()
}

/// Draws the filter with its counts; the cursor is in it while it is edited.
pub fn filter_row(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, rows: &Rows<'_>) {
    let counts = format!("{} of {} match · esc clears the filter", rows.order.len(), rows.total);
    let end = canvas.bits_right(area.right().saturating_sub(1), area.y, area.width / 2, &[Bit::muted(counts)]);
    let room = end.saturating_sub(area.x + 4);
    canvas.bits((area.x + 1, area.y), 1, &[Bit::new("/", Role::Accent)]);
    match &ctx.model.overlay {
        Overlay::Filter { field, .. } if ctx.focused(rows.def.id) => {
            crate::console::view::field::draw(canvas, (area.x + 3, area.y), room, field, "");
        }
        _ => {
            canvas.bits((area.x + 3, area.y), room, &[Bit::new(rows.filter().to_owned(), Role::Input)]);
        }
    }
}
