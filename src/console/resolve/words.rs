//! What is said of a vantage point, field by field.

use crate::backends::dns::RecordType;
use crate::console::list::Cell;
use crate::console::theme::Glyphs;
use crate::diagnose::resolve::{Column, ControlOutcome, Expected, Gathering, Outcome, State, Vantage, observed};
use crate::inventory::Class;

/// Where there is nothing to say.
pub(super) const NOTHING: &str = "–";

/// The head of a vantage point's column.
#[must_use]
pub fn title(vantage: Vantage, column: Option<&Column>) -> String {
    match vantage {
        Vantage::Authoritative => "AUTHORITATIVE".to_owned(),
        Vantage::Perimeter => "PERIMETER".to_owned(),
        Vantage::Substrate => "SUBSTRATE".to_owned(),
        Vantage::Vrf => {
            let how = column.map_or("", |c| c.how.as_str());
            how.split_once("in ").map_or_else(|| "FROM VRF".to_owned(), |(_, vrf)| format!("FROM {vrf}"))
        }
        Vantage::Host => "THIS HOST".to_owned(),
    }
}

/// `✓ as expected` and its like.
#[must_use]
pub fn state(state: State) -> Cell {
    let class = match state {
        State::AsExpected | State::Same => Class::Fine,
        State::Differs => Class::Differs,
        State::Unknown => Class::Unknown,
        State::NotCompared => return Cell::muted(NOTHING),
    };
    Cell::state(class, state.word())
}

/// `NOERROR aa`; the word for what there is instead.
#[must_use]
pub fn code(column: &Column) -> String {
    match &column.outcome {
        Outcome::Answered(answer) => {
            let aa = answer.flags.is_some_and(|flags| flags.aa);
            format!("{}{}", answer.rcode, if aa { " aa" } else { "" })
        }
        Outcome::Failed { .. } => "no answer".to_owned(),
        Outcome::Denied { .. } => "denied".to_owned(),
        Outcome::NotAsked { .. } => "not asked".to_owned(),
    }
}

/// The flags of the answer, and its extended errors: `aa rd · EDE 20`.
#[must_use]
pub fn flags(column: &Column) -> String {
    let Some(answer) = column.answer() else { return NOTHING.to_owned() };
    let extended = answer.extended.iter().map(|e| format!("EDE {}", e.code));
    let words: Vec<String> = answer.flags.map(|flags| flags.words()).into_iter().chain(extended).collect();
    if words.is_empty() { "not told".to_owned() } else { words.join(" · ") }
}

/// The values that are compared.
#[must_use]
pub fn values(kind: RecordType, column: &Column) -> Vec<String> {
    let Some(answer) = column.answer() else { return vec![NOTHING.to_owned()] };
    let values = observed(answer, kind);
    if values.is_empty() { vec!["– none".to_owned()] } else { values }
}

/// The values that the index derives.
#[must_use]
pub fn expected_values(expected: &Expected) -> Vec<String> {
    match expected {
        Expected::Values { values, .. } => values.clone(),
        Expected::Nothing { .. } => vec!["– nothing".to_owned()],
        Expected::Unknown { .. } => vec!["? unknown".to_owned()],
    }
}

/// The smallest TTL among the answers, seconds.
#[must_use]
pub fn ttl(kind: RecordType, column: &Column) -> String {
    let records = column.answer().map(|answer| answer.answers.as_slice()).unwrap_or_default();
    let ttl = records.iter().filter(|r| r.kind == kind).map(|r| r.ttl).min();
    ttl.map_or_else(|| NOTHING.to_owned(), |ttl| ttl.to_string())
}

/// The SOA seen, which dates a negative answer.
pub(super) fn authority(column: &Column) -> String {
    let soa = column.answer().and_then(|answer| answer.soa());
    soa.map_or_else(|| NOTHING.to_owned(), |(_, soa)| format!("SOA {}", soa.serial))
}

/// Whether it answered, and how long that took.
pub(super) fn reached(column: &Column) -> Cell {
    match &column.outcome {
        Outcome::Answered(answer) => Cell::state(Class::Fine, format!("{} ms", answer.took.as_millis())),
        Outcome::Failed { .. } => Cell::state(Class::Unknown, "no answer"),
        Outcome::Denied { .. } => Cell::state(Class::Unknown, "denied"),
        Outcome::NotAsked { .. } => Cell::muted(NOTHING),
    }
}

/// What came of a control.
#[must_use]
pub fn control(outcome: Option<&ControlOutcome>) -> Cell {
    match outcome {
        Some(ControlOutcome::Answers(values)) => Cell::state(Class::Fine, values.first().map_or("", String::as_str)),
        Some(ControlOutcome::Empty(rcode)) => Cell::state(Class::Differs, format!("{rcode}, none")),
        Some(ControlOutcome::Failed(_)) => Cell::state(Class::Unknown, "no answer"),
        Some(ControlOutcome::NotAsked(why)) => Cell::muted(format!("– {why}")),
        None => Cell::muted(NOTHING),
    }
}

/// Whom a column asks, without what its title and [`how`] say.
#[must_use]
pub fn address(column: &Column) -> String {
    let end = [" via ", " (system)"].iter().filter_map(|tail| column.asked.find(tail)).min();
    let asked = column.asked.get(..end.unwrap_or(column.asked.len())).unwrap_or_default();
    if asked.is_empty() { NOTHING.to_owned() } else { asked.to_owned() }
}

/// How a column asks; from a VRF, through which node.
#[must_use]
pub fn how(column: &Column) -> String {
    let via = column.asked.split_once(" via ").map(|(_, node)| format!("in VRF via {node}"));
    via.unwrap_or_else(|| column.how.clone())
}

/// Something that was said beside the answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// About whom: `expected`, or words of vantage points, e.g. `perimeter, vrf`.
    pub who: String,
    /// What.
    pub why: String,
    /// Remedy.
    pub help: Option<String>,
}

/// Why somebody said nothing, with the remedy, and what the servers said beside their answers. What is true of several is
/// said once.
#[must_use]
pub fn reasons(found: &Gathering) -> Vec<Reason> {
    let mut out: Vec<Reason> = Vec::new();
    let mut say = |who: &str, why: String, help: Option<&String>| match out.iter_mut().find(|r| r.why == why) {
        Some(same) => {
            same.who.push_str(", ");
            same.who.push_str(who);
        }
        None => out.push(Reason { who: who.to_owned(), why, help: help.cloned() }),
    };
    match &found.expected {
        Some(Expected::Nothing { why }) => say("expected", format!("nothing is derived: {why}"), None),
        Some(Expected::Unknown { why }) => say("expected", format!("unknown: {why}"), None),
        Some(Expected::Values { .. }) | None => {}
    }
    for column in found.heard() {
        let name = column.vantage.word();
        match &column.outcome {
            Outcome::Failed { why, help } | Outcome::Denied { why, help } => say(name, why.clone(), Some(help)),
            Outcome::NotAsked { why, .. } => say(name, format!("not asked: {why}"), None),
            Outcome::Answered(answer) => {
                for e in &answer.extended {
                    say(name, format!("extended error {} {}", e.code, e.text).trim_end().to_owned(), None);
                }
                if !answer.strays.is_empty() {
                    say(name, format!("ignored answers: {}", answer.strays.words()), None);
                }
            }
        }
    }
    out
}

/// A cell as text: its glyph, then its words.
#[must_use]
pub fn said(cell: &Cell, glyphs: &Glyphs) -> String {
    match cell.class {
        Some(class) => format!("{} {}", glyphs.of(class), cell.text),
        None => cell.text.clone(),
    }
}
