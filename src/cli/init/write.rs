//! The files that are left at the end: all or none of the site file, and secrets that were typed.

use std::fs::{DirBuilder, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::Path;

use crate::cli::Failure;

/// Writes a file that only its owner may read, over nothing: it appears whole or not at all. Missing directories are made
/// for the owner alone.
pub(super) fn private(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |what: &str, e: &std::io::Error| {
        Failure::usage(
            format!("{what} {}: {e}", path.display()),
            "give another place with --out FILE, or make this one writable",
        )
    };
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|e| failed("no directory for", &e))?;
    let mut file = tempfile::Builder::new()
        .prefix(".deevnet-init-")
        .permissions(Permissions::from_mode(0o600))
        .tempfile_in(dir)
        .map_err(|e| failed("cannot write", &e))?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all());
    written.map_err(|e| failed("cannot write", &e))?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(e) if e.error.kind() == std::io::ErrorKind::AlreadyExists => Err(exists(path)),
        Err(e) => Err(failed("cannot write", &e.error)),
    }
}

/// A file that is there already is somebody's.
pub(super) fn exists(path: &Path) -> Failure {
    Failure::usage(
        format!("{} exists, and is not written over", path.display()),
        "give another NAME, or another place with --out FILE; to start over, move it away first",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_private_whole_and_over_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/site.toml");
        private(&path, "one").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&dir.path().join("a")), mode(&dir.path().join("a/b"))), (0o600, 0o700, 0o700));
        let refused = private(&path, "two").unwrap_err();
        assert!(refused.text.contains("exists"), "{refused:?}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one");
        assert_eq!(std::fs::read_dir(dir.path().join("a/b")).unwrap().count(), 1, "nothing is left behind");
    }
}
