//! Pasted results in a file: blocks parted by a line `---`, each with `from:`, `by:`, `at:`, a blank line, and the text.

use jiff::Timestamp;

use super::{Given, MOST};

/// Most blocks of one file.
const BLOCKS: usize = 500;
/// Line between two blocks.
const BORDER: &str = "---";

/// A block: what is known of it, and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// What is known of it.
    pub given: Given,
    /// Text as it stands.
    pub text: String,
    /// Number of its first line.
    pub line: usize,
}

/// Why a file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// Nothing in it.
    #[error("{0}: there is no pasted result in it")]
    Empty(String),
    /// A head that is none.
    #[error("{file}:{line}: {why}")]
    Head {
        /// File.
        file: String,
        /// Line.
        line: usize,
        /// What.
        why: String,
    },
    /// Too much.
    #[error("{0}: too much in it: at most {BLOCKS} results of {kib} KiB", kib = MOST >> 10)]
    TooMuch(String),
}

impl DocumentError {
    /// What helps.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        "a result begins with lines `from: TENANT/WORKLOAD`, `by: NAME` and `at: TIME` (both may be left out), then a blank \
         line and the text; a line `---` parts two results"
    }
}

/// Reads `text` of `file`; `by` and `now` stand for what a block does not say.
///
/// # Errors
/// Which line is wrong, and why.
pub fn document(text: &str, file: &str, by: &str, now: Timestamp) -> Result<Vec<Block>, DocumentError> {
    let mut out = Vec::new();
    let mut part: Vec<&str> = Vec::new();
    let mut start = 1;
    let lines = text.lines().map(|line| line.trim_end_matches('\r'));
    for (n, line) in (1..).zip(lines.chain([BORDER])) {
        if line.trim_end() != BORDER {
            part.push(line);
            continue;
        }
        if part.iter().any(|line| !line.trim().is_empty()) {
            out.push(block(&part, (file, start), by, now)?);
        }
        part.clear();
        start = n + 1;
    }
    if out.len() > BLOCKS || out.iter().any(|block| block.text.len() > MOST) {
        return Err(DocumentError::TooMuch(file.to_owned()));
    }
    if out.is_empty() { Err(DocumentError::Empty(file.to_owned())) } else { Ok(out) }
}

fn block(part: &[&str], (file, start): (&str, usize), by: &str, now: Timestamp) -> Result<Block, DocumentError> {
    let wrong = |line: usize, why: String| DocumentError::Head { file: file.to_owned(), line, why };
    let mut given = Given { from: String::new(), by: by.to_owned(), at: now, via: file.to_owned() };
    let blank = part.iter().take_while(|line| line.trim().is_empty() || line.starts_with('#')).count();
    let mut at = blank;
    for line in part.iter().skip(blank) {
        at += 1;
        if line.trim().is_empty() {
            break;
        }
        let number = start + at - 1;
        let Some((key, value)) = line.split_once(':').map(|(key, value)| (key.trim(), value.trim())) else {
            return Err(wrong(
                number,
                "this is no `key: value`, and the blank line before the text is missing".to_owned(),
            ));
        };
        match key {
            "from" => value.clone_into(&mut given.from),
            "by" => value.clone_into(&mut given.by),
            "at" => {
                given.at = value.parse().map_err(|_| {
                    let value = crate::text::clean(value).into_owned();
                    wrong(number, format!("{value} is no time like 2026-11-29T10:47:00Z"))
                })?;
            }
            other => {
                let other = crate::text::clean(other).chars().take(20).collect::<String>();
                return Err(wrong(number, format!("there is no key {other:?}: from, by, at")));
            }
        }
    }
    if given.from.is_empty() {
        return Err(wrong(start + blank, "it does not say where it was run: `from: TENANT/WORKLOAD`".to_owned()));
    }
    if given.at > now {
        return Err(wrong(start + blank, format!("{} is still to come", given.at)));
    }
    let text = part.get(at..).unwrap_or_default().join("\n");
    Ok(Block { given, text, line: start + blank })
}
