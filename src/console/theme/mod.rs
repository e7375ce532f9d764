//! Roles, themes and glyphs. The code names roles; a theme file maps them; capability decides what remains.

mod glyphs;
mod load;
mod resolve;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use ratatui::style::Style;

use super::file::{FileError, TextFile};
use crate::inventory::Class;

pub use glyphs::{ASCII, Glyphs, UNICODE};
pub use load::{Background, EMBEDDED, Ink, RoleStyle, Theme, parse};
pub use resolve::{nearest_16, nearest_256, resolve, rgb};

/// Colour roles (screens.md "Colour roles"). A theme maps each of them; code names nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are the roles of the theme files, documented there")]
pub enum Role {
    Text,
    Muted,
    Accent,
    Title,
    Border,
    BorderFocus,
    Selection,
    Match,
    Link,
    Input,
    SiteBand,
    ModeRead,
    ModeWrite,
    Ok,
    Info,
    Warn,
    Fault,
    Progress,
    Pending,
    Absent,
    Differs,
    Unknown,
    Denied,
    Stale,
    NotRun,
    Danger1,
    Danger2,
    Danger3,
    DiffAdd,
    DiffRemove,
    DiffChange,
}

impl Role {
    /// All.
    pub const ALL: [Self; 31] = [
        Self::Text,
        Self::Muted,
        Self::Accent,
        Self::Title,
        Self::Border,
        Self::BorderFocus,
        Self::Selection,
        Self::Match,
        Self::Link,
        Self::Input,
        Self::SiteBand,
        Self::ModeRead,
        Self::ModeWrite,
        Self::Ok,
        Self::Info,
        Self::Warn,
        Self::Fault,
        Self::Progress,
        Self::Pending,
        Self::Absent,
        Self::Differs,
        Self::Unknown,
        Self::Denied,
        Self::Stale,
        Self::NotRun,
        Self::Danger1,
        Self::Danger2,
        Self::Danger3,
        Self::DiffAdd,
        Self::DiffRemove,
        Self::DiffChange,
    ];

    /// Name in theme files.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Muted => "muted",
            Self::Accent => "accent",
            Self::Title => "title",
            Self::Border => "border",
            Self::BorderFocus => "border.focus",
            Self::Selection => "selection",
            Self::Match => "match",
            Self::Link => "link",
            Self::Input => "input",
            Self::SiteBand => "site.band",
            Self::ModeRead => "mode.read",
            Self::ModeWrite => "mode.write",
            Self::Ok => "ok",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Fault => "fault",
            Self::Progress => "progress",
            Self::Pending => "pending",
            Self::Absent => "absent",
            Self::Differs => "differs",
            Self::Unknown => "unknown",
            Self::Denied => "denied",
            Self::Stale => "stale",
            Self::NotRun => "notrun",
            Self::Danger1 => "danger.1",
            Self::Danger2 => "danger.2",
            Self::Danger3 => "danger.3",
            Self::DiffAdd => "diff.add",
            Self::DiffRemove => "diff.remove",
            Self::DiffChange => "diff.change",
        }
    }

    /// The role in which a state of `class` is drawn.
    #[must_use]
    pub const fn of(class: Class) -> Self {
        match class {
            Class::Fine => Self::Ok,
            Class::Info => Self::Info,
            Class::Absent => Self::Absent,
            Class::NotRun => Self::NotRun,
            Class::Unknown => Self::Unknown,
            Class::Progress => Self::Progress,
            Class::Pending => Self::Pending,
            Class::Differs => Self::Differs,
            Class::Warning => Self::Warn,
            Class::Fault => Self::Fault,
        }
    }
}

/// How many colours the terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// None: `NO_COLOR`, or a terminal without any.
    None,
    /// The 16 of the terminal's palette.
    Ansi16,
    /// The 256-colour palette.
    Ansi256,
    /// 24 bits.
    True,
}

/// Theme and glyph set in force: all the view needs to know of looks.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// Name of the theme.
    pub theme: String,
    /// What the terminal shows.
    pub depth: Depth,
    /// Role → style, resolved for the terminal's capabilities.
    pub styles: BTreeMap<Role, Style>,
    /// Glyphs.
    pub glyphs: &'static Glyphs,
}

impl Look {
    /// Style of `role`.
    #[must_use]
    pub fn style(&self, role: Role) -> Style {
        self.styles.get(&role).copied().unwrap_or_default()
    }
}

impl Default for Look {
    /// The embedded dark theme in 16 colours with Unicode glyphs.
    fn default() -> Self {
        load("dark", &[], Depth::Ansi16, false).unwrap_or_else(|_| Self {
            theme: "none".to_owned(),
            depth: Depth::None,
            styles: BTreeMap::new(),
            glyphs: &UNICODE,
        })
    }
}

/// The look of the theme called `name`: a file of that name among `files`, else the embedded one.
///
/// # Errors
/// What is wrong in the file, with line and column; or that there is no such theme.
pub fn load(name: &str, files: &[TextFile], depth: Depth, ascii: bool) -> Result<Look, FileError> {
    Ok(resolve(&load::find(name, files)?, depth, if ascii { &ASCII } else { &UNICODE }))
}

/// Every theme there is: the embedded ones, each replaced by the user's file of the same name, then the user's others.
///
/// # Errors
/// What is wrong in the first file that is wrong.
pub fn all(files: &[TextFile]) -> Result<Vec<Theme>, FileError> {
    let user = |name: &str| files.iter().any(|f| f.name == name);
    let own = EMBEDDED.iter().filter(|(n, _)| !user(n)).map(|(n, text)| TextFile::embedded("themes", n, text));
    own.chain(files.iter().cloned()).map(|file| parse(&file)).collect()
}
