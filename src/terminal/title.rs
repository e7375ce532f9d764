//! The title of the terminal's window.

use crate::text::{self, Charset, Cut};

/// Titles are cut at so many cells.
const CELLS: usize = 120;

/// The bytes that set the window title, cut, made harmless, and of `charset` alone. [`super::Modes::title`] brings the former one back.
#[must_use]
pub fn set(title: &str, charset: Charset) -> Vec<u8> {
    let clean = text::clean(title);
    let ascii;
    let shown = match charset {
        Charset::Unicode => &*clean,
        Charset::Ascii => {
            ascii = clean.replace('·', "-");
            &*text::to_ascii(&ascii)
        }
    };
    format!("\x1b]2;{}\x1b\\", text::cut(shown, CELLS, Cut::End, charset)).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_cannot_carry_a_sequence() {
        assert_eq!(set("mobile\x07\x1b]52;c;x\x07", Charset::Unicode), "\x1b]2;mobile␇␛]52;c;x␇\x1b\\".as_bytes());
        assert_eq!(set(&"x".repeat(300), Charset::Unicode).len(), 4 + 119 + "…".len() + 2);
    }

    #[test]
    fn an_ascii_title_is_ascii() {
        assert_eq!(set("mobile · naïve", Charset::Ascii), b"\x1b]2;mobile - na?ve\x1b\\");
        assert!(set(&"ü".repeat(300), Charset::Ascii).is_ascii());
    }
}
