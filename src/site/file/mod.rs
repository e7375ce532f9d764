//! The site file: TOML, read strictly, with everything that is wrong told at once.

mod build;
pub mod draft;
pub mod keys;
mod reader;
mod redacted;
pub mod report;
mod values;

use std::path::{Path, PathBuf};

use self::reader::Reader;
use self::report::{Problem, SiteErrors};
use self::values::Base;
use super::model::Site;
use super::text::printable;
use super::user_config::UserConfig;

/// Larger files are not read: a site file has a few kilobytes.
const MAX_BYTES: u64 = 1 << 20;

impl Site {
    /// Reads and checks the site file at `path`.
    ///
    /// # Errors
    /// Everything that is wrong with the file, or why it cannot be read.
    pub fn load(path: &Path) -> Result<Self, SiteErrors> {
        Self::parse(&text_at(path)?, path)
    }

    /// Checks `text`, which came from `path`. Relative paths in it start from the directory of `path`, `~/` from `HOME`.
    ///
    /// # Errors
    /// Everything that is wrong with the text.
    pub fn parse(text: &str, path: &Path) -> Result<Self, SiteErrors> {
        let mut reader = Reader::read(keys::SITE, text, path, base(path))?;
        let site = build::site(&mut reader);
        let mut site: Self = reader.finish(path, site)?;
        site.redacted = std::sync::Arc::from(redacted::redacted(text));
        Ok(site)
    }
}

/// Checks the user's `config.toml`.
pub(crate) fn read_user(text: &str, path: &Path) -> Result<UserConfig, SiteErrors> {
    let reader = Reader::read(keys::USER, text, path, base(path))?;
    let config = reader.fields.first().map(|fields| UserConfig {
        theme: fields.get("theme"),
        keymap: fields.get("keymap"),
        ascii: fields.get("ascii"),
        default_site: fields.get("default_site"),
    });
    reader.finish(path, config)
}

/// Reads `path`, which must be a regular file of UTF-8 text.
pub(crate) fn text_at(path: &Path) -> Result<String, SiteErrors> {
    let failed = |what: String, help: &str| SiteErrors::new(path, "", vec![Problem::new(what).help(help)], &[]);
    let unreadable = |error: std::io::Error| {
        let help = "check the path, its owner and its mode";
        failed(format!("the file cannot be read: {}", error.kind()), help)
    };
    let facts = std::fs::metadata(path).map_err(unreadable)?;
    if !facts.is_file() {
        return Err(failed("this is not a regular file".to_owned(), "give the path of a TOML file"));
    }
    if facts.len() > MAX_BYTES {
        return Err(failed(format!("the file has {} bytes", facts.len()), "a site file has a few kilobytes"));
    }
    let bytes = std::fs::read(path).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|error| {
        let line =
            error.as_bytes().iter().take(error.utf8_error().valid_up_to()).filter(|byte| **byte == b'\n').count() + 1;
        failed(format!("line {line} is not UTF-8"), "save the file as UTF-8")
    })
}

/// Where paths in the file at `path` start from.
fn base(path: &Path) -> Base {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let dir = path.parent().map(Path::to_owned).unwrap_or_default();
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    Base { dir, home }
}

fn text_of(text: &str) -> String {
    // One line of a message, however long the text is.
    printable(text).chars().take(80).collect()
}

fn did_you_mean(word: &str) -> String {
    format!("did you mean `{word}`?")
}
