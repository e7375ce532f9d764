//! Keymaps: TOML layers that map keys to commands.
//!
//! A file names itself and its parent, and maps key sequences to command lines per [`Mode`]. What it does not mention
//! is its parent's; `[unbind]` takes a parent's binding away. Collisions are errors, never a matter of order.

mod keys;
mod load;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::terminal::input::Key;

pub use keys::{display, name, parse_sequence};
pub use load::{EMBEDDED, load};

/// What has the keys: a binding counts in one mode only, or [`Mode::Everywhere`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// In every mode, after its own bindings; under an overlay only what leaves or redraws.
    Everywhere,
    /// Full-width lists.
    List,
    /// The board and its panes.
    Board,
    /// Text screens.
    Text,
    /// Menus and help.
    Overlay,
    /// Text fields: letters are text there.
    Field,
}

impl Mode {
    /// All, in the order of the files.
    pub const ALL: [Self; 6] = [Self::Everywhere, Self::List, Self::Board, Self::Text, Self::Overlay, Self::Field];

    /// Name of its table in a keymap file.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Everywhere => "everywhere",
            Self::List => "list",
            Self::Board => "board",
            Self::Text => "text",
            Self::Overlay => "overlay",
            Self::Field => "field",
        }
    }
}

/// A key sequence and the command line it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// Keys, one or more.
    pub keys: Vec<Key>,
    /// Command line, e.g. `go tenants`; its command exists.
    pub line: String,
}

/// A keymap in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keymap {
    /// Its name.
    pub name: String,
    /// Bindings by mode, parents merged in.
    pub modes: BTreeMap<Mode, Vec<Binding>>,
}

impl Default for Keymap {
    /// The embedded default keymap.
    fn default() -> Self {
        load("default", &[]).unwrap_or_else(|_| Self { name: "default".to_owned(), modes: BTreeMap::new() })
    }
}

/// What a sequence of keys leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found<'a> {
    /// Nothing.
    Nothing,
    /// More keys are awaited.
    Prefix,
    /// A command line.
    Line(&'a str),
}

impl Keymap {
    /// Bindings that count in `mode`: its own, then those of everywhere that it does not override.
    pub fn bindings(&self, mode: Mode) -> impl Iterator<Item = &Binding> {
        let own: &[Binding] = self.modes.get(&mode).map_or(&[], Vec::as_slice);
        let everywhere = if mode == Mode::Everywhere { None } else { self.modes.get(&Mode::Everywhere) };
        let everywhere: &[Binding] = everywhere.map_or(&[], Vec::as_slice);
        own.iter().chain(everywhere.iter().filter(|b| !own.iter().any(|o| o.keys == b.keys)))
    }

    /// What `keys` lead to in `mode`.
    #[must_use]
    pub fn find(&self, mode: Mode, keys: &[Key]) -> Found<'_> {
        let mut found = Found::Nothing;
        for binding in self.bindings(mode) {
            if binding.keys == keys {
                return Found::Line(&binding.line);
            }
            if binding.keys.starts_with(keys) {
                found = Found::Prefix;
            }
        }
        found
    }

    /// Every key sequence in force for the command line `line` in `mode`.
    pub fn keys_of<'a>(&'a self, mode: Mode, line: &'a str) -> impl Iterator<Item = &'a [Key]> {
        self.bindings(mode).filter(move |b| b.line == line).map(|b| b.keys.as_slice())
    }

    /// The first of them as it is shown, e.g. `g t`; `None` when there is none.
    #[must_use]
    pub fn key_for(&self, mode: Mode, line: &str, ascii: bool) -> Option<String> {
        self.keys_of(mode, line).next().map(|keys| display(keys, ascii))
    }
}
