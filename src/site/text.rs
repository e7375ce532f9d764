//! Text that came from a file or a person, made safe to print, and the nearest known word.

/// `text` without anything that could steer a terminal: control characters, and the characters that reorder or hide
/// text (Unicode's bidirectional controls, zero-width and tag characters), each shown as `\u{…}`.
#[must_use]
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || is_invisible(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// Format characters that change how their neighbours appear, or that cannot be seen.
const fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{00AD}' | '\u{061C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}'
    )
}

/// The candidate that `word` was probably meant to be.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= 0.8)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_survives() {
        assert_eq!(printable("a\u{1b}[2Jb\u{202e}c\u{9b}d\té"), "a\\u{1b}[2Jb\\u{202e}c\\u{9b}d\\u{9}é");
    }

    #[test]
    fn the_nearest_word_is_near_or_none() {
        let keys = ["vrf_vni_base", "vnet_vni_base", "overlay", "asn"];
        assert_eq!(nearest("vrf_base", keys), Some("vrf_vni_base"));
        assert_eq!(nearest("overlai", keys), Some("overlay"));
        assert_eq!(nearest("colour", keys), None);
    }
}
