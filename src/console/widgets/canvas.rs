//! What screens draw on: a cell buffer that only takes clean text, with the hit map and the cursor beside it.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use crate::console::list::Cell;
use crate::console::msg::{Hit, Screenful};
use crate::console::theme::{Look, Role};
use crate::inventory::Class;
use crate::text::{self, Charset, Cut};

/// A piece of a line: text in one role.
#[derive(Debug, Clone, PartialEq)]
pub struct Bit {
    /// Text; cleaned when it is drawn.
    pub text: Cow<'static, str>,
    /// Role.
    pub role: Role,
}

impl Bit {
    /// `text` in `role`.
    pub fn new(text: impl Into<Cow<'static, str>>, role: Role) -> Self {
        Self { text: text.into(), role }
    }

    /// Plain text.
    pub fn text(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(text, Role::Text)
    }

    /// Muted text.
    pub fn muted(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(text, Role::Muted)
    }
}

/// A surface with the looks in force.
#[derive(Debug)]
pub struct Canvas<'m> {
    look: &'m Look,
    buffer: Buffer,
    hits: Vec<(Rect, Hit)>,
    cursor: Option<Position>,
    cursor_visible: bool,
    scroll: Option<Rect>,
}

impl<'m> Canvas<'m> {
    /// An empty screen of `size` columns and rows.
    #[must_use]
    pub fn new(size: (u16, u16), look: &'m Look) -> Self {
        let area = Rect::new(0, 0, size.0, size.1);
        let mut buffer = Buffer::empty(area);
        buffer.set_style(area, look.style(Role::Text));
        Self { look, buffer, hits: Vec::new(), cursor: None, cursor_visible: false, scroll: None }
    }

    /// The finished frame.
    #[must_use]
    pub fn finish(self) -> Screenful {
        Screenful {
            buffer: self.buffer,
            cursor: self.cursor,
            cursor_visible: self.cursor_visible,
            scroll: self.scroll,
            hits: self.hits,
        }
    }

    /// The whole screen.
    #[must_use]
    pub const fn area(&self) -> Rect {
        self.buffer.area
    }

    /// Looks in force.
    #[must_use]
    pub const fn look(&self) -> &'m Look {
        self.look
    }

    /// Glyph and role of `class`.
    #[must_use]
    pub fn glyph(&self, class: Class) -> Bit {
        Bit::new(self.look.glyphs.of(class), Role::of(class))
    }

    /// `text` as it is drawn: clean, and in ASCII where the terminal has nothing else.
    #[must_use]
    pub fn plain<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let clean = text::clean(text);
        if self.look.glyphs.ascii && !clean.is_ascii() { Cow::Owned(ascii(&clean)) } else { clean }
    }

    /// Cells that `text` takes when drawn.
    #[must_use]
    pub fn width(&self, text: &str) -> u16 {
        u16::try_from(text::width(&self.plain(text))).unwrap_or(u16::MAX)
    }

    /// Cells that `bits` take when drawn.
    #[must_use]
    pub fn bits_width(&self, bits: &[Bit]) -> u16 {
        bits.iter().fold(0, |sum, bit| sum.saturating_add(self.width(&bit.text)))
    }

    /// The charset of the marks for what was cut.
    #[must_use]
    pub const fn charset(&self) -> Charset {
        if self.look.glyphs.ascii { Charset::Ascii } else { Charset::Unicode }
    }

    /// Draws `text` into at most `max` cells, cut where `place` says; returns the cells taken.
    pub fn put(&mut self, at: (u16, u16), max: u16, text: &str, style: Style, place: Cut) -> u16 {
        let plain = self.plain(text);
        let max = max.min(self.buffer.area.right().saturating_sub(at.0));
        if max == 0 || at.1 >= self.buffer.area.bottom() {
            return 0;
        }
        let cut = text::cut(&plain, usize::from(max), place, self.charset());
        let (end, _) = self.buffer.set_stringn(at.0, at.1, &cut, usize::from(max), style);
        end.saturating_sub(at.0)
    }

    /// Draws `bits` one after the other into at most `max` cells, cut at the end; returns the cells taken.
    pub fn bits(&mut self, at: (u16, u16), max: u16, bits: &[Bit]) -> u16 {
        let mut used = 0;
        for (i, bit) in bits.iter().enumerate() {
            let left = max.saturating_sub(used);
            let rest: u16 = bits.iter().skip(i + 1).fold(0, |sum, b| sum.saturating_add(self.width(&b.text)));
            let own = self.width(&bit.text);
            let style = self.look.style(bit.role);
            if own > left || (own == left && rest > 0 && left > 0) {
                let text = format!("{}{}", bit.text, self.look.glyphs.more);
                used += self.put((at.0 + used, at.1), left, &text, style, Cut::End);
                break;
            }
            used += self.put((at.0 + used, at.1), left, &bit.text, style, Cut::End);
        }
        used
    }

    /// Draws `bits` so that they end before column `end`; returns the column they start at.
    pub fn bits_right(&mut self, end: u16, y: u16, max: u16, bits: &[Bit]) -> u16 {
        let width = self.bits_width(bits).min(max);
        let x = end.saturating_sub(width);
        self.bits((x, y), width, bits);
        x
    }

    /// The pieces of a cell: its glyph in its own role, then the text.
    #[must_use]
    pub fn cell_bits(&self, cell: &Cell) -> Vec<Bit> {
        let mut out = Vec::with_capacity(3);
        if let Some(class) = cell.class {
            out.push(self.glyph(class));
            if !cell.text.is_empty() {
                out.push(Bit::text(" "));
            }
        }
        if !cell.text.is_empty() {
            out.push(Bit::new(cell.text.clone(), cell.role));
        }
        out
    }

    /// The pieces of a line of cells: states stand beside what they are about, the rest is separated by dots. A cell
    /// that ends in a blank is a label: what follows stands directly behind it.
    #[must_use]
    pub fn line_bits(&self, cells: &[Cell]) -> Vec<Bit> {
        let mut out: Vec<Bit> = Vec::new();
        let mut label = true;
        for cell in cells {
            if !label {
                out.push(if cell.class.is_some() { Bit::text(" ") } else { Bit::muted(" · ") });
            }
            out.extend(self.cell_bits(cell));
            label = cell.text.ends_with(' ');
        }
        out
    }

    /// Draws a line of cells into at most `max` cells: what does not fit whole is left out, so that no identifier is cut.
    pub fn line(&mut self, at: (u16, u16), max: u16, cells: &[Cell]) {
        let fits = |n: &usize| cells.get(..*n).is_some_and(|part| self.bits_width(&self.line_bits(part)) <= max);
        let count = (1..=cells.len()).rev().find(fits).unwrap_or(1);
        let mut bits = self.line_bits(cells.get(..count).unwrap_or(cells));
        let more = Bit::muted(format!(" {}", self.look.glyphs.more));
        if count < cells.len() && self.bits_width(&bits) + 2 <= max {
            bits.push(more);
        }
        self.bits(at, max, &bits);
    }

    /// Flows `bits` into `area`, broken between words; returns the rows taken. The last row says when more is cut.
    pub fn flow(&mut self, area: Rect, bits: &[Bit]) -> u16 {
        let mut lines: Vec<Vec<Bit>> = vec![Vec::new()];
        let mut used = 0;
        for bit in bits {
            for word in wrap(&self.plain(&bit.text), area.width).iter().flat_map(|l| l.split(' ')) {
                let own = self.width(word);
                if used > 0 && used + 1 + own > area.width {
                    lines.push(Vec::new());
                    used = 0;
                }
                let text = if used > 0 { format!(" {word}") } else { word.to_owned() };
                used += own + u16::from(used > 0);
                if let Some(line) = lines.last_mut() {
                    line.push(Bit::new(text, bit.role));
                }
            }
        }
        let fits = usize::from(area.height);
        if lines.len() > fits {
            lines.truncate(fits);
            if let Some(line) = lines.last_mut() {
                line.push(Bit::muted(format!(" {}", self.look.glyphs.more)));
            }
        }
        for (y, line) in (area.y..area.bottom()).zip(&lines) {
            self.bits((area.x, y), area.width, line);
        }
        u16::try_from(lines.len()).unwrap_or(area.height)
    }

    /// Blanks `area` in `role`.
    pub fn clear(&mut self, area: Rect, role: Role) {
        let area = area.intersection(self.buffer.area);
        for y in area.top()..area.bottom() {
            for x in area.left()..area.right() {
                if let Some(cell) = self.buffer.cell_mut((x, y)) {
                    cell.reset();
                }
            }
        }
        self.restyle(area, role);
    }

    /// Lays the style of `role` over `area`.
    pub fn restyle(&mut self, area: Rect, role: Role) {
        self.buffer.set_style(area.intersection(self.buffer.area), self.look.style(role));
    }

    /// Repeats a one-cell `symbol` over `area`.
    pub fn fill(&mut self, area: Rect, symbol: &str, role: Role) {
        let style = self.look.style(role);
        let area = area.intersection(self.buffer.area);
        for y in area.top()..area.bottom() {
            for x in area.left()..area.right() {
                if let Some(cell) = self.buffer.cell_mut((x, y)) {
                    cell.set_symbol(symbol).set_style(style);
                }
            }
        }
    }

    /// Says what a click into `area` means.
    pub fn hit(&mut self, area: Rect, hit: Hit) {
        let area = area.intersection(self.buffer.area);
        if !area.is_empty() {
            self.hits.push((area, hit));
        }
    }

    /// Puts the terminal's cursor on a selected row, where screen readers look for it.
    pub fn point(&mut self, x: u16, y: u16) {
        self.cursor = Some(Position::new(x, y));
        self.cursor_visible = false;
    }

    /// Puts the visible cursor into a text field.
    pub fn type_at(&mut self, x: u16, y: u16) {
        self.cursor = Some(Position::new(x.min(self.buffer.area.right().saturating_sub(1)), y));
        self.cursor_visible = true;
    }

    /// Reports the rows that a terminal may move as a whole.
    pub fn scrolls(&mut self, area: Rect) {
        self.scroll = Some(area);
    }

    /// An overlay covers the screen: nothing beneath is clicked, moved or pointed at.
    pub fn cover(&mut self) {
        self.hits.clear();
        self.scroll = None;
        self.cursor = None;
    }
}

/// Our own signs in ASCII; anything else foreign becomes `?`, one a cell.
fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.replace(" · ", ", ").chars() {
        out.push(match c {
            '·' => ',',
            '–' | '─' => '-',
            '→' | '›' | '▸' => '>',
            '…' => '~',
            '▾' | '↓' => 'v',
            '▴' | '↑' => '^',
            '←' => '<',
            '×' => 'x',
            '≠' => '#',
            '✓' => '+',
            '✗' => 'X',
            '◐' => '~',
            '⊘' => '/',
            '●' => '+',
            '○' => '-',
            '◇' => 'o',
            '»' => 'p',
            '▁'..='█' => char::from(b'0' + u8::try_from(u32::from(c) - u32::from('▁')).unwrap_or(7)),
            other => other,
        });
    }
    text::to_ascii(&out).into_owned()
}

/// `text` in lines of at most `width` cells, broken between words; a longer word is broken where it must.
#[must_use]
pub fn wrap(text: &str, width: u16) -> Vec<String> {
    let width = usize::from(width.max(1));
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for word in text.split_whitespace() {
        let mut word = word;
        let mut own = text::width(word);
        if used > 0 && used + 1 + own > width {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        while own > width && used == 0 {
            let head = head(word, width);
            lines.push(head.to_owned());
            word = word.get(head.len()..).unwrap_or_default();
            own = text::width(word);
        }
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        line.push_str(word);
        used += own;
    }
    if used > 0 {
        lines.push(line);
    }
    lines
}

/// The longest start of `word` that fits, at least one character so that every call makes progress.
fn head(word: &str, width: usize) -> &str {
    let mut end = word.len();
    for (i, _) in word.char_indices().skip(1) {
        if text::width(word.get(..i).unwrap_or_default()) > width {
            break;
        }
        end = i;
    }
    let first = word.chars().next().map_or(0, char::len_utf8);
    word.get(..if text::width(word) <= width { word.len() } else { end.max(first) }).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_between_words_and_inside_long_ones() {
        assert_eq!(wrap("the firewall refused this key", 12), ["the firewall", "refused this", "key"]);
        assert_eq!(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrap("日本語", 2), ["日", "本", "語"]);
        assert_eq!(wrap("日", 1), ["日"]);
        assert!(wrap("", 10).is_empty());
    }

    #[test]
    fn our_signs_have_an_ascii_form() {
        assert_eq!(ascii("tdemo › 2 · 20010–20019 → ▁█ é"), "tdemo > 2, 20010-20019 > 07 ?");
    }
}
