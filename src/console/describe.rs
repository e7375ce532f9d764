//! Text about one object: for people, as YAML, as JSON.

use super::model::{Model, TextForm};
use crate::inventory::{Class, ObjectId};

/// A line of a text screen. All text is clean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextLine {
    /// A heading.
    Head(String),
    /// A label with its value.
    Pair {
        /// Label.
        label: String,
        /// Value.
        value: String,
        /// Class, where the value is a state.
        class: Option<Class>,
    },
    /// Running text, or a line of YAML or JSON.
    Plain(String),
}

/// The lines of a text screen about `subject`. An object that is gone says so.
#[must_use]
pub fn lines(model: &Model, subject: &ObjectId, form: TextForm) -> Vec<TextLine> {
    let _ = (model, subject, form);
    Vec::new()
}

/// The lines as text to copy or to edit.
#[must_use]
pub fn plain(lines: &[TextLine]) -> String {
    let line = |l: &TextLine| match l {
        TextLine::Head(text) | TextLine::Plain(text) => text.clone(),
        TextLine::Pair { label, value, .. } => format!("  {label}: {value}"),
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}
