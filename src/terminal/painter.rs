//! From one screen to the next in as few bytes as possible.
//!
//! The painter remembers what the terminal shows and writes only what differs: cells with minimal attribute changes
//! and short cursor movements, and lists that scrolled with the terminal's own scroll regions. A frame that changes
//! nothing costs no byte at all.

use std::io::Write as _;

use ratatui::{
    buffer::{Buffer, Cell},
    layout::{Position, Rect},
};

use super::{
    row::{Row, Slot},
    scroll,
    sgr::Pen,
};

/// One picture of the whole screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frame {
    /// Every cell; its area starts at 0,0 and has the size of the terminal.
    pub buffer: Buffer,
    /// The rows of a list that may be moved as a whole. Only used when it spans the full width.
    pub scroll: Option<Rect>,
    /// Where the cursor shows; `None` hides it.
    pub cursor: Option<Position>,
}

/// Which optional abilities of the terminal the painter may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaintOptions {
    /// Wrap each frame in synchronised output (DEC private mode 2026), so that no half-drawn frame is seen.
    pub synchronised: bool,
    /// Move lists with scroll regions (DECSTBM, SU, SD).
    pub scroll_regions: bool,
}

impl Default for PaintOptions {
    fn default() -> Self {
        Self { synchronised: true, scroll_regions: true }
    }
}

/// Turns frames into bytes; see the module documentation.
#[derive(Debug)]
pub struct Painter {
    options: PaintOptions,
    /// What the terminal shows; `None` when that is not known.
    screen: Option<Buffer>,
    pen: Pen,
    /// Where the terminal's cursor is, if certain.
    at: Option<Position>,
    /// Where the cursor shows; `None`: hidden. The outer `None`: not known.
    shown: Option<Option<Position>>,
}

const BEGIN: &[u8] = b"\x1b[?2026h";
const END: &[u8] = b"\x1b[?2026l";

/// Unchanged cells up to this many are written again instead of skipped: a cursor movement is no shorter.
const SHORT_GAP: u16 = 3;
/// From this many blank cells up to the right edge, the rest of the line is erased instead of written.
const ERASE_FROM: u16 = 4;

impl Painter {
    /// A painter that knows nothing about the screen: the first frame is painted whole.
    #[must_use]
    pub const fn new(options: PaintOptions) -> Self {
        Self { options, screen: None, pen: Pen::DEFAULT, at: None, shown: None }
    }

    /// Forgets what the terminal shows: the next frame is painted whole (`ctrl-l`, back from an editor, a cut frame).
    pub fn forget(&mut self) {
        self.screen = None;
        self.shown = None;
    }

    /// Appends to `out` what takes the terminal from the last frame to `next`; nothing when they look the same.
    ///
    /// The caller must write all of it, or call [`Painter::forget`].
    pub fn paint(&mut self, next: Frame, out: &mut Vec<u8>) {
        let start = out.len();
        if self.options.synchronised {
            out.extend_from_slice(BEGIN);
        }
        let body = out.len();
        let Frame { buffer, scroll, cursor } = next;
        let mut before = match self.screen.take() {
            Some(screen) if screen.area == buffer.area => screen,
            _ => self.clear(buffer.area, out),
        };
        if let Some(area) = scroll.filter(|_| self.options.scroll_regions) {
            self.move_rows(&mut before, &buffer, area, out);
        }
        self.cells(&before, &buffer, out);
        let cursor = cursor.filter(|at| buffer.area.contains(*at));
        self.cursor(cursor, out);
        self.screen = Some(buffer);
        if out.len() == body {
            out.truncate(start);
        } else if self.options.synchronised {
            out.extend_from_slice(END);
        }
    }

    /// Brings the terminal to a known state: default attributes, no scroll region, an empty screen.
    fn clear(&mut self, area: Rect, out: &mut Vec<u8>) -> Buffer {
        out.extend_from_slice(b"\x1b[m\x1b[r\x1b[H\x1b[2J");
        self.pen = Pen::DEFAULT;
        self.at = Some(Position::ORIGIN);
        Buffer::empty(area)
    }

    /// Moves the rows of a list when that brings most of them to where they are wanted.
    fn move_rows(&mut self, before: &mut Buffer, next: &Buffer, area: Rect, out: &mut Vec<u8>) {
        let Some(shift) = scroll::detect(before, next, area) else { return };
        // Rows that come in are erased with the current background.
        self.pen.change(Pen::DEFAULT, out);
        let (direction, lines) = if shift > 0 { ('S', shift) } else { ('T', -shift) };
        put(out, format_args!("\x1b[{};{}r\x1b[{lines}{direction}\x1b[r", area.top() + 1, area.bottom()));
        // Setting the region sends the cursor home.
        self.at = Some(Position::ORIGIN);
        scroll::shift_rows(before, area, shift);
    }

    fn cells(&mut self, before: &Buffer, next: &Buffer, out: &mut Vec<u8>) {
        let area = next.area;
        for y in area.top()..area.bottom() {
            let (old, new) = (Row::of(before, y), Row::of(next, y));
            if old.same_cells(&new) {
                continue;
            }
            self.row(&old, &new, out);
        }
    }

    fn row(&mut self, old: &Row<'_>, new: &Row<'_>, out: &mut Vec<u8>) {
        let blank = new.blank_from();
        let mut shown = old.slots();
        let (mut x, mut shown_x) = (0, 0);
        for Slot { cell, symbol, cells } in new.slots() {
            let here = x;
            x += cells;
            while shown_x < here {
                shown_x += shown.next().map_or(u16::MAX - shown_x, |slot| slot.cells);
            }
            // A character is there already when it is the same and not covered by a wide one before it.
            if shown_x == here && old.cell(here) == Some(cell) {
                continue;
            }
            if here >= blank && new.width() - here >= ERASE_FROM && old.differences(new, here) >= ERASE_FROM {
                self.goto(here, new, out);
                self.pen.change(Pen::DEFAULT, out);
                out.extend_from_slice(b"\x1b[K");
                return;
            }
            self.goto(here, new, out);
            self.put_cell(cell, symbol, out);
            let certain = x < new.width() && symbol.chars().nth(1).is_none();
            // In the last column terminals wait with the wrap, and on clusters of several characters they disagree.
            self.at = certain.then_some(Position::new(x, new.y()));
        }
    }

    fn put_cell(&mut self, cell: &Cell, symbol: &str, out: &mut Vec<u8>) {
        self.pen.change(Pen::of(cell), out);
        out.extend_from_slice(symbol.as_bytes());
    }

    /// Moves the cursor to column `x` of the row, over cells that already show what `new` wants.
    fn goto(&mut self, x: u16, new: &Row<'_>, out: &mut Vec<u8>) {
        let y = new.y();
        match self.at {
            Some(at) if at == Position::new(x, y) => return,
            Some(at) if at.y == y && at.x < x => {
                let gap = x - at.x;
                match new.plain(at.x, x, self.pen).filter(|_| gap <= SHORT_GAP) {
                    Some(text) => out.extend(text),
                    None if gap == 1 => out.extend_from_slice(b"\x1b[C"),
                    None => put(out, format_args!("\x1b[{gap}C")),
                }
            }
            Some(at) if x == 0 && at.y + 1 == y => out.extend_from_slice(b"\r\n"),
            _ => jump(x, y, out),
        }
        self.at = Some(Position::new(x, y));
    }

    fn cursor(&mut self, cursor: Option<Position>, out: &mut Vec<u8>) {
        if let Some(at) = cursor
            && self.at != Some(at)
        {
            jump(at.x, at.y, out);
            self.at = Some(at);
        }
        match (self.shown.map(|at| at.is_some()), cursor.is_some()) {
            (Some(true), true) | (Some(false), false) => {}
            (_, true) => out.extend_from_slice(b"\x1b[?25h"),
            (_, false) => out.extend_from_slice(b"\x1b[?25l"),
        }
        self.shown = Some(cursor);
    }
}

fn jump(x: u16, y: u16, out: &mut Vec<u8>) {
    match (x, y) {
        (0, 0) => out.extend_from_slice(b"\x1b[H"),
        (0, _) => put(out, format_args!("\x1b[{}H", y + 1)),
        _ => put(out, format_args!("\x1b[{};{}H", y + 1, x + 1)),
    }
}

fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to a Vec cannot fail.
    let _ = out.write_fmt(text);
}

#[cfg(test)]
#[path = "painter_tests.rs"]
mod tests;
