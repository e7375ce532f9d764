//! The help overlay and `docs/keys.md`, from the table and the keymap in force.

use crate::console::model::Model;

/// What the help overlay shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Help {
    /// e.g. `Workloads`: what `Here` is.
    pub place: String,
    /// Keymap in force.
    pub keymap: String,
    /// Parts, the focused pane's first.
    pub sections: Vec<HelpSection>,
}

/// A part of the help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelpSection {
    /// Heading.
    pub title: String,
    /// Rows.
    pub rows: Vec<HelpRow>,
}

/// A row of the help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelpRow {
    /// Keys in force; empty = by `:` only.
    pub keys: String,
    /// Command line, e.g. `go tenants`.
    pub line: String,
    /// What it does in a few words.
    pub title: String,
    /// What it does, in a sentence.
    pub doc: String,
    /// Why it cannot run now, when it cannot.
    pub disabled: Option<String>,
}

/// The help for what is on screen, narrowed by the overlay's search text.
#[must_use]
pub fn help(model: &Model) -> Help {
    Help { place: String::new(), keymap: model.keymap.name.clone(), sections: Vec::new() }
}
