//! Keymaps: TOML layers that map keys to commands.

/// A keymap in force.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Keymap {
    /// Its name.
    pub name: String,
}
