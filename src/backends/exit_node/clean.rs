//! What other machines say is data: one line of it, without what could steer a terminal.

use crate::text;

/// Longest text kept, in characters.
const LONGEST: usize = 240;

/// First line of `text` that says something, as [`clean`] gives it.
pub(super) fn first_line(text: &str) -> String {
    text.lines().map(clean).find(|line| !line.is_empty()).unwrap_or_default()
}

/// `text` as [`text::clean`] makes it safe, trimmed and cut.
pub(super) fn clean(text: &str) -> String {
    text::clean(text.trim()).trim().chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_seen_and_bidirectional_ones_dropped() {
        assert_eq!(clean("a\u{1b}[31mb\u{202e}c\u{9b}d\te\r"), "a␛[31mbc\u{fffd}d e");
        assert_eq!(first_line("\r\n \nsudo: a password is required\nmore"), "sudo: a password is required");
        assert_eq!(clean(&"x".repeat(1000)).len(), LONGEST);
    }
}
