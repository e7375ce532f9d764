//! Roles, themes and glyphs. The code names roles; a theme file maps them; capability decides what remains.

use ratatui::style::Style;

use crate::inventory::Class;

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

/// Theme and glyph set in force: all the view needs to know of looks.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// Name of the theme.
    pub theme: String,
    /// Role → style, resolved for the terminal's capabilities.
    pub styles: std::collections::BTreeMap<Role, Style>,
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

/// A glyph set. Every glyph is one cell wide.
#[derive(Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "one field a row of the glyph table in screens.md")]
pub struct Glyphs {
    pub ascii: bool,
    pub fine: &'static str,
    pub warning: &'static str,
    pub fault: &'static str,
    pub progress: &'static str,
    pub pending: &'static str,
    pub absent: &'static str,
    pub differs: &'static str,
    pub unknown: &'static str,
    pub not_run: &'static str,
    pub info: &'static str,
    pub source_fresh: &'static str,
    pub source_stale: &'static str,
    pub source_failed: &'static str,
    pub source_denied: &'static str,
    pub source_off: &'static str,
    pub cursor: &'static str,
    pub mark: &'static str,
    pub more: &'static str,
    pub path: &'static str,
    pub input: &'static str,
    pub horizontal: &'static str,
    pub vertical: &'static str,
    pub corners: [&'static str; 4],
    pub trend: [&'static str; 8],
    pub dash: &'static str,
    pub dot: &'static str,
    pub arrow: &'static str,
}

impl Glyphs {
    /// Glyph of `class`.
    #[must_use]
    pub const fn of(&self, class: Class) -> &'static str {
        match class {
            Class::Fine => self.fine,
            Class::Info => self.info,
            Class::Absent => self.absent,
            Class::NotRun => self.not_run,
            Class::Unknown => self.unknown,
            Class::Progress => self.progress,
            Class::Pending => self.pending,
            Class::Differs => self.differs,
            Class::Warning => self.warning,
            Class::Fault => self.fault,
        }
    }
}

/// Unicode set.
pub static UNICODE: Glyphs = Glyphs {
    ascii: false,
    fine: "✓",
    warning: "!",
    fault: "✗",
    progress: "…",
    pending: "»",
    absent: "–",
    differs: "≠",
    unknown: "?",
    not_run: "◇",
    info: "i",
    source_fresh: "●",
    source_stale: "◐",
    source_failed: "✗",
    source_denied: "⊘",
    source_off: "○",
    cursor: "▸",
    mark: "+",
    more: "…",
    path: "›",
    input: "▏",
    horizontal: "─",
    vertical: "│",
    corners: ["┌", "┐", "└", "┘"],
    trend: ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
    dash: "–",
    dot: "·",
    arrow: "→",
};

/// ASCII set.
pub static ASCII: Glyphs = Glyphs {
    ascii: true,
    fine: "+",
    warning: "!",
    fault: "X",
    progress: ".",
    pending: "p",
    absent: "-",
    differs: "#",
    unknown: "?",
    not_run: "o",
    info: "i",
    source_fresh: "+",
    source_stale: "~",
    source_failed: "X",
    source_denied: "/",
    source_off: "-",
    cursor: ">",
    mark: "*",
    more: "~",
    path: ">",
    input: "_",
    horizontal: "-",
    vertical: "|",
    corners: ["+", "+", "+", "+"],
    trend: ["0", "1", "2", "3", "4", "5", "6", "7"],
    dash: "-",
    dot: ",",
    arrow: ">",
};
