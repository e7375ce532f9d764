//! Directories of labs: a new one, and those that killed labs left behind.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;

use jiff::Timestamp;
use tempfile::TempDir;

use super::LabError;
use super::control;

/// How the names of the directories begin.
const PREFIX: &str = "deevnet-lab-";
/// Seconds after which a socket that nobody answers at is a dead lab's, not one that is about to be listened at.
const SETTLED: i64 = 60;

/// A new directory, after those of killed labs are removed.
///
/// # Errors
/// When no directory can be made.
pub(super) fn fresh(now: Timestamp) -> Result<TempDir, LabError> {
    let parent = std::env::temp_dir();
    sweep(&parent, now);
    tempfile::Builder::new()
        .prefix(PREFIX)
        .tempdir_in(&parent)
        .map_err(LabError::io("no temporary directory below", &parent))
}

/// Removes the directories below `parent` whose lab was killed. What cannot be read or removed stays: it is in nobody's way.
fn sweep(parent: &Path, now: Timestamp) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_name().to_string_lossy().starts_with(PREFIX) && is_dead(&path, now) {
            let _ = std::fs::remove_dir_all(&path);
        }
    }
}

/// Whether `dir` is this user's, has a lab's socket, and nobody listens there any more.
fn is_dead(dir: &Path, now: Timestamp) -> bool {
    let socket = control::socket(dir);
    let own = rustix::process::getuid().as_raw();
    let settled = |path: &Path| {
        path.symlink_metadata().is_ok_and(|m| m.uid() == own && m.mtime().saturating_add(SETTLED) < now.as_second())
    };
    dir.symlink_metadata().is_ok_and(|m| m.is_dir() && m.uid() == own)
        && settled(&socket)
        && UnixStream::connect(&socket).is_err_and(|e| e.kind() == ErrorKind::ConnectionRefused)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn only_what_a_dead_lab_left_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let dir = parent.path().join(name);
            std::fs::create_dir(&dir).unwrap();
            dir
        };
        let (dead, alive, other, empty) =
            (make("deevnet-lab-1"), make("deevnet-lab-2"), make("somebody-else"), make("deevnet-lab-3"));
        drop(UnixListener::bind(control::socket(&dead)).unwrap());
        drop(UnixListener::bind(control::socket(&other)).unwrap());
        let _listens = UnixListener::bind(control::socket(&alive)).unwrap();
        let bound = Timestamp::from_second(control::socket(&dead).metadata().unwrap().mtime()).unwrap();
        sweep(parent.path(), bound + jiff::SignedDuration::from_secs(SETTLED));
        assert!(dead.exists(), "it may be about to listen");
        sweep(parent.path(), bound + jiff::SignedDuration::from_secs(SETTLED + 2));
        assert!(!dead.exists());
        assert!(alive.exists() && other.exists() && empty.exists());
    }
}
