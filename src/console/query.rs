//! The filter language of `/`.
//!
//! Words are fuzzy and joined by "and". `!word` turns a word around, `col:value` binds it to a column (any part of the
//! cell, case does not matter), `"several words"` are taken as they are. `!col:value` and `col:!value` mean the same.
//! A word that is not finished (`!`, `state:`) asks for nothing yet.

#[cfg(test)]
mod tests;

use nucleo_matcher::chars::{normalize, to_lower_case};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::file::did_you_mean;
use super::list::Column;

/// Parts the cells of a row in [`RowText`]; no cell holds it, cells are clean.
const PART: char = '\u{1f}';

/// Bytes that most rows fit in.
const ROW: usize = 96;

/// What a fuzzy match must be worth per character, so that letters strewn over a sentence are none. The matcher gives
/// 16 for a character and takes 3 for a gap and 1 for each character in it.
const WORTH: usize = 10;

/// Words longer than this are compared as they are: nobody types that many letters of a fuzzy word.
const LONG: usize = 64;

/// A filter, understood.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    terms: Vec<Term>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    negated: bool,
    /// Position of the column it is bound to.
    column: Option<usize>,
    /// Any part, instead of fuzzy.
    literal: bool,
    /// Folded; not empty.
    text: String,
    /// Which characters `text` holds.
    chars: Chars,
}

/// Which characters a text holds, as bits; some share one. What `a` lacks of `b` tells without a look at either text
/// that no part of `a` is `b`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Chars(u64);

impl Chars {
    fn of(text: &str) -> Self {
        Self(text.chars().fold(0, |bits, c| bits | 1 << (u32::from(c) % 64)))
    }

    const fn hold(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A word as typed: its text, and where the first `:` outside quotes is.
struct Word {
    text: String,
    colon: Option<usize>,
    /// Whether it begins outside quotes, so that `!` is a sign.
    bare: bool,
    quoted: bool,
}

/// Text in the form in which it is compared: lower case, without accents.
#[must_use]
pub fn fold(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { text.chars().map(fold_char).collect() }
}

fn fold_char(c: char) -> char {
    if c.is_ascii() { c.to_ascii_lowercase() } else { to_lower_case(normalize(c)) }
}

/// The cells of a row, folded, in one piece: what filters look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowText {
    text: Box<str>,
    chars: Chars,
}

impl RowText {
    /// From the texts of all columns in order.
    pub fn new(cells: impl IntoIterator<Item = String>) -> Self {
        let mut out = String::with_capacity(ROW);
        for (i, cell) in cells.into_iter().enumerate() {
            if i > 0 {
                out.push(PART);
            }
            if cell.is_ascii() && !cell.contains(PART) {
                out.push_str(&cell);
            } else {
                out.extend(cell.chars().filter(|c| *c != PART).map(fold_char));
            }
        }
        out.make_ascii_lowercase();
        Self { chars: Chars::of(&out), text: out.into_boxed_str() }
    }

    fn cells(&self) -> impl Iterator<Item = &str> {
        self.text.split(PART)
    }
}

/// Understands `filter` for a list with `columns`; the second part says what was not understood, one sentence each.
#[must_use]
pub fn parse(filter: &str, columns: &[Column]) -> (Query, Vec<String>) {
    let (mut query, mut problems) = (Query::default(), Vec::new());
    for word in words(filter) {
        match term(&word, columns) {
            Ok(Some(term)) => query.terms.push(term),
            Ok(None) => {}
            Err(problem) => problems.push(problem),
        }
    }
    (query, problems)
}

fn words(filter: &str) -> Vec<Word> {
    let mut out = Vec::new();
    let mut word: Option<Word> = None;
    let mut quoted = false;
    for c in filter.chars() {
        if !quoted && c.is_whitespace() {
            out.extend(word.take());
            continue;
        }
        let at = word.get_or_insert_with(|| Word { text: String::new(), colon: None, bare: c != '"', quoted: false });
        match c {
            '"' => {
                quoted = !quoted;
                at.quoted = true;
            }
            ':' if !quoted && at.colon.is_none() => {
                at.colon = Some(at.text.len());
                at.text.push(c);
            }
            _ => at.text.push(c),
        }
    }
    out.extend(word);
    out
}

fn term(word: &Word, columns: &[Column]) -> Result<Option<Term>, String> {
    let (mut negated, mut rest) = (false, word.text.as_str());
    let mut colon = word.colon;
    if word.bare
        && let Some(tail) = rest.strip_prefix('!')
    {
        (negated, rest, colon) = (true, tail, colon.map(|at| at.saturating_sub(1)));
    }
    let split = colon.and_then(|at| Some((rest.get(..at)?, rest.get(at + 1..)?)));
    let (column, text) = match split {
        Some((name, value)) if !name.is_empty() && name.chars().all(char::is_alphabetic) => {
            let value = match value.strip_prefix('!') {
                Some(tail) => {
                    negated = !negated;
                    tail
                }
                None => value,
            };
            (Some(column(name, columns)?), value)
        }
        _ => (None, rest),
    };
    let text = fold(text).replace(PART, "");
    let literal = word.quoted || column.is_some() || text.chars().count() > LONG;
    let chars = Chars::of(&text);
    Ok((!text.is_empty()).then_some(Term { negated, column, literal, text, chars }))
}

fn column(name: &str, columns: &[Column]) -> Result<usize, String> {
    let wanted = name.to_lowercase();
    let is = |c: &Column| c.key == wanted || c.title.to_lowercase() == wanted;
    columns.iter().position(is).ok_or_else(|| {
        let keys = || columns.iter().map(|c| c.key);
        let name: String = name.chars().take(24).collect();
        let help = did_you_mean(&wanted, keys())
            .unwrap_or_else(|| format!("columns: {}", keys().collect::<Vec<_>>().join(" ")));
        format!("no column \"{name}\" here, that word is left out; {help}")
    })
}

/// Compares rows with queries; holds the matcher's memory.
pub struct Judge {
    matcher: Matcher,
    hay: Vec<char>,
    needle: Vec<char>,
}

impl Default for Judge {
    fn default() -> Self {
        // Both sides are folded already.
        let mut config = Config::DEFAULT;
        config.ignore_case = false;
        config.normalize = false;
        Self { matcher: Matcher::new(config), hay: Vec::new(), needle: Vec::new() }
    }
}

impl Judge {
    /// Whether `row` is wanted.
    pub fn wants(&mut self, query: &Query, row: &RowText) -> bool {
        query.terms.iter().all(|term| self.holds(term, row) != term.negated)
    }

    fn holds(&mut self, term: &Term, row: &RowText) -> bool {
        if !row.chars.hold(term.chars) {
            return false;
        }
        match term.column {
            Some(at) => row.cells().nth(at).is_some_and(|cell| cell.contains(&term.text)),
            None if !in_order(&row.text, &term.text) => false,
            None if row.text.contains(&term.text) => true,
            None if term.literal => false,
            None => row.cells().any(|cell| in_order(cell, &term.text) && self.fuzzy(cell, &term.text)),
        }
    }

    fn fuzzy(&mut self, cell: &str, text: &str) -> bool {
        let needle = Utf32Str::new(text, &mut self.needle);
        let hay = Utf32Str::new(cell, &mut self.hay);
        let least = WORTH * needle.len();
        self.matcher.fuzzy_match(hay, needle).is_some_and(|score| usize::from(score) >= least)
    }
}

/// Whether the characters of `text` occur in `row` in this order: what no match can do without, fuzzy or not. It decides
/// most rows, and most cells of the others, before anything is searched.
fn in_order(row: &str, text: &str) -> bool {
    let mut rest = Some(row);
    text.chars().all(|c| {
        rest = rest.and_then(|row| row.split_once(c)).map(|(_, behind)| behind);
        rest.is_some()
    })
}

impl Query {
    /// Whether it asks for nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The parts of a cell that are the reason why it matched, as byte ranges: for [`Role::Match`](super::theme::Role).
    /// Fuzzy words are marked where they stand in one piece. Nothing is marked where folding changes lengths.
    #[must_use]
    pub fn marks(&self, column: usize, cell: &str) -> Vec<std::ops::Range<usize>> {
        let folded = fold(cell);
        if folded.len() != cell.len() {
            return Vec::new();
        }
        let here = |t: &&Term| !t.negated && t.column.is_none_or(|c| c == column);
        let found = self.terms.iter().filter(here).filter_map(|t| {
            let at = folded.find(&t.text)?;
            let range = at..at + t.text.len();
            cell.get(range.clone()).map(|_| range)
        });
        found.collect()
    }
}
