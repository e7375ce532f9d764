//! What other machines say is data: one line of it, without what could steer a terminal.

/// Longest text kept, in characters.
const LONGEST: usize = 240;

/// First line of `text` that says something, without control and bidirectional characters, cut to a line's length.
pub(super) fn first_line(text: &str) -> String {
    text.lines().map(clean).find(|line| !line.is_empty()).unwrap_or_default()
}

/// `text` without control and bidirectional characters, trimmed and cut.
pub(super) fn clean(text: &str) -> String {
    let kept: String = text.chars().map(|c| if c == '\t' { ' ' } else { c }).filter(|c| is_plain(*c)).collect();
    kept.trim().chars().take(LONGEST).collect()
}

fn is_plain(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_and_bidirectional_characters_are_dropped() {
        assert_eq!(clean("a\u{1b}[31mb\u{202e}c\u{9b}d\te\r"), "a[31mbcd e");
        assert_eq!(first_line("\r\n \nsudo: a password is required\nmore"), "sudo: a password is required");
        assert_eq!(clean(&"x".repeat(1000)).len(), LONGEST);
    }
}
