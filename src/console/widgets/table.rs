//! Tables: columns fitted to what is visible, a cursor, marks, and only the rows on screen.

use std::collections::BTreeSet;

use ratatui::layout::Rect;

use super::canvas::{Bit, Canvas};
use crate::console::list::{Align, Cell, Column, Cutting, Cx, ListDef, Sort};
use crate::console::msg::Hit;
use crate::console::theme::Role;
use crate::inventory::ObjectId;
use crate::text::{self, Cut};

/// Cells before the first column: mark and cursor. A cramped pane without marks does without the first.
const PREFIX: u16 = 2;
/// From this width columns stand two blanks apart, else one; inside a pane two only where all text fits.
const ROOMY: u16 = 110;

/// How a list follows its cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// By lines: lists of the full width.
    Line,
    /// By half a page: rail and panes.
    HalfPage,
}

/// The first row to show so that row `at` of `len` is among `height` rows, near the hint `top`.
#[must_use]
pub fn window(top: usize, at: usize, len: usize, height: usize, turn: Turn) -> usize {
    if height == 0 || len <= height {
        return 0;
    }
    let at = at.min(len - 1);
    let top = top.min(len - height);
    if at >= top && at < top + height {
        return top;
    }
    let step = match turn {
        Turn::Line => 1,
        Turn::HalfPage => height.div_ceil(2),
    };
    let moved = if at < top {
        top.saturating_sub((top - at).div_ceil(step) * step)
    } else {
        top + (at + 1 - (top + height)).div_ceil(step) * step
    };
    moved.min(len - height)
}

/// A table ready to be drawn.
pub struct Table<'a> {
    /// What list.
    pub def: &'static ListDef,
    /// What cells depend on.
    pub cx: Cx<'a>,
    /// Rows: positions in the inventory.
    pub order: &'a [u32],
    /// Position of the cursor in `order`, where there is one.
    pub at: Option<usize>,
    /// First row shown, a hint.
    pub top: usize,
    /// Marked rows.
    pub marks: Option<&'a BTreeSet<ObjectId>>,
    /// Columns that are not shown.
    pub hidden: &'a dyn Fn(&str) -> bool,
    /// Sort, for the sign in the head.
    pub sort: Option<&'a Sort>,
    /// Whether the list has the keys.
    pub focused: bool,
    /// Whether the rows are old.
    pub stale: bool,
    /// Whether the head is drawn.
    pub head: bool,
    /// How it follows the cursor.
    pub turn: Turn,
}

impl Table<'_> {
    /// Draws head and rows into `area`; returns the area of the rows.
    pub fn draw(&self, canvas: &mut Canvas<'_>, area: Rect) -> Rect {
        let head = u16::from(self.head && area.height > 1);
        let body = Rect { y: area.y + head, height: area.height.saturating_sub(head), ..area };
        let height = usize::from(body.height);
        let top = window(self.top, self.at.unwrap_or(self.top), self.order.len(), height, self.turn);
        let shown: Vec<usize> = self.order.iter().skip(top).take(height).map(|i| *i as usize).collect();
        let columns: Vec<&Column> = self.def.columns.iter().filter(|c| c.max > 0 && !(self.hidden)(c.key)).collect();
        let cells: Vec<Vec<Cell>> =
            shown.iter().map(|i| columns.iter().map(|c| (self.def.cell)(self.cx, *i, c.key)).collect()).collect();
        let mut prefix = PREFIX;
        let mut fit = fit(canvas, &columns, &cells, area.width.saturating_sub(prefix));
        if fit.cramped && self.turn == Turn::HalfPage && self.marks.is_none_or(BTreeSet::is_empty) {
            prefix = 1;
            fit = self::fit(canvas, &columns, &cells, area.width.saturating_sub(prefix));
        }
        fit.prefix = prefix;
        if head > 0 {
            self.draw_head(canvas, area, &columns, &fit);
        }
        for (row, (i, cells)) in shown.iter().zip(&cells).enumerate() {
            let y = body.y + u16::try_from(row).unwrap_or(u16::MAX);
            self.draw_row(
                canvas,
                Rect { y, height: 1, ..body },
                (*i, Some(top + row) == self.at),
                (&columns, cells, &fit),
            );
        }
        body
    }

    fn draw_head(&self, canvas: &mut Canvas<'_>, area: Rect, columns: &[&Column], fit: &Fit) {
        for (column, x, width) in fit.places(columns) {
            let style = canvas.look().style(Role::Muted);
            let title = canvas.width(column.title).min(width);
            let indent = if column.align == Align::Right { width - title } else { 0 };
            canvas.put((area.x + fit.prefix + x + indent, area.y), title, column.title, style, Cut::End);
            canvas.hit(Rect::new(area.x + fit.prefix + x, area.y, width, 1), Hit::Column(self.def.id, column.key));
            if self.sort.is_some_and(|s| s.column == column.key) {
                canvas.restyle(Rect::new(area.x + fit.prefix + x + indent, area.y, title, 1), Role::Title);
            }
        }
    }

    fn draw_row(
        &self,
        canvas: &mut Canvas<'_>,
        area: Rect,
        (row, selected): (usize, bool),
        (columns, cells, fit): (&[&Column], &[Cell], &Fit),
    ) {
        let id = (self.def.id_of)(self.cx.inv, row);
        let marked = id.as_ref().is_some_and(|id| self.marks.is_some_and(|m| m.contains(id)));
        let glyphs = canvas.look().glyphs;
        if marked {
            canvas.bits((area.x, area.y), 1, &[Bit::new(glyphs.mark, Role::Accent)]);
        }
        let cursor = area.x + fit.prefix - 1;
        if selected {
            canvas.bits((cursor, area.y), 1, &[Bit::new(glyphs.cursor, Role::Accent)]);
        }
        for ((column, x, width), cell) in fit.places(columns).zip(fit.kept(cells)) {
            let at = (area.x + fit.prefix + x, area.y);
            self.draw_cell(canvas, at, width, column, cell);
        }
        if selected && self.focused {
            canvas.restyle(area, Role::Selection);
            canvas.point(cursor, area.y);
        }
        if let Some(id) = id {
            canvas.hit(area, Hit::Row(self.def.id, id));
        }
    }

    fn draw_cell(&self, canvas: &mut Canvas<'_>, at: (u16, u16), width: u16, column: &Column, cell: &Cell) {
        let total = cell_width(canvas, cell).min(width);
        let mut x = at.0 + if column.align == Align::Right { width - total } else { 0 };
        let end = at.0 + width;
        if let Some(class) = cell.class {
            let mut glyph = canvas.glyph(class);
            if self.stale {
                glyph.role = Role::Stale;
            }
            x += canvas.bits((x, at.1), end.saturating_sub(x), &[glyph]) + u16::from(!cell.text.is_empty());
        }
        let place = if column.cutting == Cutting::Middle { Cut::Middle } else { Cut::End };
        let style = canvas.look().style(if self.stale { Role::Stale } else { cell.role });
        canvas.put((x, at.1), end.saturating_sub(x), &cell.text, style, place);
    }
}

fn cell_width(canvas: &Canvas<'_>, cell: &Cell) -> u16 {
    let glyph = u16::from(cell.class.is_some()) + u16::from(cell.class.is_some() && !cell.text.is_empty());
    canvas.width(&cell.text).saturating_add(glyph)
}

/// Which columns stay, and how wide they are.
struct Fit {
    widths: Vec<Option<u16>>,
    gap: u16,
    prefix: u16,
    /// Whether text was cut or a column left.
    cramped: bool,
}

impl Fit {
    /// Columns that stay, with their offset and width.
    fn places<'c>(&self, columns: &[&'c Column]) -> impl Iterator<Item = (&'c Column, u16, u16)> {
        let mut x = 0;
        columns.iter().zip(&self.widths).filter_map(move |(column, width)| {
            let place = (*column, x, (*width)?);
            x += place.2 + self.gap;
            Some(place)
        })
    }

    fn kept<'c>(&self, cells: &'c [Cell]) -> impl Iterator<Item = &'c Cell> {
        cells.iter().zip(&self.widths).filter(|(_, width)| width.is_some()).map(|(cell, _)| cell)
    }
}

/// Widths from the visible cells. What does not fit is cut down to its `min` first, then columns leave by `keep`; a
/// column that must not be cut is whole or not there.
fn fit(canvas: &Canvas<'_>, columns: &[&Column], cells: &[Vec<Cell>], width: u16) -> Fit {
    let mut natural: Vec<u16> = columns.iter().map(|c| c.min.max(canvas.width(c.title))).collect();
    for row in cells {
        for (have, cell) in natural.iter_mut().zip(row) {
            *have = (*have).max(cell_width(canvas, cell));
        }
    }
    let widths: Vec<Option<u16>> =
        columns.iter().zip(&natural).map(|(c, have)| Some((*have).min(c.max.max(c.min)))).collect();
    let gap = if canvas.area().width >= ROOMY { 2 } else { 1 };
    let mut fit = Fit { widths, gap, prefix: PREFIX, cramped: false };
    if width + PREFIX < ROOMY && fit.total() > width {
        fit.gap = 1;
    }
    fit.cramped = fit.total() > width;
    loop {
        shrink(&mut fit, columns, width);
        if fit.total() <= width {
            return fit;
        }
        if fit.gap > 1 {
            fit.gap = 1;
            continue;
        }
        let leaver =
            columns.iter().enumerate().filter(|(i, c)| fit.has(*i) && c.keep < 255).min_by_key(|(_, c)| c.keep);
        match leaver {
            Some((i, _)) => fit.set(i, None),
            None => break,
        }
        fit.restore(columns, &natural);
    }
    squeeze(&mut fit, columns, width);
    fit
}

impl Fit {
    fn total(&self) -> u16 {
        let stay = self.widths.iter().flatten();
        let gaps = u16::try_from(stay.clone().count()).unwrap_or(0).saturating_sub(1) * self.gap;
        stay.fold(gaps, |sum, w| sum.saturating_add(*w))
    }

    fn has(&self, i: usize) -> bool {
        self.widths.get(i).is_some_and(Option::is_some)
    }

    fn set(&mut self, i: usize, width: Option<u16>) {
        if let Some(slot) = self.widths.get_mut(i) {
            *slot = width;
        }
    }

    /// A column left: the others get their wishes back.
    fn restore(&mut self, columns: &[&Column], natural: &[u16]) {
        for ((slot, column), have) in self.widths.iter_mut().zip(columns).zip(natural) {
            if let (Some(width), true) = (slot.as_mut(), column.cutting != Cutting::Never) {
                *width = (*have).min(column.max.max(column.min));
            }
        }
    }
}

/// Names stay this readable as long as another column can leave instead.
const READABLE: u16 = 16;

/// Cuts the widest column that may be cut, cell by cell, down to its `min`.
fn shrink(fit: &mut Fit, columns: &[&Column], width: u16) {
    let mut over = fit.total().saturating_sub(width);
    while over > 0 {
        let widest = fit
            .widths
            .iter_mut()
            .zip(columns)
            .filter_map(|(w, c)| w.as_mut().map(|w| (w, c)))
            .filter(|(w, c)| c.cutting != Cutting::Never && **w > floor(c))
            .max_by_key(|(w, _)| **w);
        let Some((w, _)) = widest else { return };
        *w -= 1;
        over -= 1;
    }
}

/// Nothing may leave any more: columns that may be cut go below their `min`, to three cells at least.
fn squeeze(fit: &mut Fit, columns: &[&Column], width: u16) {
    let mut over = fit.total().saturating_sub(width);
    while over > 0 {
        let widest = fit
            .widths
            .iter_mut()
            .zip(columns)
            .filter_map(|(w, c)| w.as_mut().filter(|w| c.cutting != Cutting::Never && **w > 3))
            .max_by_key(|w| **w);
        let Some(w) = widest else { return };
        *w -= 1;
        over -= 1;
    }
}

/// The width below which a column is not cut while others can leave.
fn floor(column: &Column) -> u16 {
    let title = u16::try_from(text::width(column.title)).unwrap_or(0);
    column.min.max(title).max(if column.keep == 255 { READABLE } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_follow_the_cursor_by_lines() {
        assert_eq!(window(0, 9, 100, 10, Turn::Line), 0);
        assert_eq!(window(0, 10, 100, 10, Turn::Line), 1);
        assert_eq!(window(5, 4, 100, 10, Turn::Line), 4);
        assert_eq!(window(95, 99, 100, 10, Turn::Line), 90);
        assert_eq!(window(7, 3, 5, 10, Turn::Line), 0);
        assert_eq!(window(7, 3, 5, 0, Turn::Line), 0);
    }

    #[test]
    fn panes_turn_by_half_a_page() {
        assert_eq!(window(0, 10, 100, 10, Turn::HalfPage), 5);
        assert_eq!(window(5, 4, 100, 10, Turn::HalfPage), 0);
        assert_eq!(window(0, 99, 100, 10, Turn::HalfPage), 90);
        for at in 0..100 {
            let top = window(37, at, 100, 10, Turn::HalfPage);
            assert!((top..top + 10).contains(&at), "{at} is not visible from {top}");
        }
    }
}
