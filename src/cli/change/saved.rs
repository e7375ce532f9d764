//! Plans in files: what was to be done, and what was seen then.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::cli::Failure;
use crate::provision::plan::Preview;

/// Longest file that is read, in bytes.
const MOST: u64 = 4 << 20;
const SCHEMA: &str = "deevnet-console/saved-plan/v1";

#[derive(Serialize, Deserialize)]
struct Saved {
    schema: String,
    preview: Preview,
}

/// Writes a plan into a new file that its owner alone can read.
///
/// # Errors
/// When there is a file already, or it cannot be written.
pub(super) fn write(file: &Path, preview: &Preview) -> Result<(), Failure> {
    let failed = |why: std::io::Error| {
        let help = "give a file that is not there yet, in a directory that you may write";
        Failure::usage(format!("plan {}: {why}", file.display()), help)
    };
    let saved = Saved { schema: SCHEMA.to_owned(), preview: preview.clone() };
    let text = serde_json::to_string_pretty(&saved).map_err(|e| failed(e.into()))?;
    let mut out = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file).map_err(failed)?;
    writeln!(out, "{text}").and_then(|()| out.sync_all()).map_err(failed)
}

/// Reads a plan that was saved.
///
/// # Errors
/// When it cannot be read, or is none.
pub(super) fn read(file: &Path) -> Result<Preview, Failure> {
    let failed = |why: String| Failure::usage(format!("plan {}: {why}", file.display()), "`plan … -o FILE` saves one");
    let length = std::fs::metadata(file).map_err(|e| failed(e.to_string()))?.len();
    if length > MOST {
        return Err(failed(format!("{length} bytes are too many for a plan")));
    }
    let text = std::fs::read_to_string(file).map_err(|e| failed(e.to_string()))?;
    let saved: Saved = serde_json::from_str(&text).map_err(|e| failed(format!("is no plan of this version: {e}")))?;
    if saved.schema != SCHEMA {
        return Err(failed(format!("is of the form {}, not {SCHEMA}", crate::text::clean(&saved.schema))));
    }
    if saved.preview.looks.len() != saved.preview.plan.steps.len() {
        return Err(failed("has not one look for each step".to_owned()));
    }
    Ok(saved.preview)
}
