//! Text from the other side is data: nothing in it may steer a terminal, and what tried to is seen.

use crate::text;

/// One line of safe text: line breaks and tabs become one space, blanks at both ends are cut; the rest as
/// [`text::clean`] does it, so that each other control character leaves a visible mark.
#[must_use]
pub fn clean(text: &str) -> String {
    if text.bytes().all(|b| matches!(b, b' '..=b'~')) {
        return text.trim().to_owned();
    }
    let unified = text.replace("\r\n", "\n");
    let parts = unified.split(['\n', '\t']).filter(|part| !part.is_empty());
    let mut cleaned = text::clean(&parts.collect::<Vec<_>>().join(" ")).into_owned();
    // A mark that stood on a blank stands alone without it.
    loop {
        let next = text::clean(cleaned.trim()).into_owned();
        if next == cleaned {
            return cleaned;
        }
        cleaned = next;
    }
}

/// A block of safe text: like [`clean`], but line feeds and tabs stay and nothing is trimmed.
#[must_use]
pub fn clean_block(text: &str) -> String {
    text::clean_lines(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_seen_and_bidi_does_not_survive() {
        assert_eq!(clean("a\u{1b}[31mred\u{1b}[0m\r\n\tb"), "a␛[31mred␛[0m b");
        assert_eq!(clean("x\u{202e}gnp.exe\u{2066}"), "xgnp.exe");
        assert_eq!(clean("\u{9b}2Jgone\u{7}"), "\u{fffd}2Jgone␇");
        assert_eq!(clean("  spaced\n"), "spaced");
        assert_eq!(clean("grüße → ok"), "grüße → ok");
        assert_eq!(clean("tail\u{1b}"), "tail␛");
    }

    #[test]
    fn what_is_clean_stays_as_it_is() {
        for text in [" \u{11438}", "\u{11438}", "a \u{301}", "\u{200b} \u{301} ", "  \u{301}\u{200b}x "] {
            let once = clean(text);
            assert_eq!(clean(&once), once, "{text:?}");
        }
        assert_eq!(clean(" \u{11438}"), "\u{fffd}");
    }

    #[test]
    fn blocks_keep_their_lines() {
        assert_eq!(clean_block("+a\n\tb\u{1b}[2J\r\n"), "+a\n\tb␛[2J\n");
    }
}
