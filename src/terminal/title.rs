//! The title of the terminal's window.

use crate::text::{self, Charset, Cut};

/// Titles are cut at so many cells.
const CELLS: usize = 120;

/// The bytes that set the window title, cut and made harmless. [`super::Modes::title`] brings the former one back.
#[must_use]
pub fn set(title: &str) -> Vec<u8> {
    let clean = text::clean(title);
    format!("\x1b]2;{}\x1b\\", text::cut(&clean, CELLS, Cut::End, Charset::Unicode)).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_cannot_carry_a_sequence() {
        assert_eq!(set("mobile\x07\x1b]52;c;x\x07"), "\x1b]2;mobile␇␛]52;c;x␇\x1b\\".as_bytes());
        assert_eq!(set(&"x".repeat(300)).len(), 4 + 119 + "…".len() + 2);
    }
}
