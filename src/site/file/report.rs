//! What is wrong with a file, told the way a compiler would: where, the line, what, and what to do.

use std::fmt::{self, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use unicode_width::UnicodeWidthStr;

use crate::site::text::printable;

/// One thing wrong, before its place in the text is worked out.
#[derive(Debug, Clone, Default)]
pub(crate) struct Problem {
    pub span: Option<Range<usize>>,
    pub message: String,
    pub notes: Vec<String>,
    pub help: Option<String>,
}

impl Problem {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    pub fn at(mut self, span: Range<usize>) -> Self {
        self.span = Some(span);
        self
    }

    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Everything wrong with one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteErrors {
    path: PathBuf,
    problems: Vec<Located>,
}

/// One thing wrong, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// What is wrong.
    pub message: String,
    /// Where, if it is at one place.
    pub place: Option<Place>,
    /// Further facts, one a line.
    pub notes: Vec<String>,
    /// What to do.
    pub help: Option<String>,
}

/// A place in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The line, safe to print: no control characters, no secret.
    pub text: String,
    /// Cells before the marked part of `text`, and cells of it.
    pub mark: (usize, usize),
}

impl SiteErrors {
    /// Places each problem in `source`; the text at the ranges `hidden` is never shown.
    pub(crate) fn new(path: &Path, source: &str, mut problems: Vec<Problem>, hidden: &[Range<usize>]) -> Self {
        problems.sort_by_key(|problem| problem.span.as_ref().map_or((usize::MAX, 0), |span| (span.start, span.end)));
        let problems = problems
            .into_iter()
            .map(|problem| Located {
                place: problem.span.map(|span| place(source, &span, hidden)),
                message: problem.message,
                notes: problem.notes,
                help: problem.help,
            })
            .collect();
        Self { path: path.to_owned(), problems }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The problems in the order of the file; those without a place come last.
    #[must_use]
    pub fn problems(&self) -> &[Located] {
        &self.problems
    }

    /// What to do about them as a whole.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        "docs/configuration.md describes every section and key"
    }
}

impl std::error::Error for SiteErrors {}

impl fmt::Display for SiteErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = printable(&self.path.display().to_string());
        for problem in &self.problems {
            write_problem(f, &path, problem)?;
            writeln!(f)?;
        }
        match self.problems.len() {
            1 => write!(f, "{path}: 1 error"),
            n => write!(f, "{path}: {n} errors"),
        }
    }
}

fn write_problem(f: &mut fmt::Formatter<'_>, path: &str, problem: &Located) -> fmt::Result {
    writeln!(f, "error: {}", problem.message)?;
    let mut gutter = 1;
    if let Some(Place { line, column, text, mark: (before, marked) }) = &problem.place {
        gutter = line.to_string().len();
        writeln!(f, "{:gutter$}--> {path}:{line}:{column}", "")?;
        writeln!(f, "{:gutter$} |", "")?;
        writeln!(f, "{line} | {text}")?;
        writeln!(f, "{:gutter$} | {:before$}{}", "", "", "^".repeat(*marked))?;
    } else {
        writeln!(f, "{:gutter$}--> {path}", "")?;
    }
    for note in &problem.notes {
        writeln!(f, "{:gutter$} = {note}", "")?;
    }
    if let Some(help) = &problem.help {
        writeln!(f, "{:gutter$} = help: {help}", "")?;
    }
    Ok(())
}

/// Line, column and printable text of the first line of `span`.
fn place(source: &str, span: &Range<usize>, hidden: &[Range<usize>]) -> Place {
    // A place inside of hidden text is all of the hidden text.
    let around = |at: usize| hidden.iter().find(|part| part.contains(&at));
    let start = around(span.start).map_or(span.start, |part| part.start).min(source.len());
    let end = span.end.checked_sub(1).and_then(around).map_or(span.end, |part| part.end);
    let before = source.get(..start).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let rest = source.get(line_start..).unwrap_or_default();
    let line_end = line_start + rest.find('\n').unwrap_or(rest.len());
    let show = |range: Range<usize>| shown(source, range, hidden);
    let head = show(line_start..start);
    let marked = show(start..end.clamp(start, line_end.max(start)));
    let tail = show(end.clamp(start, line_end.max(start))..line_end);
    Place {
        line: before.matches('\n').count() + 1,
        column: source.get(line_start..start).unwrap_or_default().chars().count() + 1,
        mark: (head.width(), marked.width().max(1)),
        text: format!("{head}{marked}{tail}").trim_end().to_owned(),
    }
}

/// The text of `range`, tabs as single spaces, hidden parts as `…`.
fn shown(source: &str, range: Range<usize>, hidden: &[Range<usize>]) -> String {
    let mut out = String::new();
    let mut last_hidden = None;
    for (offset, c) in source.get(range.clone()).unwrap_or_default().char_indices() {
        let at = range.start + offset;
        if let Some(part) = hidden.iter().position(|part| part.contains(&at)) {
            if last_hidden != Some(part) {
                out.push('…');
            }
            last_hidden = Some(part);
        } else {
            last_hidden = None;
            match c {
                '\t' => out.push(' '),
                '\r' => {}
                // Writing to a String cannot fail.
                _ => _ = out.write_str(&printable(c.encode_utf8(&mut [0; 4]))),
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str, span: Range<usize>, hidden: &[Range<usize>]) -> String {
        let problem = Problem::new("wrong").at(span).help("mend it");
        SiteErrors::new(Path::new("x.toml"), source, vec![problem], hidden).to_string()
    }

    #[test]
    fn a_problem_points_at_its_characters() {
        let found = text("a = 1\n\tname = \"é\" # x\u{1b}[2J", 7..11, &[]);
        let expected = "error: wrong\n --> x.toml:2:2\n  |\n2 |  name = \"é\" # x\\u{1b}[2J\n  |  ^^^^\n  = help: mend it\n\nx.toml: 1 error";
        assert_eq!(found, expected);
    }

    #[test]
    fn hidden_text_is_one_ellipsis_and_moves_the_mark() {
        let found = text("{ token = \"hunter2\", x = 1 }", 21..22, std::slice::from_ref(&(10..19)));
        assert!(found.contains("1 | { token = …, x = 1 }\n  |              ^\n"), "{found}");
    }

    #[test]
    fn any_span_can_be_placed() {
        for source in ["", "é", "a\nb", "\n", "\r\n"] {
            for start in 0..5 {
                for end in 0..5 {
                    let _ = text(source, start..end, &[0..1, 1..9]);
                }
            }
        }
    }
}
