//! The actions menu: what can be done with the selected row or the marked ones.

use super::{Command, Danger};
use crate::console::model::Model;

/// What the actions menu shows.
#[derive(Debug, Clone)]
pub struct Actions {
    /// e.g. `eds/services`, or `2 workloads` when rows are marked.
    pub title: String,
    /// Candidates, harmless first.
    pub rows: Vec<Action>,
}

/// One action.
#[derive(Debug, Clone)]
pub struct Action {
    /// Key in force; empty = by `:` only.
    pub key: String,
    /// The command.
    pub command: &'static Command,
    /// Danger.
    pub danger: Danger,
    /// Why it cannot run now, when it cannot.
    pub disabled: Option<String>,
}

/// The actions of the selected row, narrowed by the overlay's search text.
#[must_use]
pub fn actions(model: &Model) -> Actions {
    let _ = model;
    Actions { title: String::new(), rows: Vec::new() }
}
