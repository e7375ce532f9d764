//! A bundle onto disk: for a colleague, for later, for a test.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::Evidence;
use super::item::{Item, Kind};
use super::redact::redact;

/// Why a bundle cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// The directory is there and holds something.
    #[error("{} is not empty", .0.display())]
    NotEmpty(PathBuf),
    /// It cannot be written.
    #[error("{}: {error}", path.display())]
    Io {
        /// File or directory.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
}

impl SaveError {
    /// What helps.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::NotEmpty(_) => "name a directory that does not exist yet: nothing is overwritten",
            Self::Io { .. } => "name a directory that can be written",
        }
    }
}

/// Writes `evidence` to `dir`, which must not exist or be empty. The user's own, since it names hosts, tenants and rules.
///
/// # Errors
/// When the directory holds something or cannot be written.
pub fn save(evidence: &Evidence, dir: &Path) -> Result<(), SaveError> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |error| SaveError::Io { path, error }
    };
    if dir.exists() {
        if std::fs::read_dir(dir).map_err(io(dir))?.next().is_some() {
            return Err(SaveError::NotEmpty(dir.to_owned()));
        }
    } else {
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(io(dir))?;
    }
    let write = |name: &str, text: &str| -> Result<(), SaveError> {
        let path = dir.join(name);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        file.and_then(|mut f| f.write_all(text.as_bytes())).map_err(io(&path))
    };
    for item in evidence.items.iter().filter(|i| !i.empty) {
        write(&item.file, &redact(&item.body))?;
    }
    let index = json!({
        "question": evidence.question,
        "items": evidence.items.iter().map(entry).collect::<Vec<_>>(),
    });
    write("inputs.json", &format!("{index:#}\n"))
}

fn entry(item: &Item) -> Value {
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| drop(map.insert(key.to_owned(), value));
    put("file", json!(item.file));
    put("from", json!(item.from));
    if let Some(at) = item.at {
        put("at", json!(at.to_string()));
    }
    if let Some(took) = item.took {
        put("took_ms", json!(u64::try_from(took.as_millis()).unwrap_or(u64::MAX)));
    }
    if item.empty {
        put("empty_body", json!(true));
    }
    match &item.kind {
        Kind::Http(http) => {
            put("kind", json!("http"));
            put("request", json!(http.request()));
            put("status", json!(http.ended.status));
            put("reason", json!(redact(&http.ended.reason)));
            if let Some(sent) = &http.sent {
                put("sent", json!(redact(sent)));
            }
            if !http.headers.is_empty() {
                let headers: Map<String, Value> =
                    http.headers.iter().map(|(name, value)| (name.clone(), json!(redact(value)))).collect();
                put("headers", json!(headers));
            }
        }
        Kind::Command { line, exit } => {
            put("kind", json!("command"));
            put("command", json!(redact(line)));
            put("exit", json!(exit));
            if !item.stderr.is_empty() {
                put("stderr", json!(redact(&item.stderr)));
            }
        }
        Kind::Dns(dns) => {
            put("kind", json!("dns"));
            put("query", json!(dns.question));
            if let Some(who) = &dns.asked_from {
                put("from", json!(format!("{} (asked from {who})", item.from)));
            }
        }
        Kind::Pasted { by, via } => {
            put("kind", json!("material"));
            put("what", json!("a pasted result"));
            put("pasted", json!({ "by": by, "via": via }));
        }
        Kind::Material(what) => {
            put("kind", json!("material"));
            put("what", json!(what));
        }
    }
    Value::Object(map)
}

#[cfg(test)]
mod tests {
    use super::super::{Dns, Ended, Http, load};
    use super::*;

    fn item(file: &str, kind: Kind, body: &str) -> Item {
        Item {
            file: file.into(),
            from: "hv02".into(),
            kind,
            at: Some("2026-11-29T11:03:00Z".parse().expect("a time")),
            took: Some(std::time::Duration::from_millis(31)),
            body: body.into(),
            stderr: String::new(),
            empty: false,
        }
    }

    fn evidence() -> Evidence {
        let mut http =
            Http::parse("GET /api2/json/cluster/sdn/zones?running=1", Ended { status: 200, reason: "OK".into() })
                .expect("a request");
        http.headers.insert("Date".into(), "Sun, 29 Nov 2026 10:09:41 GMT".into());
        let command = Kind::Command { line: "ip route show vrf vrf_a".into(), exit: None };
        let dns = Kind::Dns(Dns { question: "a.example. A".into(), asked_from: Some("vrf_a".into()) });
        let mut none = item("none.txt", command.clone(), "");
        none.empty = true;
        none.stderr = "refused".into();
        Evidence {
            question: Some("why?".into()),
            items: vec![
                item("zones.json", Kind::Http(http), "{\"data\":[]}"),
                item("routes.txt", command, "default via 192.0.2.1\n"),
                item("a.txt", dns, ";; status: NOERROR"),
                item("clock.txt", Kind::Material("clock".into()), "now"),
                none,
                item("pasted.txt", Kind::Pasted { by: "amy".into(), via: "screen".into() }, "PING"),
            ],
        }
    }

    #[test]
    fn what_was_saved_is_what_is_loaded() {
        let dir = tempfile::tempdir().expect("a directory");
        let (there, evidence) = (dir.path().join("bundle"), evidence());
        save(&evidence, &there).expect("saved");
        assert_eq!(load(&there).expect("loaded"), evidence);
        let again = save(&evidence, &there).expect_err("not twice");
        assert!(matches!(again, SaveError::NotEmpty(_)), "{again}");
    }

    #[test]
    fn nothing_that_is_secret_reaches_the_disk() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().expect("a directory");
        let mut evidence = evidence();
        evidence.items[0].body = r#"{"algorithm":"hmac-sha256","key":"CANARY"}"#.into();
        evidence.items[4].stderr = "PVEAPIToken=u@pve!t=CANARY".into();
        save(&evidence, dir.path()).expect("saved");
        for file in std::fs::read_dir(dir.path()).expect("files") {
            let path = file.expect("a file").path();
            assert!(!std::fs::read_to_string(&path).expect("text").contains("CANARY"), "{}", path.display());
            assert_eq!(path.metadata().expect("its mode").permissions().mode() & 0o077, 0, "{}", path.display());
        }
    }
}
