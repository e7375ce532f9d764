//! A pasted text as evidence.

use jiff::Timestamp;
use serde::Serialize;

use crate::diagnose::evidence::{Item, Kind};

/// What is known of a pasted text beside the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Given {
    /// Where it was run, as whoever pasted it says: `tdemo/app`, a segment, a node.
    pub from: String,
    /// Who pasted it.
    pub by: String,
    /// When it was run, or pasted.
    pub at: Timestamp,
    /// How it came: `screen`, or the name of a file.
    pub via: String,
}

/// Longest part of a file name that is made of where it came from.
const SLUG: usize = 24;

/// Headers that `curl -v` shows, and whose values are secrets.
const SECRETS: [&str; 4] = ["authorization:", "cookie:", "x-api-key:", "csrfpreventiontoken:"];

/// A line without the value of such a header.
fn without_secrets(line: &str) -> String {
    let lower = line.to_ascii_lowercase();
    let end = SECRETS.iter().find_map(|name| lower.find(name).map(|at| at + name.len()));
    match end.and_then(|end| line.get(..end)) {
        Some(head) => format!("{head} {}", crate::diagnose::evidence::REDACTED),
        None => line.to_owned(),
    }
}

/// `text` as evidence, number `n` of the pasted ones.
#[must_use]
pub fn item(given: &Given, n: usize, text: &str) -> Item {
    let harmless = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let slug: String = given.from.chars().take(SLUG).map(harmless).collect();
    let clean = |text: &str| crate::text::clean(text).into_owned();
    let body = crate::text::clean_lines(text).lines().map(without_secrets).collect::<Vec<_>>().join("\n");
    Item {
        file: format!("pasted-{n:03}-{slug}.txt"),
        from: clean(&given.from),
        kind: Kind::Pasted { by: clean(&given.by), via: clean(&given.via) },
        took: None,
        at: Some(given.at),
        empty: body.is_empty(),
        body,
        stderr: String::new(),
    }
}
