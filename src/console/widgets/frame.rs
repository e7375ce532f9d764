//! Boxes and rules with titles; focus is the title in brackets, plus colour.

use ratatui::layout::Rect;

use super::canvas::{Bit, Canvas};
use crate::console::theme::Role;

/// Titles of a box or a rule.
#[derive(Debug, Clone, Default)]
pub struct Titles {
    /// Left.
    pub title: String,
    /// Right.
    pub right: Vec<Bit>,
    /// Right, on the lower border.
    pub foot: Vec<Bit>,
    /// Whether what is inside has the keys.
    pub focused: bool,
}

impl Titles {
    /// A title alone.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }
}

/// A horizontal rule from `x` over `width` cells with its titles.
pub fn rule(canvas: &mut Canvas<'_>, area: Rect, titles: &Titles) {
    let Rect { x, y, width, .. } = area;
    let role = if titles.focused { Role::BorderFocus } else { Role::Border };
    let horizontal = canvas.look().glyphs.horizontal;
    canvas.fill(Rect { height: 1, ..area }, horizontal, role);
    let used = title(canvas, (x + 1, y), width.saturating_sub(2), titles);
    right(canvas, (x + width).saturating_sub(1), y, width.saturating_sub(used + 3), &titles.right);
}

/// A box around `area`; returns the space inside.
pub fn boxed(canvas: &mut Canvas<'_>, area: Rect, titles: &Titles) -> Rect {
    if area.width < 2 || area.height < 2 {
        return Rect { width: 0, height: 0, ..area };
    }
    let role = if titles.focused { Role::BorderFocus } else { Role::Border };
    let glyphs = canvas.look().glyphs;
    let (last_x, last_y) = (area.right() - 1, area.bottom() - 1);
    canvas.fill(Rect::new(area.x, area.y, area.width, 1), glyphs.horizontal, role);
    canvas.fill(Rect::new(area.x, last_y, area.width, 1), glyphs.horizontal, role);
    canvas.fill(Rect::new(area.x, area.y + 1, 1, area.height - 2), glyphs.vertical, role);
    canvas.fill(Rect::new(last_x, area.y + 1, 1, area.height - 2), glyphs.vertical, role);
    let [top_left, top_right, bottom_left, bottom_right] = glyphs.corners;
    for (x, y, corner) in [
        (area.x, area.y, top_left),
        (last_x, area.y, top_right),
        (area.x, last_y, bottom_left),
        (last_x, last_y, bottom_right),
    ] {
        canvas.fill(Rect::new(x, y, 1, 1), corner, role);
    }
    let room = area.width - 2;
    let used = title(canvas, (area.x + 1, area.y), room, titles);
    right(canvas, last_x.saturating_sub(1), area.y, room.saturating_sub(used), &titles.right);
    right(canvas, last_x.saturating_sub(1), last_y, room.saturating_sub(2), &titles.foot);
    Rect::new(area.x + 1, area.y + 1, area.width - 2, area.height - 2)
}

/// Draws the title in brackets or blanks; returns the cells taken.
fn title(canvas: &mut Canvas<'_>, at: (u16, u16), max: u16, titles: &Titles) -> u16 {
    if titles.title.is_empty() || max < 4 {
        return 0;
    }
    let (open, close, role) = if titles.focused { ("[", "]", Role::BorderFocus) } else { (" ", " ", Role::Border) };
    let text = Bit::new(titles.title.clone(), Role::Title);
    let inner = canvas.bits_width(std::slice::from_ref(&text)).min(max - 2);
    canvas.bits(at, 1, &[Bit::new(open, role)]);
    canvas.bits((at.0 + 1, at.1), inner, &[text]);
    canvas.bits((at.0 + 1 + inner, at.1), 1, &[Bit::new(close, role)]);
    inner + 2
}

/// Draws `bits` between blanks so that they end before column `end`; leaves them out where they do not fit.
fn right(canvas: &mut Canvas<'_>, end: u16, y: u16, max: u16, bits: &[Bit]) {
    if bits.is_empty() || max < 6 {
        return;
    }
    let width = canvas.bits_width(bits).min(max - 2);
    let x = end.saturating_sub(width + 2);
    canvas.bits((x, y), 1, &[Bit::text(" ")]);
    canvas.bits((x + 1, y), width, bits);
    canvas.bits((x + 1 + width, y), 1, &[Bit::text(" ")]);
}
