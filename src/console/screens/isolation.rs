//! The isolation matrix (screens.md 11): who must not reach whom, cell by cell, and what the cell under the cursor means.

use ratatui::layout::Rect;

use super::text;
use crate::console::findings::{self, Came};
use crate::console::isolation::{self, class, pasted_by, said, second, short_names, third};
use crate::console::model::Screen;
use crate::console::theme::Role;
use crate::console::view::ctx::Ctx;
use crate::console::widgets::canvas::{Bit, Canvas, wrap};
use crate::console::widgets::format::plural;
use crate::console::widgets::frame::{Titles, rule};
use crate::diagnose::collect::Check;
use crate::diagnose::rules::matrix::{Cell, Matrix, Traffic};
use crate::inventory::Class;
use crate::text::{Cut, cut, pad};

/// Cells of the row head, and of a column.
const HEAD: u16 = 14;
/// See [`HEAD`].
const COLUMN: u16 = 10;
/// Longest name in a column's head and in a row's.
const NAMES: (usize, usize) = (9, 11);
/// Rows that the detail keeps, at least.
const DETAIL: u16 = 9;
/// From this width on everything has its words.
const WIDE: u16 = 100;
/// From this height on the pasted results have a part of their own.
const TALL: u16 = 30;
/// Pasted results shown.
const SHOWN: usize = 4;

/// Draws the table into `area`.
pub fn draw(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect) {
    let open = ctx.model.inquiry.as_ref().filter(|i| i.is_open());
    let Some(matrix) = isolation::matrix(ctx.model) else { return nothing(canvas, ctx, area) };
    let cursor = isolation::cursor(ctx.model).unwrap_or((0, 0));
    let rows = u16::try_from(matrix.senders.len()).unwrap_or(u16::MAX);
    let pasted = if area.height >= TALL { 2 + u16::try_from(SHOWN).unwrap_or(0) } else { 0 };
    // A rule, the legend, the head of the table; then its rows, and below them the detail.
    let room = area.height.saturating_sub(3 + DETAIL + pasted).max(1);
    let body = Rect { y: area.y + 3, height: rows.min(room).max(1), ..area };
    let shown = Page::of(matrix, cursor, body);
    let when = match (open, matrix.at) {
        (Some(inquiry), _) => Some(format!("asking · {}s", inquiry.waited(ctx.model.now))),
        (None, at) => at.map(|at| at.strftime("%H:%M:%SZ").to_string()),
    };
    // A table is never taken for a newer one that did not come.
    let later = ctx.model.inquiry.as_ref().filter(|i| i.id > ctx.model.isolation.id && i.check == Check::Isolation);
    let missed =
        later.filter(|i| matches!(i.came, Came::Stopped | Came::Failed(_))).map(|_| "not read again".to_owned());
    let right = shown.place(matrix).into_iter().chain(when).chain(missed).collect::<Vec<_>>().join(" · ");
    let looked = if area.width < WIDE { String::new() } else { format!(", {} looked up", matrix.looked_up) };
    let title = format!("Isolation · {}{looked}", plural(matrix.pairs(), "pair"));
    let titles = Titles { right: vec![Bit::muted(right)], focused: true, ..Titles::new(title) };
    rule(canvas, Rect { height: 1, ..area }, &titles);
    legend(canvas, Rect { y: area.y + 1, height: 1, ..area });
    table(canvas, matrix, cursor, body, &shown);
    let below = Rect { y: body.bottom(), height: area.bottom().saturating_sub(body.bottom()), ..area };
    let list = Rect { y: below.bottom().saturating_sub(pasted), height: pasted, ..area };
    detail(canvas, matrix, cursor, Rect { height: below.height.saturating_sub(pasted), ..below });
    results(canvas, ctx, matrix, list);
}

/// Before there is a table.
fn nothing(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect) {
    rule(canvas, Rect { height: 1, ..area }, &Titles { focused: true, ..Titles::new("Isolation") });
    let text = match &ctx.model.inquiry {
        Some(inquiry) if inquiry.came != Came::Ended => findings::sentence(inquiry, ctx.model.now).1,
        _ => "Nothing was looked at yet. :check isolation looks at every ordered pair of tenants.".to_owned(),
    };
    let place = Rect { x: area.x + 2, y: area.y + 2, width: area.width.saturating_sub(4), height: 3 };
    canvas.flow(place, &[Bit::muted(text)]);
}

fn legend(canvas: &mut Canvas<'_>, area: Rect) {
    let mut bits = Vec::new();
    if area.width >= WIDE {
        bits.push(Bit::muted("routes and rules, traffic, packets of the node:  "));
    }
    let words = [
        (Class::Fine, "blocked"),
        (Class::Warning, "one barrier gone"),
        (Class::Fault, "open"),
        (Class::Unknown, "unknown"),
        (Class::NotRun, "not run here"),
    ];
    for (class, word) in words {
        bits.extend([canvas.glyph(class), Bit::muted(format!(" {word}  "))]);
    }
    canvas.bits((area.x + 1, area.y), area.width.saturating_sub(1), &bits);
}

/// The page of `len` with `at` on it, where `fit` fit.
fn page(at: usize, len: usize, fit: usize) -> std::ops::Range<usize> {
    let fit = fit.max(1);
    let start = (at / fit * fit).min(len.saturating_sub(fit));
    start..(start + fit).min(len)
}

/// Rows and columns on screen.
struct Page {
    rows: std::ops::Range<usize>,
    columns: std::ops::Range<usize>,
}

impl Page {
    fn of(matrix: &Matrix, (row, column): (usize, usize), area: Rect) -> Self {
        let fit = usize::from(area.width.saturating_sub(HEAD + 1) / COLUMN);
        Self {
            rows: page(row, matrix.senders.len(), usize::from(area.height)),
            columns: page(column, matrix.targets.len(), fit),
        }
    }

    /// Which they are, where they are not all.
    fn place(&self, matrix: &Matrix) -> Option<String> {
        let part = |range: &std::ops::Range<usize>, len: usize, what: &str| {
            (range.len() < len).then(|| format!("{what} {}–{} of {len}", range.start + 1, range.end))
        };
        let parts =
            [part(&self.rows, matrix.senders.len(), "rows"), part(&self.columns, matrix.targets.len(), "columns")];
        let text = parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
        (!text.is_empty()).then_some(text)
    }
}

fn table(canvas: &mut Canvas<'_>, matrix: &Matrix, (row, column): (usize, usize), area: Rect, shown: &Page) {
    let (rows, columns) = (shown.rows.clone(), shown.columns.clone());
    let heads: Vec<&str> = matrix.targets.iter().map(|target| target.name.as_str()).collect();
    let heads = short_names(&heads, NAMES.0);
    let names: Vec<&str> = matrix.senders.iter().map(|sender| sender.name.as_str()).collect();
    let names = short_names(&names, NAMES.1);
    let charset = canvas.charset();
    let mut head = vec![Bit::new(pad(" from \\ to", usize::from(HEAD), charset).into_owned(), Role::Title)];
    for at in columns.clone() {
        let name = heads.get(at).map_or("", String::as_str);
        let role = if at == column { Role::Accent } else { Role::Title };
        head.push(Bit::new(pad(&canvas.plain(name), usize::from(COLUMN), charset).into_owned(), role));
    }
    canvas.bits((area.x, area.y - 1), area.width, &head);
    for (y, at) in (area.y..area.bottom()).zip(rows) {
        let sign = if at == row { canvas.look().glyphs.cursor } else { " " };
        let name = names.get(at).map_or("", String::as_str);
        let name = pad(&canvas.plain(name), usize::from(HEAD) - 2, charset).into_owned();
        let role = if at == row { Role::Title } else { Role::Text };
        canvas.bits((area.x, y), HEAD, &[Bit::text(" "), Bit::new(sign, Role::Accent), Bit::new(name, role)]);
        for (n, column_at) in (0u16..).zip(columns.clone()) {
            let x = area.x + HEAD + n * COLUMN;
            let bits = match matrix.cell(at, column_at) {
                Some(cell) => marks(canvas, cell),
                None => vec![canvas.glyph(Class::Absent)],
            };
            canvas.bits((x, y), COLUMN - 1, &bits);
            if (at, column_at) == (row, column) {
                let marks = matrix.cell(at, column_at).map_or(1, |cell| if cell.packets.is_some() { 5 } else { 3 });
                canvas.restyle(Rect::new(x, y, marks, 1), Role::Selection);
                canvas.point(x, y);
            }
        }
    }
}

fn marks(canvas: &Canvas<'_>, cell: &Cell) -> Vec<Bit> {
    let mut bits = vec![canvas.glyph(class(cell.config)), Bit::text(" "), canvas.glyph(second(&cell.traffic))];
    bits.extend(cell.packets.iter().flat_map(|came| [Bit::text(" "), canvas.glyph(third(came))]));
    bits
}

fn detail(canvas: &mut Canvas<'_>, matrix: &Matrix, (row, column): (usize, usize), area: Rect) {
    let cell = matrix.cell(row, column);
    let right = cell.map(|cell| {
        vec![
            canvas.glyph(class(cell.config)),
            Bit::text(format!(" {} · ", cell.config.word())),
            canvas.glyph(second(&cell.traffic)),
            Bit::text(format!(" {}", short(&cell.traffic))),
        ]
    });
    let titles = Titles { right: right.unwrap_or_default(), ..Titles::new(matrix.name(row, column)) };
    rule(canvas, Rect { height: 1, ..area }, &titles);
    let width = area.width.saturating_sub(3);
    let mut rows: Vec<Vec<Bit>> = Vec::new();
    let Some(cell) = cell else {
        canvas.bits((area.x + 2, area.y + 1), width, &[Bit::muted("There is nothing to ask here.")]);
        return;
    };
    rows.extend(wrap(&canvas.plain(&cell.sentence), width).into_iter().map(|part| vec![Bit::new(part, Role::Title)]));
    let labelled = |label: &'static str, text: &str, rows: &mut Vec<Vec<Bit>>| {
        for (n, part) in wrap(text, width.saturating_sub(13)).into_iter().enumerate() {
            let head = if n == 0 { label } else { "" };
            rows.push(vec![Bit::muted(format!("{head:<13}")), Bit::text(part)]);
        }
    };
    if cell.traffic != Traffic::NotRun {
        labelled("traffic", &canvas.plain(&cell.traffic.words()), &mut rows);
    }
    for (n, fact) in cell.facts.iter().enumerate() {
        labelled(if n == 0 { "facts" } else { "" }, &canvas.plain(fact), &mut rows);
    }
    let legs = matrix.legs(row, column);
    let mut place = "";
    for leg in &legs {
        if leg.from.words != place {
            place = &leg.from.words;
            labelled("to be run", &canvas.plain(place), &mut rows);
        }
        let command = leg.ask.command().unwrap_or_default();
        rows.push(vec![Bit::muted(" ".repeat(13)), Bit::text(format!("$ {command}"))]);
    }
    let height = usize::from(area.height.saturating_sub(1));
    if rows.len() > height {
        rows.truncate(height.saturating_sub(1));
        rows.push(vec![Bit::muted(format!("{} more: open it", canvas.look().glyphs.more))]);
    }
    for (y, line) in (area.y + 1..area.bottom()).zip(rows) {
        canvas.bits((area.x + 2, y), width, &line);
    }
}

fn short(traffic: &Traffic) -> &'static str {
    match traffic {
        Traffic::NotRun => "not run here",
        Traffic::Aged => "too old",
        Traffic::Partly { .. } => "partly run",
        Traffic::Blocked => "timed out",
        Traffic::Open { .. } => "got through",
        Traffic::Unclear { .. } => "decides nothing",
        Traffic::Contradictory { .. } => "contradictory",
    }
}

/// The newest pasted results.
fn results(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, matrix: &Matrix, area: Rect) {
    if area.height == 0 {
        return;
    }
    rule(canvas, Rect { height: 1, ..area }, &Titles::new(format!("pasted results · {}", matrix.pasted.len())));
    let width = area.width.saturating_sub(3);
    let charset = canvas.charset();
    let mut y = area.y + 1;
    for shown in matrix.pasted.iter().rev().take(SHOWN) {
        let worst = shown.results.iter().map(|result| said(result.came).0);
        let order = [Class::Fault, Class::Unknown, Class::Fine];
        let all: Vec<Class> = worst.collect();
        let class = order.into_iter().find(|class| all.contains(class)).unwrap_or(Class::Unknown);
        let words: Vec<String> = shown.results.iter().map(|result| result.reading.words()).collect();
        let line = format!("{} · {}", pasted_by(shown), words.join(", "));
        let line = cut(&canvas.plain(&line), usize::from(width.saturating_sub(2)), Cut::End, charset).into_owned();
        canvas.bits((area.x + 2, y), width, &[canvas.glyph(class), Bit::text(" "), Bit::text(line)]);
        y += 1;
    }
    let key = ctx.key("paste");
    let hint = if matrix.pasted.is_empty() {
        format!("Nothing was pasted. {key} takes the output of ping, nc, curl or tcpdump for the cell.")
    } else {
        "Refused is a leak: only a timeout counts as blocked. A cell without traffic never turns into a pass."
            .to_owned()
    };
    canvas.bits((area.x + 2, y.min(area.bottom() - 1)), width, &[Bit::muted(hint)]);
}

/// Draws everything about one cell into `area`.
pub fn cell(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect) {
    let Screen::Cell { at: (from, to), scroll } = ctx.model.screen() else { return };
    text::sheet(canvas, area, format!("{from} → {to}"), &isolation::sheet(ctx.model), *scroll);
}
