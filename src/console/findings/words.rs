//! What is said of legs and findings.

use crate::console::list::Cell;
use crate::diagnose::collect::Check;
use crate::diagnose::finding::{Finding, Severity};
use crate::diagnose::path::{Judged, State};
use crate::inventory::Class;

/// `check`s that can be asked for, by their words.
const CHECKS: [(&str, Check); 5] = [
    ("egress", Check::Egress),
    ("isolation", Check::Isolation),
    ("keys", Check::Keys),
    ("fabric", Check::Fabric),
    ("all", Check::All),
];

/// The word of a check.
#[must_use]
pub fn word(check: Check) -> &'static str {
    CHECKS.iter().find(|(_, c)| *c == check).map_or("all", |(word, _)| word)
}

/// The check called `text`; `Err` lists those there are.
///
/// # Errors
/// The words there are.
pub fn called(text: &str) -> Result<Check, String> {
    let found = CHECKS.iter().find(|(word, _)| *word == text).map(|(_, check)| *check);
    found.ok_or_else(|| CHECKS.map(|(word, _)| word).join(", "))
}

/// Glyph class of a severity.
#[must_use]
pub const fn severity(severity: Severity) -> Class {
    match severity {
        Severity::Fault => Class::Fault,
        Severity::Warning => Class::Warning,
        Severity::Info => Class::Info,
    }
}

/// Glyph class of a leg's state.
#[must_use]
pub const fn class(state: State) -> Class {
    match state {
        State::Fail => Class::Fault,
        State::Unknown => Class::Unknown,
        State::Weak => Class::Warning,
        State::Pass => Class::Fine,
        State::NotRun => Class::NotRun,
    }
}

/// `✓ pass` and its like.
#[must_use]
pub fn result(state: State) -> Cell {
    let word = match state {
        State::Fail => "fail",
        State::Unknown => "unknown",
        State::Weak => "warning",
        State::Pass => "pass",
        State::NotRun => "not run here",
    };
    Cell::state(class(state), word)
}

/// What was seen on a leg, or what would look.
#[must_use]
pub fn seen(leg: &Judged<'_>) -> String {
    let fact = |f: &&Finding| {
        f.facts.last().map_or_else(|| f.id.to_owned(), |fact| format!("{}: {} = {}", f.id, fact.key, fact.value))
    };
    match leg.state {
        State::Fail | State::Weak => leg.findings.iter().map(fact).collect::<Vec<_>>().join(", "),
        State::Unknown => match leg.missing.first() {
            Some(missing) => format!("missing: {}", missing.missing),
            None => "a finding that may be another tenant's".to_owned(),
        },
        State::Pass => format!("none of {}", leg.passed.join(", ")),
        State::NotRun => format!("needs {}", leg.leg.needs),
    }
}
