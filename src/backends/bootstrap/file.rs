//! Records from a file, one JSON object a line. The last line of a workload counts, so that a log of records will do.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tokio::io::AsyncReadExt as _;

use super::error::Error;
use super::model::{Broken, Records};
use super::wire;
use crate::backends::http::clean;

/// Bytes of a file that are read at most.
pub const MAX_FILE: u64 = 8 << 20;

/// A file of records.
#[derive(Debug, Clone)]
pub struct RecordFile {
    path: PathBuf,
}

impl RecordFile {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) async fn read(&self) -> Result<Records, Error> {
        let place = clean(&self.path.display().to_string());
        let failed = |e: std::io::Error| Error::File {
            place: place.clone(),
            why: clean(&e.kind().to_string()),
            denied: e.kind() == std::io::ErrorKind::PermissionDenied,
        };
        let meta = tokio::fs::metadata(&self.path).await.map_err(failed)?;
        if !meta.is_file() {
            // Opening a pipe would wait for a writer that may never come.
            return Err(Error::File { place, why: "not a regular file".to_owned(), denied: false });
        }
        let file = tokio::fs::File::open(&self.path).await.map_err(failed)?;
        let mut bytes = Vec::new();
        file.take(MAX_FILE + 1).read_to_end(&mut bytes).await.map_err(failed)?;
        if bytes.len() as u64 > MAX_FILE {
            return Err(Error::FileTooLarge { place, limit: MAX_FILE });
        }
        parse(&place, &bytes)
    }
}

/// Reads the lines of a file. Empty lines and lines that start with `#` say nothing; a head line says which schema the
/// rest follows and what time it was.
///
/// # Errors
/// [`Error::Schema`] where a head line names another one.
fn parse(place: &str, bytes: &[u8]) -> Result<Records, Error> {
    let mut all = Records::default();
    for (number, line) in bytes.split(|b| *b == b'\n').enumerate().map(|(i, line)| (i + 1, line.trim_ascii())) {
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let value: Value = match serde_json::from_slice(line) {
            Ok(value) => value,
            Err(error) => {
                all.broken.push(Broken { number, why: wire::said(&error) });
                continue;
            }
        };
        if let Some(head) = wire::head_line(place, &value) {
            all.at = head?.or(all.at);
            continue;
        }
        match wire::record(number, value) {
            Ok(record) => all.items.push(record),
            Err(broken) => all.broken.push(broken),
        }
    }
    Ok(all.newest())
}
