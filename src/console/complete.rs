//! Completion of the `:` line, and the cleaning of text that comes from outside.

use super::model::Model;

/// One candidate of the `:` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The whole line when it is taken.
    pub line: String,
    /// What is shown, e.g. `refresh [SOURCE]` or `tdemo/app`.
    pub label: String,
    /// Beside it: title of a command, kind of an object.
    pub words: String,
    /// Why it cannot run now; shown after `–`.
    pub disabled: Option<String>,
}

/// Candidates for the `:` line as it stands, best first; empty when the line is not open.
#[must_use]
pub fn candidates(model: &Model) -> Vec<Candidate> {
    let _ = model;
    Vec::new()
}

/// The grey rest that `→` takes: what the first (or chosen) candidate adds to the line.
#[must_use]
pub fn rest(model: &Model) -> String {
    let _ = model;
    String::new()
}

/// `text` as one clean line: breaks and tabs become blanks, what [`clean`](crate::text::clean) drops goes.
#[must_use]
pub fn clean_line(text: &str) -> String {
    let blank = |c: char| if matches!(c, '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}') { ' ' } else { c };
    let line: String = text.chars().map(blank).collect();
    crate::text::clean(line.trim()).into_owned()
}
