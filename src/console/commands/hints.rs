//! Key hints of the footer, from the keymap in force.

use crate::console::model::Model;

/// (key, word) for the footer, those of the focused pane first, at most ten.
#[must_use]
pub fn hints(model: &Model) -> Vec<(String, String)> {
    let _ = model;
    Vec::new()
}
