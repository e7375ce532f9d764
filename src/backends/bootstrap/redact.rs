//! Text of a source without tokens. A record has no business carrying one; should it, the key id is all that stays.

use crate::backends::http::clean;

/// Heads of secrets of the platform: bootstrap tokens and tenants' tokens (domain.md §4.6, §7.3).
const HEADS: [&str; 2] = ["dbt1.", "dvt1."];
/// The same in base64, at each of the three places a byte can have in its group.
const ENCODED: [&str; 6] = ["ZGJ0MS", "RidDEu", "kYnQxL", "ZHZ0MS", "R2dDEu", "kdnQxL"];
/// What stands in place of a secret.
const GONE: &str = "…";

/// One clean line of `text` of at most `limit` characters, tokens shortened to their key id.
pub(super) fn text(text: &str, limit: usize) -> String {
    let safe = redacted(&clean(text));
    match safe.char_indices().nth(limit) {
        Some((at, _)) => format!("{}…", safe.get(..at).unwrap_or_default()),
        None => safe,
    }
}

/// A word of a token that came as a key id: where it is a whole token, its key id.
pub(super) fn kid(word: &str) -> String {
    let word = clean(word);
    let bare = HEADS.iter().find_map(|head| word.strip_prefix(head)).unwrap_or(&word);
    let id = bare.split('.').next().unwrap_or_default();
    id.chars().take(32).collect()
}

/// Characters of which tokens, base64 and percent-encoded text are made.
const fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+' | '/' | '=' | '%')
}

fn redacted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, tail) = rest.split_at(end);
        out.push_str(&shortened(word));
        let next = tail.chars().next().map_or(0, char::len_utf8);
        let (separator, tail) = tail.split_at(next);
        out.push_str(separator);
        rest = tail;
    }
    out
}

fn shortened(word: &str) -> String {
    if ENCODED.iter().any(|head| word.contains(head)) {
        return GONE.to_owned();
    }
    let plain = word.replace("%2E", ".").replace("%2e", ".");
    let Some((at, head)) = HEADS.iter().filter_map(|head| Some((plain.find(head)?, *head))).min() else {
        return word.to_owned();
    };
    let before = plain.get(..at).unwrap_or_default();
    let kid = plain.get(at + head.len()..).unwrap_or_default().split('.').next().unwrap_or_default();
    // A key id is short; whatever else stands there may be the secret itself.
    let kid: String = if kid.len() <= 24 { kid.to_owned() } else { String::new() };
    format!("{before}{head}{kid}.{GONE}")
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;

    use super::*;

    const TOKEN: &str = "dbt1.EXAMPLEEXAMPLE03.c2VjcmV0LWNhbmFyeS1vZi1hLXRva2VuLTAxMjM0NTY3";
    const SECRET: &str = "c2VjcmV0LWNhbmFyeS1vZi1hLXRva2VuLTAxMjM0NTY3";

    #[test]
    fn a_token_is_shortened_to_its_key_id_wherever_it_stands() {
        for said in [
            TOKEN.to_owned(),
            format!("curl -H 'Bearer {TOKEN}' failed"),
            format!("dvb1;u=https://10.20.25.20;t={TOKEN};p=x"),
            format!("a={TOKEN}&b={TOKEN}"),
            TOKEN.replace('.', "%2E"),
        ] {
            let shown = text(&said, 400);
            assert!(!shown.contains(SECRET), "{shown}");
            assert!(shown.contains("EXAMPLEEXAMPLE03"), "{shown}");
        }
        for shift in ["", "x", "xy"] {
            let coded = base64::engine::general_purpose::STANDARD.encode(format!("{shift}{TOKEN}"));
            assert_eq!(text(&format!("serial={coded},base64=1"), 900), "…,base64=1");
        }
        assert_eq!(kid(TOKEN), "EXAMPLEEXAMPLE03");
        assert_eq!(kid("EXAMPLEEXAMPLE03"), "EXAMPLEEXAMPLE03");
    }

    #[test]
    fn a_secret_without_a_key_id_before_it_goes_whole() {
        assert_eq!(text(&format!("dbt1.{SECRET}"), 200), "dbt1..…");
    }

    #[test]
    fn other_text_stays_and_is_bounded() {
        assert_eq!(text("image registry.example/app:1 not found", 200), "image registry.example/app:1 not found");
        assert_eq!(text("abcdef", 3), "abc…");
        assert_eq!(text("a\u{1b}[2Jb\nc", 20), "a␛[2Jb c");
    }
}
