//! Records from a file, one JSON object a line. The last line of a workload counts, so that a log of records will do.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Mutex;

use super::error::Error;
use super::model::{Broken, Gather, Records};
use super::{wire, within};
use crate::backends::http::clean;

/// Bytes of a file that are read at most.
pub const MAX_FILE: u64 = 8 << 20;

/// Longest time of one reading. A file system that hangs is no reason to wait for ever.
const READING: Duration = Duration::from_secs(10);

/// A file of records.
#[derive(Debug, Clone)]
pub struct RecordFile {
    path: PathBuf,
    /// Held by the thread that reads: one that hangs is not followed by a second one.
    busy: Arc<Mutex<()>>,
}

impl RecordFile {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), busy: Arc::default() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) async fn read(&self) -> Result<Records, Error> {
        let place = clean(&self.path.display().to_string());
        within(&place, READING, async {
            let held = Arc::clone(&self.busy).lock_owned().await;
            let (path, at) = (self.path.clone(), place.clone());
            let work = tokio::task::spawn_blocking(move || {
                let read = load(&path, &at);
                drop(held);
                read
            });
            let lost = |_| Error::File { place: place.clone(), why: "the reader ended".to_owned(), denied: false };
            work.await.map_err(lost)?
        })
        .await
    }
}

/// Reads the file, blocking.
fn load(path: &Path, place: &str) -> Result<Records, Error> {
    let failed = |e: std::io::Error| Error::File {
        place: place.to_owned(),
        why: clean(&e.kind().to_string()),
        denied: e.kind() == std::io::ErrorKind::PermissionDenied,
    };
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        // Opening a pipe would wait for a writer that may never come.
        return Err(Error::File { place: place.to_owned(), why: "not a regular file".to_owned(), denied: false });
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).map_err(failed)?.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(Error::FileTooLarge { place: place.to_owned(), limit: MAX_FILE });
    }
    parse(place, &bytes)
}

/// Reads the lines of a file. Empty lines and lines that start with `#` say nothing; a head line says which schema the
/// rest follows and what time it was.
///
/// # Errors
/// [`Error::Schema`] where a head line names another one.
fn parse(place: &str, bytes: &[u8]) -> Result<Records, Error> {
    let mut all = Gather::default();
    for (number, line) in bytes.split(|b| *b == b'\n').enumerate().map(|(i, line)| (i + 1, line.trim_ascii())) {
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let value: Value = match serde_json::from_slice(line) {
            Ok(value) => value,
            Err(error) => {
                all.take(Err(Broken { number, why: wire::said(&error) }));
                continue;
            }
        };
        if let Some(head) = wire::head_line(place, &value) {
            all.at_last(head?);
            continue;
        }
        all.take(wire::record(number, value));
    }
    Ok(all.done(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_file_that_hangs_ends_with_the_deadline() {
        let file = RecordFile::new(Path::new("records.jsonl"));
        // As while a reader hangs.
        let held = Arc::clone(&file.busy).lock_owned().await;
        assert!(matches!(file.read().await, Err(Error::TooSlow { limit: READING, .. })));
        drop(held);
    }

    #[test]
    fn a_file_of_nonsense_is_told_by_its_first_lines() {
        let read = parse("records.jsonl", "x\n".repeat(10_000).as_bytes()).unwrap();
        assert!(read.broken.len() < 100 && read.broken.capacity() < 100);
        assert_eq!(read.broken.len() + read.broken_more, 10_000);
    }
}
