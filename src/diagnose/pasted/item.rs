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

/// `text` as evidence, number `n` of the pasted ones.
#[must_use]
pub fn item(given: &Given, n: usize, text: &str) -> Item {
    let harmless = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let slug: String = given.from.chars().take(SLUG).map(harmless).collect();
    let clean = |text: &str| crate::text::clean(text).into_owned();
    let body = crate::text::clean_lines(text);
    Item {
        file: format!("pasted-{n:03}-{slug}.txt"),
        from: clean(&given.from),
        kind: Kind::Pasted { by: clean(&given.by), via: clean(&given.via) },
        at: Some(given.at),
        empty: body.is_empty(),
        body,
        stderr: String::new(),
    }
}
