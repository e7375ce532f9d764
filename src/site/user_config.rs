//! The user's own preferences, `config.toml`. The program reads the file and never writes it.

use std::path::Path;

use super::file::report::SiteErrors;
use super::file::{read_user, text_at};

/// Preferences; what is `None` is left to the program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserConfig {
    /// Name of a theme.
    pub theme: Option<String>,
    /// Name of a keymap.
    pub keymap: Option<String>,
    /// Draw with ASCII characters only.
    pub ascii: Option<bool>,
    /// Site to open when none is named.
    pub default_site: Option<String>,
}

impl UserConfig {
    /// Reads the file at `path`; a file that does not exist says nothing.
    ///
    /// # Errors
    /// Everything that is wrong with the file, or why it cannot be read.
    pub fn load(path: &Path) -> Result<Self, SiteErrors> {
        if path.try_exists().is_ok_and(|exists| !exists) {
            return Ok(Self::default());
        }
        Self::parse(&text_at(path)?, path)
    }

    /// Checks `text`, which came from `path`.
    ///
    /// # Errors
    /// Everything that is wrong with the text.
    pub fn parse(text: &str, path: &Path) -> Result<Self, SiteErrors> {
        read_user(text, path)
    }
}
