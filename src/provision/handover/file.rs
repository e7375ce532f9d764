//! A file of its own for something that is only the user's.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Why it was not written.
#[derive(Debug, thiserror::Error)]
pub enum NewFileError {
    /// Something has that name.
    #[error("{} is there already, and is left as it is", .0.display())]
    Exists(PathBuf),
    /// It cannot be made or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl NewFileError {
    /// What to do about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Exists(_) => "name a file that is not there yet",
            Self::Io { .. } => "name a file in a directory of yours",
        }
    }
}

/// Writes `text` into a new file that only the user may read. What has the name, be it a link, is neither followed nor replaced.
///
/// # Errors
/// [`NewFileError`]; a file that was begun is taken away again.
pub fn write_new(path: &Path, text: &[u8]) -> Result<(), NewFileError> {
    let failed = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::AlreadyExists => NewFileError::Exists(path.to_owned()),
        _ => NewFileError::Io { path: path.to_owned(), source },
    };
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(failed)?;
    let written = file.write_all(text).and_then(|()| file.sync_all());
    written.map_err(|source| {
        // Half a key is of no use to anybody.
        std::fs::remove_file(path).ok();
        NewFileError::Io { path: path.to_owned(), source }
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, symlink};

    use super::*;

    #[test]
    fn a_new_file_is_only_the_users_and_nothing_is_replaced() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = dir.path().join("picow.key");
        write_new(&at, b"one").expect("written");
        assert_eq!(std::fs::metadata(&at).expect("there").mode() & 0o7777, 0o600);
        assert!(matches!(write_new(&at, b"two"), Err(NewFileError::Exists(_))));
        assert_eq!(std::fs::read(&at).expect("there"), b"one");
        for target in [at.clone(), dir.path().join("nowhere")] {
            let link = dir.path().join(format!("link-{}", target.file_name().expect("a name").display()));
            symlink(&target, &link).expect("a link");
            assert!(matches!(write_new(&link, b"three"), Err(NewFileError::Exists(_))), "{}", link.display());
        }
        assert_eq!(std::fs::read(&at).expect("there"), b"one");
        assert!(!dir.path().join("nowhere").exists());
        let away = write_new(&dir.path().join("no/where"), b"four").expect_err("no directory");
        assert!(away.to_string().contains("no/where"), "{away}");
    }
}
