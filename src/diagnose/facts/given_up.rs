//! What a check did not wait for: everything that hangs on it is unknown, and this is why.

use super::{Facts, Reader, Taken};
use crate::diagnose::evidence::{Item, Kind};
use crate::diagnose::parts::Part;

/// Readers of this area.
pub(super) const READERS: &[Reader] = &[given_up];

/// Name of the item's file.
const FILE: &str = "given-up.txt";
/// What the item is.
const WHAT: &str = "what the check did not wait for";

/// A check that was not awaited to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenUp {
    /// Why, in words.
    pub why: String,
    /// What had not come.
    pub parts: Vec<Part>,
}

/// The item that says so: file, kind, body.
#[must_use]
pub fn item(why: &str, parts: &[Part]) -> (&'static str, Kind, String) {
    let lines = std::iter::once(why.to_owned()).chain(parts.iter().map(ToString::to_string));
    let body: String = lines.map(|line| format!("{line}\n")).collect();
    (FILE, Kind::Material(WHAT.to_owned()), body)
}

fn given_up(item: &Item, facts: &mut Facts) -> Taken {
    if item.file != FILE || item.kind != Kind::Material(WHAT.to_owned()) {
        return Taken::NotMine;
    }
    let mut lines = item.body.lines();
    let why = crate::text::clean(lines.next().unwrap_or_default()).into_owned();
    facts.given_up = Some(GivenUp { why, parts: lines.filter_map(Part::parse).collect() });
    Taken::Read
}
