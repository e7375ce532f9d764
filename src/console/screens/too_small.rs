//! A terminal that is too small: one message, at any size down to one cell.

use ratatui::layout::Rect;

use crate::console::model::{FLOOR, Model};
use crate::console::theme::Role;
use crate::console::widgets::canvas::{Bit, Canvas};

/// Draws the message.
pub fn draw(canvas: &mut Canvas<'_>, model: &Model) {
    let area = canvas.area();
    let (w, h) = model.size;
    let first = format!("This window is {w} × {h}.");
    if area.height < 7 || area.width < 30 {
        canvas.flow(area, &[Bit::text(first)]);
        return;
    }
    let center = area.width.saturating_sub(canvas.width(&first)) / 2;
    canvas.bits((center, area.height / 4), area.width, &[Bit::new(first, Role::Title)]);
    let (needed_w, needed_h) = FLOOR;
    let text = [
        format!("deevnet-console needs {needed_w} × {needed_h}; it is at its best at 120 × 40."),
        "Nothing was lost: it goes on when the window grows.".to_owned(),
    ];
    let left = 3.min(area.width / 10);
    let mut y = area.height / 4 + 2;
    for paragraph in text {
        let room = Rect {
            x: left,
            y,
            width: area.width.saturating_sub(2 * left).min(50),
            height: area.height.saturating_sub(y + 2),
        };
        if room.is_empty() {
            break;
        }
        y += canvas.flow(room, &[Bit::text(paragraph)]) + 1;
    }
    let bits = [Bit::new("q", Role::Accent), Bit::muted(" quit")];
    canvas.bits((1, area.height - 1), area.width, &bits);
}
