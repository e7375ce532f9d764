//! Glyphs: what stands before a state, and what lines are made of. Every glyph is one cell wide.

use crate::inventory::Class;

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
