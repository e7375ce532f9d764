//! Text that is safe to show and measured in terminal cells.
//!
//! Everything a back end returns is data. [`clean`] is the one filter between it and a terminal, a log or a copy;
//! [`width`], [`cut`] and [`pad`] keep columns straight. Widths are those of whole grapheme clusters, because that is
//! what a cell of the screen buffer holds.
//!
//! What [`clean`] does:
//!
//! - C0 controls and DEL become their control pictures (`ESC` → `␛`), so that an injected sequence is seen and not
//!   obeyed. A tab becomes one space. C1 controls and lone combining marks become `U+FFFD`.
//! - Line and paragraph separators become `␤`.
//! - Characters that show nothing but reorder, join or hide text are dropped: bidi controls, zero-width spaces and
//!   joiners, byte-order marks, soft hyphens, fillers, tag characters, variation selectors and emoji modifiers.
//!   Without joiners, selectors and modifiers every terminal agrees on the width of what is left.
//! - At most [`MAX_MARKS`] combining marks stay on one base character.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Combining marks kept on one base character; real scripts need no more, piles of them cover the rows above.
pub const MAX_MARKS: usize = 3;

/// Which characters our own marks may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Charset {
    /// Any printable character.
    #[default]
    Unicode,
    /// ASCII only, for terminals and locales that show nothing else.
    Ascii,
}

impl Charset {
    /// The one-cell mark that stands for text left out.
    #[must_use]
    pub const fn ellipsis(self) -> char {
        match self {
            Self::Unicode => '…',
            Self::Ascii => '~',
        }
    }
}

/// Where [`cut`] takes text away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cut {
    /// At the end: names and sentences.
    End,
    /// In the middle: identifiers whose end matters (UUID, FQDN, digest).
    Middle,
}

/// Makes foreign text safe to show on one line; see the module documentation for the rules.
///
/// Printable ASCII, and any other text that needs no change, is borrowed. The function is idempotent.
#[must_use]
pub fn clean(text: &str) -> Cow<'_, str> {
    if is_printable_ascii(text) || is_clean(text) {
        return Cow::Borrowed(text);
    }
    let mut mapped = String::with_capacity(text.len());
    mapped.extend(text.chars().filter_map(replacement));
    let mut out = String::with_capacity(mapped.len());
    for cluster in mapped.graphemes(true) {
        push_cluster(&mut out, cluster);
    }
    Cow::Owned(out)
}

/// Like [`clean`] for text of several lines: line feeds and tabs stay, `\r\n` and a lone `\r` become line feeds.
#[must_use]
pub fn clean_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let unified = text.replace("\r\n", "\n").replace('\r', "\n");
    for piece in unified.split_inclusive(['\n', '\t']) {
        let kept = piece.strip_suffix(['\n', '\t']).unwrap_or(piece);
        out.push_str(&clean(kept));
        out.push_str(piece.get(kept.len()..).unwrap_or_default());
    }
    out
}

/// Whether `text` holds nothing that [`clean`] would change.
#[must_use]
pub fn is_clean(text: &str) -> bool {
    text.chars().all(|c| replacement(c) == Some(c))
        && text.graphemes(true).all(|cluster| cluster.width() > 0 && marks(cluster) <= MAX_MARKS)
}

/// Replaces every non-ASCII cluster by as many `?` as it has cells. Expects text that [`clean`] has seen.
#[must_use]
pub fn to_ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for cluster in text.graphemes(true) {
        if cluster.is_ascii() { out.push_str(cluster) } else { out.extend(std::iter::repeat_n('?', cluster.width())) }
    }
    Cow::Owned(out)
}

/// `text` as a sentence of its own: with a full stop, unless it brings a sign for its end.
#[must_use]
pub fn sentence(text: &str) -> Cow<'_, str> {
    let text = text.trim_end();
    if text.is_empty() || text.ends_with(['.', '?', '!', '…', ':']) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{text}."))
}

/// What is the matter and what helps, as two sentences.
#[must_use]
pub fn sentences(why: &str, help: Option<&str>) -> String {
    let why = sentence(why);
    let mut help = help.unwrap_or_default().chars();
    match help.next() {
        None => why.into_owned(),
        Some(first) => format!("{why} {}{}", first.to_uppercase(), sentence(help.as_str())),
    }
}

/// Cells that `text` takes: the sum over its grapheme clusters.
#[must_use]
pub fn width(text: &str) -> usize {
    if is_printable_ascii(text) { text.len() } else { text.graphemes(true).map(UnicodeWidthStr::width).sum() }
}

/// Shortens `text` to at most `max` cells, never splitting a cluster; what is cut is marked by the charset's ellipsis.
///
/// A wide character that does not fit leaves the result one cell short: [`pad`] fills it up.
#[must_use]
pub fn cut(text: &str, max: usize, place: Cut, charset: Charset) -> Cow<'_, str> {
    if width(text) <= max {
        return Cow::Borrowed(text);
    }
    if max == 0 {
        return Cow::Borrowed("");
    }
    let room = max - 1;
    let (head, tail) = match place {
        Cut::End => (room, 0),
        Cut::Middle => (room.div_ceil(2), room / 2),
    };
    let mut out = String::with_capacity(text.len().min(4 * max + 4));
    out.push_str(prefix(text, head));
    out.push(charset.ellipsis());
    out.push_str(suffix(text, tail));
    Cow::Owned(out)
}

/// Exactly `cells` cells: cut at the end when too long, filled with spaces on the right when too short.
#[must_use]
pub fn pad(text: &str, cells: usize, charset: Charset) -> Cow<'_, str> {
    let short = cut(text, cells, Cut::End, charset);
    match cells.saturating_sub(width(&short)) {
        0 => short,
        missing => Cow::Owned(format!("{short}{:missing$}", "")),
    }
}

/// Exactly `cells` cells with the text at the right edge: numbers.
#[must_use]
pub fn pad_left(text: &str, cells: usize, charset: Charset) -> Cow<'_, str> {
    let short = cut(text, cells, Cut::End, charset);
    match cells.saturating_sub(width(&short)) {
        0 => short,
        missing => Cow::Owned(format!("{:missing$}{short}", "")),
    }
}

/// The longest run of whole clusters from the start that fits into `max` cells.
fn prefix(text: &str, max: usize) -> &str {
    let mut used = 0;
    for (at, cluster) in text.grapheme_indices(true) {
        used += cluster.width();
        if used > max {
            return text.get(..at).unwrap_or_default();
        }
    }
    text
}

/// The longest run of whole clusters up to the end that fits into `max` cells.
fn suffix(text: &str, max: usize) -> &str {
    let mut used = 0;
    let mut start = text.len();
    for (at, cluster) in text.grapheme_indices(true).rev() {
        used += cluster.width();
        if used > max {
            break;
        }
        start = at;
    }
    text.get(start..).unwrap_or_default()
}

fn is_printable_ascii(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, 0x20..=0x7e))
}

fn marks(cluster: &str) -> usize {
    cluster.chars().filter(|c| c.width() == Some(0)).count()
}

/// Appends a cluster without marks beyond the limit; one that would take no cell is shown as a replacement.
fn push_cluster(out: &mut String, cluster: &str) {
    if cluster.width() == 0 {
        out.push(char::REPLACEMENT_CHARACTER);
        return;
    }
    let mut kept = 0;
    out.extend(cluster.chars().filter(|c| {
        let mark = c.width() == Some(0);
        kept += usize::from(mark);
        !mark || kept <= MAX_MARKS
    }));
}

/// What stands for one character: itself, a visible mark, or nothing.
fn replacement(c: char) -> Option<char> {
    match c {
        '\t' => Some(' '),
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)),
        '\x7f' => Some('\u{2421}'),
        '\u{80}'..='\u{9f}' => Some(char::REPLACEMENT_CHARACTER),
        '\u{2028}' | '\u{2029}' => Some('\u{2424}'),
        _ if is_invisible(c) => None,
        _ => Some(c),
    }
}

/// Characters that show nothing of their own but change how their neighbours look.
const fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0000}'..='\u{e0fff}')
}

/// Names in a sentence: three at most, then how many more.
#[must_use]
pub fn some_of(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [a, b] => format!("{a} and {b}"),
        [a, b, c] => format!("{a}, {b} and {c}"),
        [a, b, c, more @ ..] => format!("{a}, {b}, {c} and {} more", more.len()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const U: Charset = Charset::Unicode;

    fn is_harmful(c: char) -> bool {
        c.is_control()
            || matches!(c, '\u{61c}' | '\u{ad}' | '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{e0000}'..='\u{e007f}')
    }

    #[test]
    fn injected_sequences_are_seen_and_not_obeyed() {
        assert_eq!(clean("a\x1b[2Jb"), "a␛[2Jb");
        assert_eq!(clean("\x1b]52;c;cm0=\x07"), "␛]52;c;cm0=␇");
        assert_eq!(clean("x\r\ny\u{9b}31m\u{7f}"), "x␍␊y\u{fffd}31m␡");
        assert_eq!(clean("a\tb\u{2028}c"), "a b␤c");
        assert_eq!(clean("user\u{202e}nimda\u{202c}\u{200f}"), "usernimda");
        assert_eq!(clean("se\u{ad}cr\u{200d}et\u{feff}\u{e0041}"), "secret");
    }

    #[test]
    fn lines_and_tabs_stay_where_several_lines_are_wanted() {
        assert_eq!(clean_lines("a\tb\r\nc\rd\x1b[A\n"), "a\tb\nc\nd␛[A\n");
        assert_eq!(clean_lines(""), "");
    }

    #[test]
    fn text_that_needs_nothing_is_borrowed() {
        for text in ["", "tenant-01", "日本語", "e\u{301}", "שלום", "Straße"] {
            assert!(matches!(clean(text), Cow::Borrowed(t) if t == text), "{text:?}");
        }
    }

    #[test]
    fn piles_of_marks_are_limited_and_lone_marks_shown() {
        let pile = format!("z{}a", "\u{301}".repeat(200));
        assert_eq!(clean(&pile), format!("z{}a", "\u{301}".repeat(MAX_MARKS)));
        assert_eq!(clean("\u{301}x"), "\u{fffd}x");
    }

    #[test]
    fn joined_emoji_fall_into_parts_of_known_width() {
        let family = clean("👨\u{200d}👩\u{200d}👧");
        assert_eq!(family, "👨👩👧");
        assert_eq!(width(&family), 6);
        assert_eq!(clean("👍\u{1f3fd}"), "👍");
        assert_eq!(width(&clean("❤\u{fe0f}")), 1);
    }

    #[test]
    fn a_sentence_ends_with_one_sign() {
        for (text, said) in [
            ("it is not there", "it is not there."),
            ("did you mean \"tdemo\"?", "did you mean \"tdemo\"?"),
            ("it names ns1.example.", "it names ns1.example."),
            ("", ""),
        ] {
            assert_eq!(sentence(text), said);
        }
        assert_eq!(sentences("which name?", Some("write it")), "which name? Write it.");
        assert_eq!(sentences("it is gone", None), "it is gone.");
    }

    #[test]
    fn cuts_fit_and_never_split_a_cluster() {
        assert_eq!(cut("tenant-alpha", 8, Cut::End, U), "tenant-…");
        assert_eq!(cut("tenant-alpha", 8, Cut::End, Charset::Ascii), "tenant-~");
        assert_eq!(cut("abcdefghij", 7, Cut::Middle, U), "abc…hij");
        assert_eq!(cut("日本語", 4, Cut::End, U), "日…");
        assert_eq!(pad("日本語", 4, U), "日… ");
        assert_eq!(pad_left("42", 5, U), "   42");
        assert_eq!(cut("e\u{301}e\u{301}e\u{301}", 2, Cut::End, U), "e\u{301}…");
        assert_eq!(cut("abc", 0, Cut::Middle, U), "");
        assert_eq!(cut("abc", 1, Cut::Middle, U), "…");
        let long = "n".repeat(300);
        assert_eq!(width(&cut(&long, 24, Cut::Middle, U)), 24);
        assert_eq!(to_ascii("日a"), "??a");
    }

    fn nasty() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            any::<char>().prop_map(String::from),
            "[ -~]{0,6}",
            prop::sample::select(vec![
                "\x1b[31m",
                "\u{202e}",
                "\u{200d}",
                "\u{301}",
                "\u{fe0f}",
                "日",
                "👩",
                "\u{1f3fd}",
                "क्षि",
                "🇨🇭",
                "\u{600}",
                "\u{1160}",
                "각",
                "\u{9b}",
                "\u{feff}",
            ])
            .prop_map(String::from),
        ];
        prop::collection::vec(piece, 0..24).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn cleaned_text_is_harmless_and_stays_so(text in nasty()) {
            let once = clean(&text).into_owned();
            prop_assert!(!once.chars().any(is_harmful), "{once:?}");
            prop_assert!(once.graphemes(true).all(|g| g.width() > 0 && marks(g) <= MAX_MARKS), "{once:?}");
            prop_assert!(is_clean(&once));
            prop_assert_eq!(clean(&once), once.as_str());
        }

        #[test]
        fn cut_and_padded_text_has_the_width_asked_for(text in nasty(), n in 0usize..30, middle: bool) {
            let text = clean(&text);
            let place = if middle { Cut::Middle } else { Cut::End };
            let short = cut(&text, n, place, U);
            prop_assert!(width(&short) <= n);
            if width(&text) > n && n > 0 {
                prop_assert!(short.contains('…'));
            } else if n > 0 {
                prop_assert_eq!(&short, &text);
            }
            prop_assert_eq!(width(&pad(&text, n, U)), n);
            prop_assert_eq!(width(&pad_left(&text, n, Charset::Ascii)), n);
        }
    }
}
