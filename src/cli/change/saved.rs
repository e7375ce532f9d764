//! Plans in files, at the command line.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::cli::Failure;
use crate::provision::plan::Preview;
use crate::provision::saved;

/// Writes a plan into a new file that its owner alone can read.
///
/// # Errors
/// When there is a file already, or it cannot be written.
pub(super) fn write(file: &Path, preview: &Preview) -> Result<(), Failure> {
    let failed = |why: std::io::Error| {
        let help = "give a file that is not there yet, in a directory that you may write";
        Failure::usage(format!("plan {}: {why}", file.display()), help)
    };
    let text = saved::text(preview).map_err(|e| failed(e.into()))?;
    let mut out = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file).map_err(failed)?;
    out.write_all(text.as_bytes()).and_then(|()| out.sync_all()).map_err(failed)
}

/// Reads a plan that was saved.
///
/// # Errors
/// When it cannot be read, or is none.
pub(super) fn read(file: &Path) -> Result<Preview, Failure> {
    let failed = |why: String| Failure::usage(format!("plan {}: {why}", file.display()), "`plan … -o FILE` saves one");
    let length = std::fs::metadata(file).map_err(|e| failed(e.to_string()))?.len();
    if length > saved::MOST {
        return Err(failed(format!("{length} bytes are too many for a plan")));
    }
    let text = std::fs::read_to_string(file).map_err(|e| failed(e.to_string()))?;
    saved::read(&text).map_err(failed)
}
