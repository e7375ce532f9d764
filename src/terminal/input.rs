//! Keys, mouse and paste as plain values.

/// A key with its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Code.
    pub code: KeyCode,
    /// Control held.
    pub ctrl: bool,
    /// Alt held.
    pub alt: bool,
    /// Shift held, for keys whose character does not already say so.
    pub shift: bool,
}

/// Key codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are the keys")]
pub enum KeyCode {
    Char(char),
    Enter,
    Esc,
    Tab,
    BackTab,
    Backspace,
    Delete,
    Insert,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    PageUp,
    PageDown,
    F(u8),
}

/// What the mouse did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum MouseKind {
    Down,
    Up,
    Drag,
    ScrollUp,
    ScrollDown,
}

/// A mouse button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum MouseButton {
    Left,
    Right,
    Middle,
}

/// One input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A key.
    Key(Key),
    /// The mouse.
    Mouse {
        /// What happened.
        kind: MouseKind,
        /// Button, where one is involved.
        button: Option<MouseButton>,
        /// Column, from 0.
        x: u16,
        /// Row, from 0.
        y: u16,
    },
    /// Bracketed paste.
    Paste(String),
    /// New size.
    Resize {
        /// Columns.
        w: u16,
        /// Rows.
        h: u16,
    },
    /// The window got the focus.
    FocusGained,
    /// The window lost it.
    FocusLost,
}
