//! A one-line text field with its cursor.

use tui_input::Input as Field;

use crate::console::theme::Role;
use crate::console::widgets::canvas::{Bit, Canvas};
use crate::text;

/// Draws `field` into `width` cells from `at`, scrolled so that its cursor shows, then what completes it, muted.
pub fn draw(canvas: &mut Canvas<'_>, at: (u16, u16), width: u16, field: &Field, rest: &str) {
    let value = field.value();
    let before: String = value.chars().take(field.cursor()).collect();
    let after: String = value.chars().skip(field.cursor()).collect();
    let before = canvas.plain(&before).into_owned();
    let used = u16::try_from(text::width(&before)).unwrap_or(u16::MAX);
    let skipped = used.saturating_sub(width.saturating_sub(2));
    // What is left of the place says so: a path is not taken for one that begins here.
    let visible = match skipped {
        0 => before,
        _ => format!("{}{}", canvas.charset().ellipsis(), skip_cells(&before, skipped.saturating_add(1))),
    };
    let sign = canvas.look().glyphs.input;
    let x = canvas.bits((at.0, at.1), width, &[Bit::new(visible, Role::Input)]);
    let caret = at.0 + x;
    let mut bits = vec![Bit::new(sign, Role::Accent), Bit::new(after.clone(), Role::Input)];
    if after.is_empty() && !rest.is_empty() {
        bits.push(Bit::muted(rest.to_owned()));
    }
    canvas.bits((caret, at.1), width.saturating_sub(x), &bits);
    canvas.type_at(caret, at.1);
}

/// `text` without its first `cells` cells.
fn skip_cells(text: &str, cells: u16) -> String {
    let mut left = usize::from(cells);
    let mut out = String::new();
    for c in text.chars() {
        if left == 0 {
            out.push(c);
        } else {
            left = left.saturating_sub(text::width(c.encode_utf8(&mut [0; 4])));
        }
    }
    out
}
