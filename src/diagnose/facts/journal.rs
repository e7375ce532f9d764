//! A journal of steps: a JSON object a line, each with its plan and its number.

use serde_json::{Map, Value};

use super::rows::number;
use super::sdn::text;
use super::{Facts, Reader, Sourced, Taken};
use crate::diagnose::evidence::{Item, Kind};

/// Readers of this area.
pub(super) const READERS: &[Reader] = &[steps];

/// The word in the name of what is read as one.
const CALLED: &str = "journal";

/// A step that was noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The plan it is of.
    pub plan: String,
    /// Its number, from 1.
    pub number: u64,
    /// What it does.
    pub what: String,
    /// How it ended; `None` = that was not noted any more.
    pub result: Option<String>,
    /// When it was sent, as noted.
    pub sent_at: Option<String>,
    /// The task that it became.
    pub upid: Option<String>,
}

fn step(map: &Map<String, Value>) -> Option<Step> {
    Some(Step {
        plan: text(map, "plan")?,
        number: number(map, "step")?,
        what: text(map, "what")?,
        result: text(map, "result"),
        sent_at: text(map, "sent_at"),
        upid: text(map, "upid"),
    })
}

fn steps(item: &Item, facts: &mut Facts) -> Taken {
    if !matches!(&item.kind, Kind::Material(what) if super::is_called(what, CALLED)) {
        return Taken::NotMine;
    }
    let lines = item.body.lines().filter(|line| !line.trim().is_empty());
    let all: Option<Vec<Step>> =
        lines.map(|line| step(serde_json::from_str::<Value>(line).ok()?.as_object()?)).collect();
    match all {
        Some(all) if !all.is_empty() => {
            facts.journal.extend(all.into_iter().map(|step| Sourced::new(step, item)));
            Taken::Read
        }
        _ => Taken::NotMine,
    }
}
