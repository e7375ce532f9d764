//! Plans in files: what was to be done, and what was seen then.

use serde::{Deserialize, Serialize};

use super::plan::Preview;

/// Longest file that is read, in bytes.
pub const MOST: u64 = 4 << 20;
const SCHEMA: &str = "deevnet-console/saved-plan/v1";

#[derive(Serialize, Deserialize)]
struct Saved {
    schema: String,
    preview: Preview,
}

/// The text of a file that holds a plan.
///
/// # Errors
/// Where it cannot be put into words.
pub fn text(preview: &Preview) -> Result<String, serde_json::Error> {
    let saved = Saved { schema: SCHEMA.to_owned(), preview: preview.clone() };
    serde_json::to_string_pretty(&saved).map(|text| text + "\n")
}

/// The plan that such a text holds.
///
/// # Errors
/// What it is instead, in words.
pub fn read(text: &str) -> Result<Preview, String> {
    let saved: Saved = serde_json::from_str(text).map_err(|e| format!("is no plan of this version: {e}"))?;
    if saved.schema != SCHEMA {
        return Err(format!("is of the form {}, not {SCHEMA}", crate::text::clean(&saved.schema)));
    }
    if saved.preview.looks.len() != saved.preview.plan.steps.len() {
        return Err("has not one look for each step".to_owned());
    }
    Ok(saved.preview)
}
