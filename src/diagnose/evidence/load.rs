//! A bundle from a directory. Foreign input: bounded, and never a path out of its directory.

use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

use super::Evidence;
use super::item::{Dns, Ended, Http, Item, Kind};

/// Most bytes of one body, and most items of a bundle: what a site of 62 tenants needs, ten times over.
const MOST_BYTES: u64 = 32 << 20;
/// See [`MOST_BYTES`].
const MOST_ITEMS: usize = 20_000;

/// The site file, which a bundle may hold beside what it names.
const SITE: &str = "site.toml";

/// Why a bundle cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file cannot be read.
    #[error("{}: {error}", path.display())]
    Io {
        /// File.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// `inputs.json` is not what it ought to be.
    #[error("{}: {why}", path.display())]
    Index {
        /// File.
        path: PathBuf,
        /// What, with line and column where there are any.
        why: String,
    },
    /// An item names a file outside of the bundle.
    #[error("{}: item {file:?} is not a file of the bundle", path.display())]
    Outside {
        /// The index.
        path: PathBuf,
        /// As named.
        file: String,
    },
    /// A link, a directory, a pipe or a device.
    #[error("{}: not a file of its own", path.display())]
    NoFile {
        /// What.
        path: PathBuf,
    },
    /// Too much.
    #[error("{}: {what}", path.display())]
    TooMuch {
        /// File.
        path: PathBuf,
        /// What is too much.
        what: String,
    },
}

impl LoadError {
    /// What helps.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Io { .. } => "a bundle is a directory with inputs.json and the files it names",
            Self::Index { .. } => "inputs.json holds {\"items\": [{\"file\", \"kind\", \"from\", …}]}",
            Self::NoFile { .. } => "put the file itself there: links, pipes and devices are not followed",
            Self::Outside { .. } => "name files without directories",
            Self::TooMuch { .. } => "leave out what does not belong to the question",
        }
    }
}

#[derive(Deserialize)]
struct Index {
    question: Option<String>,
    items: Vec<RawItem>,
}

#[derive(Deserialize)]
struct RawItem {
    file: String,
    kind: String,
    #[serde(default)]
    from: String,
    request: Option<String>,
    status: Option<u16>,
    reason: Option<String>,
    sent: Option<String>,
    #[serde(default)]
    headers: std::collections::BTreeMap<String, String>,
    command: Option<String>,
    exit: Option<i32>,
    #[serde(default)]
    stderr: String,
    query: Option<String>,
    question: Option<String>,
    what: Option<String>,
    pasted: Option<RawPasted>,
    at: Option<jiff::Timestamp>,
    took_ms: Option<u64>,
    #[serde(default)]
    empty_body: bool,
}

#[derive(Deserialize)]
struct RawPasted {
    #[serde(default)]
    by: String,
    #[serde(default)]
    via: String,
}

/// Reads the bundle in `dir`.
///
/// # Errors
/// When the index or a body cannot be read, is too large, or lies elsewhere.
pub fn load(dir: &Path) -> Result<Evidence, LoadError> {
    let path = dir.join("inputs.json");
    let text = read(&path)?;
    let index: Index =
        serde_json::from_str(&text).map_err(|e| LoadError::Index { path: path.clone(), why: e.to_string() })?;
    if index.items.len() > MOST_ITEMS {
        return Err(LoadError::TooMuch { path, what: format!("more than {MOST_ITEMS} items") });
    }
    let mut items = index.items.into_iter().map(|raw| item(dir, &path, raw)).collect::<Result<Vec<_>, _>>()?;
    if dir.join(SITE).is_file() && items.iter().all(|item| item.file != SITE) {
        items.push(site(read(&dir.join(SITE))?));
    }
    Ok(Evidence { question: index.question, items })
}

fn site(body: String) -> Item {
    Item {
        file: SITE.to_owned(),
        from: "console".to_owned(),
        kind: Kind::Material("the site file".to_owned()),
        at: None,
        took: None,
        body,
        stderr: String::new(),
        empty: false,
    }
}

fn item(dir: &Path, index: &Path, raw: RawItem) -> Result<Item, LoadError> {
    let mut parts = Path::new(&raw.file).components();
    let (Some(Component::Normal(name)), None) = (parts.next(), parts.next()) else {
        return Err(LoadError::Outside { path: index.to_owned(), file: raw.file });
    };
    let body = if raw.empty_body { String::new() } else { read(&dir.join(name))? };
    let wrong = |what: &str| LoadError::Index { path: index.to_owned(), why: format!("item {:?}: {what}", raw.file) };
    let kind = match raw.kind.as_str() {
        "http" => {
            let ended = Ended { status: raw.status.unwrap_or(0), reason: raw.reason.unwrap_or_default() };
            let request = raw.request.ok_or_else(|| wrong("no request"))?;
            let mut http = Http::parse(&request, ended).ok_or_else(|| wrong("its request is none"))?;
            (http.sent, http.headers) = (raw.sent, raw.headers);
            Kind::Http(http)
        }
        "command" => {
            let line = raw.command.ok_or_else(|| wrong("no command"))?;
            let line = line.split_once(" #").map_or(line.as_str(), |(command, _)| command).trim().to_owned();
            Kind::Command { line, exit: raw.exit }
        }
        "dns" => {
            let question = raw.query.or(raw.question).ok_or_else(|| wrong("no query"))?;
            let asked_from = raw.from.split_once(" (asked from ").map(|(_, who)| who.trim_end_matches(')').to_owned());
            Kind::Dns(Dns { question, asked_from })
        }
        "material" => match raw.pasted {
            Some(RawPasted { by, via }) => Kind::Pasted { by, via },
            None => Kind::Material(raw.what.unwrap_or_default()),
        },
        other => return Err(wrong(&format!("its kind {other:?} is none of http, command, dns, material"))),
    };
    let from = raw.from.split_once(" (").map_or(raw.from.as_str(), |(place, _)| place).to_owned();
    let (at, took) = (raw.at, raw.took_ms.map(std::time::Duration::from_millis));
    Ok(Item { file: raw.file, from, kind, at, took, body, stderr: raw.stderr, empty: raw.empty_body })
}

fn read(path: &Path) -> Result<String, LoadError> {
    let io = |error| LoadError::Io { path: path.to_owned(), error };
    // A link leads elsewhere, a pipe or a device never ends.
    if !std::fs::symlink_metadata(path).map_err(io)?.is_file() {
        return Err(LoadError::NoFile { path: path.to_owned() });
    }
    let mut body = Vec::new();
    let file = std::fs::File::open(path).map_err(io)?;
    file.take(MOST_BYTES + 1).read_to_end(&mut body).map_err(io)?;
    if body.len() as u64 > MOST_BYTES {
        return Err(LoadError::TooMuch {
            path: path.to_owned(),
            what: format!("larger than {} MiB", MOST_BYTES >> 20),
        });
    }
    Ok(String::from_utf8_lossy(&body).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_bundle_itself_are_read() {
        let dir = tempfile::tempdir().expect("a directory");
        let index = r#"{"items":[{"file":"a.txt","kind":"material","what":"x"}]}"#;
        std::fs::write(dir.path().join("inputs.json"), index).expect("an index");
        let body = dir.path().join("a.txt");
        std::fs::write(&body, "seen").expect("a body");
        assert_eq!(load(dir.path()).expect("a bundle").items[0].body, "seen");
        std::fs::remove_file(&body).expect("gone");
        for elsewhere in ["/etc/passwd", "/dev/zero", "inputs.json"] {
            std::os::unix::fs::symlink(elsewhere, &body).expect("a link");
            let error = load(dir.path()).expect_err(elsewhere);
            assert!(matches!(error, LoadError::NoFile { .. }), "{elsewhere}: {error}");
            std::fs::remove_file(&body).expect("gone");
        }
        let pipe = std::process::Command::new("mkfifo").arg(&body).status();
        assert!(pipe.is_ok_and(|made| made.success()));
        assert!(matches!(load(dir.path()), Err(LoadError::NoFile { .. })));
    }
}
