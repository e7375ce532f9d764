//! One row of a buffer as the terminal sees it: characters with the cells they take.

use std::borrow::Cow;

use ratatui::buffer::{Buffer, Cell};
use unicode_width::UnicodeWidthStr;

use super::sgr::Pen;
use crate::text;

/// A character on the screen with the number of cells it takes.
pub(super) struct Slot<'a> {
    pub cell: &'a Cell,
    pub symbol: &'a str,
    pub cells: u16,
}

/// The cells of one row.
pub(super) struct Row<'a> {
    cells: &'a [Cell],
    y: u16,
}

impl<'a> Row<'a> {
    pub fn of(buffer: &'a Buffer, y: u16) -> Self {
        let width = usize::from(buffer.area.width);
        let start = usize::from(y - buffer.area.y) * width;
        Self { cells: buffer.content.get(start..start + width).unwrap_or_default(), y }
    }

    pub const fn y(&self) -> u16 {
        self.y
    }

    pub const fn cells(&self) -> &'a [Cell] {
        self.cells
    }

    #[expect(clippy::cast_possible_truncation, reason = "a row is as long as the buffer's u16 width")]
    pub const fn width(&self) -> u16 {
        self.cells.len() as u16
    }

    /// The characters from left to right. A wide character covers the cells after it, whatever these hold.
    pub fn slots(&self) -> impl Iterator<Item = Slot<'a>> + use<'a> {
        let mut rest = self.cells;
        std::iter::from_fn(move || {
            let cell = rest.first()?;
            let symbol = shown(cell);
            let wanted = symbol.width();
            // What would stick out of the row is shown as blank, as is what takes no cell.
            let (symbol, cells) = if wanted == 0 || wanted > rest.len() { (" ", 1) } else { (symbol, wanted) };
            rest = rest.get(cells..).unwrap_or_default();
            Some(Slot { cell, symbol, cells: u16::try_from(cells).unwrap_or(1) })
        })
    }

    pub fn same_cells(&self, other: &Self) -> bool {
        self.cells == other.cells
    }

    pub fn cell(&self, x: u16) -> Option<&'a Cell> {
        self.cells.get(usize::from(x))
    }

    /// How many cells from `x` on differ.
    pub fn differences(&self, new: &Self, x: u16) -> u16 {
        let x = usize::from(x);
        let pairs = self.cells.iter().zip(new.cells).skip(x);
        u16::try_from(pairs.filter(|(a, b)| a != b).count()).unwrap_or(u16::MAX)
    }

    /// The first column from which on everything is blank and without attributes.
    pub fn blank_from(&self) -> u16 {
        let mut from = 0;
        let mut at = 0;
        for slot in self.slots() {
            at += slot.cells;
            if slot.symbol != " " || Pen::of(slot.cell) != Pen::DEFAULT {
                from = at;
            }
        }
        from
    }

    /// The cells `from..to` as ASCII text, if all of them are ASCII in the style of `pen` and the first one is not the
    /// second half of a wide character: writing there would erase it.
    pub fn plain(&self, from: u16, to: u16, pen: Pen) -> Option<Vec<u8>> {
        let before = from.checked_sub(1).and_then(|x| self.cell(x));
        if before.is_some_and(|cell| one_byte(cell).is_none() && shown(cell).width() > 1) {
            return None;
        }
        let cells = self.cells.get(usize::from(from)..usize::from(to))?;
        cells.iter().map(|cell| one_byte(cell).filter(|_| Pen::of(cell) == pen)).collect()
    }
}

fn one_byte(cell: &Cell) -> Option<u8> {
    match cell.symbol().as_bytes() {
        [byte @ 0x20..=0x7e] => Some(*byte),
        _ => None,
    }
}

/// What a cell may put on the terminal. Views clean their text; this is the last gate before the wire.
fn shown(cell: &Cell) -> &str {
    let symbol = cell.symbol();
    if one_byte(cell).is_some() {
        return symbol;
    }
    match text::clean(symbol) {
        Cow::Borrowed(same) => same,
        Cow::Owned(_) => "?",
    }
}
