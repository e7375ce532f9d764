//! What the operator does, as plain values.
//!
//! The rest of the console never sees the library that decodes the terminal. Keys come in one normal form: an upper
//! case letter instead of shift and a letter, `backtab` instead of shift-tab. What nobody can act on (releases, keys
//! that only modify) is dropped.

use std::{io, time::Duration};

use crossterm::event::{
    Event, EventStream, KeyCode as TermCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent,
    MouseEventKind,
};
use futures_util::StreamExt as _;

pub use super::key::{Key, KeyCode, KeyError};
use crate::text;

/// One event from the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A key was pressed, or repeats while held.
    Key(Key),
    /// The mouse was used.
    Mouse(Mouse),
    /// Text was pasted: harmless, with line feeds between lines. Never keys.
    Paste(String),
    /// The terminal has a new size in cells.
    Resize {
        /// Columns.
        width: u16,
        /// Rows.
        height: u16,
    },
    /// The terminal's window became the active one.
    FocusGained,
    /// Another window became the active one.
    FocusLost,
}

/// Where the mouse did what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mouse {
    /// What it did.
    pub kind: MouseKind,
    /// Column, from 0.
    pub x: u16,
    /// Row, from 0.
    pub y: u16,
    /// Control was held.
    pub ctrl: bool,
    /// Alt was held.
    pub alt: bool,
    /// Shift was held; most terminals keep that for their own selection.
    pub shift: bool,
}

/// What the mouse did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MouseKind {
    /// A button went down.
    Down(Button),
    /// A button was released.
    Up(Button),
    /// The mouse moved with a button held.
    Drag(Button),
    /// The wheel turned away from the operator.
    ScrollUp,
    /// The wheel turned towards the operator.
    ScrollDown,
}

/// A mouse button.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Button {
    Left,
    Middle,
    Right,
}

impl Input {
    /// Translates a terminal event; `None` for what nobody acts on.
    #[must_use]
    pub fn from_event(event: Event) -> Option<Self> {
        match event {
            Event::Key(key) => from_key(key).map(Self::Key),
            Event::Mouse(mouse) => from_mouse(mouse).map(Self::Mouse),
            Event::Paste(text) => Some(Self::Paste(text::clean_lines(&text))),
            Event::Resize(width, height) => Some(Self::Resize { width, height }),
            Event::FocusGained => Some(Self::FocusGained),
            Event::FocusLost => Some(Self::FocusLost),
        }
    }
}

fn from_key(event: KeyEvent) -> Option<Key> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    let code = match event.code {
        TermCode::Char(c) => KeyCode::Char(c),
        TermCode::Enter => KeyCode::Enter,
        TermCode::Esc => KeyCode::Esc,
        TermCode::Tab => KeyCode::Tab,
        TermCode::BackTab => KeyCode::BackTab,
        TermCode::Backspace => KeyCode::Backspace,
        TermCode::Delete => KeyCode::Delete,
        TermCode::Insert => KeyCode::Insert,
        TermCode::Up => KeyCode::Up,
        TermCode::Down => KeyCode::Down,
        TermCode::Left => KeyCode::Left,
        TermCode::Right => KeyCode::Right,
        TermCode::Home => KeyCode::Home,
        TermCode::End => KeyCode::End,
        TermCode::PageUp => KeyCode::PageUp,
        TermCode::PageDown => KeyCode::PageDown,
        TermCode::F(n) => KeyCode::F(n),
        // Control-space arrives as a zero byte from terminals that say nothing more precise.
        TermCode::Null => return Some(Key { ctrl: true, ..Key::new(KeyCode::Char(' ')) }),
        _ => return None,
    };
    let has = |modifier| event.modifiers.contains(modifier);
    let key =
        Key { code, ctrl: has(KeyModifiers::CONTROL), alt: has(KeyModifiers::ALT), shift: has(KeyModifiers::SHIFT) };
    Some(key.normal())
}

fn from_mouse(event: MouseEvent) -> Option<Mouse> {
    let kind = match event.kind {
        MouseEventKind::Down(button) => MouseKind::Down(from_button(button)),
        MouseEventKind::Up(button) => MouseKind::Up(from_button(button)),
        MouseEventKind::Drag(button) => MouseKind::Drag(from_button(button)),
        MouseEventKind::ScrollUp => MouseKind::ScrollUp,
        MouseEventKind::ScrollDown => MouseKind::ScrollDown,
        MouseEventKind::Moved | MouseEventKind::ScrollLeft | MouseEventKind::ScrollRight => return None,
    };
    let has = |modifier| event.modifiers.contains(modifier);
    Some(Mouse {
        kind,
        x: event.column,
        y: event.row,
        ctrl: has(KeyModifiers::CONTROL),
        alt: has(KeyModifiers::ALT),
        shift: has(KeyModifiers::SHIFT),
    })
}

const fn from_button(button: MouseButton) -> Button {
    match button {
        MouseButton::Left => Button::Left,
        MouseButton::Middle => Button::Middle,
        MouseButton::Right => Button::Right,
    }
}

/// How long [`Inputs::pause`] waits for the reader to let go of the terminal.
pub const PAUSE_LIMIT: Duration = Duration::from_millis(50);

/// The events of the terminal as they come.
#[derive(Debug, Default)]
pub struct Inputs {
    stream: Option<EventStream>,
}

impl Inputs {
    /// Starts to listen. Needs a tokio runtime from the first [`Inputs::next`] on.
    #[must_use]
    pub fn start() -> Self {
        Self { stream: Some(EventStream::new()) }
    }

    /// Stops reading the terminal, so that an editor gets every key. Takes [`PAUSE_LIMIT`] at most.
    pub fn pause(&mut self) {
        if self.stream.take().is_some() {
            // The library tells its reader to stop by a wake-up. Left over, it would hide a key that arrives with it
            // until the next one; and while the reader still runs, the editor would miss keys. This waits for both.
            let _ = crossterm::event::poll(PAUSE_LIMIT);
        }
    }

    /// Reads the terminal again.
    pub fn resume(&mut self) {
        self.stream.get_or_insert_with(EventStream::new);
    }

    /// The next event; while paused, none comes. `None` once the terminal is gone. Can be cancelled without loss.
    ///
    /// # Errors
    /// When the terminal cannot be read.
    pub async fn next(&mut self) -> Option<io::Result<Input>> {
        let Some(stream) = self.stream.as_mut() else { return std::future::pending().await };
        loop {
            match stream.next().await? {
                Err(error) => return Some(Err(error)),
                Ok(event) => {
                    if let Some(input) = Input::from_event(event) {
                        return Some(Ok(input));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(code: TermCode, modifiers: KeyModifiers) -> Option<String> {
        match Input::from_event(Event::Key(KeyEvent::new(code, modifiers)))? {
            Input::Key(key) => Some(key.to_string()),
            _ => None,
        }
    }

    #[test]
    fn keys_arrive_in_one_form_whatever_the_terminal_reports() {
        let none = KeyModifiers::NONE;
        assert_eq!(key(TermCode::Char('G'), KeyModifiers::SHIFT).unwrap(), "G");
        assert_eq!(key(TermCode::Char('g'), KeyModifiers::SHIFT).unwrap(), "G");
        assert_eq!(key(TermCode::Char('C'), KeyModifiers::CONTROL).unwrap(), "ctrl-c");
        assert_eq!(key(TermCode::BackTab, KeyModifiers::SHIFT).unwrap(), "backtab");
        assert_eq!(key(TermCode::Tab, KeyModifiers::SHIFT).unwrap(), "backtab");
        assert_eq!(key(TermCode::Char(' '), none).unwrap(), "space");
        assert_eq!(key(TermCode::Null, none).unwrap(), "ctrl-space");
        assert_eq!(key(TermCode::F(5), KeyModifiers::ALT).unwrap(), "alt-f5");
        assert_eq!(key(TermCode::CapsLock, none), None);
    }

    #[test]
    fn repeats_are_presses_and_releases_are_nothing() {
        let with = |kind| KeyEvent::new_with_kind(TermCode::Char('j'), KeyModifiers::NONE, kind);
        assert!(Input::from_event(Event::Key(with(KeyEventKind::Repeat))).is_some());
        assert_eq!(Input::from_event(Event::Key(with(KeyEventKind::Release))), None);
    }

    #[test]
    fn pasted_text_is_harmless_text() {
        let paste = Event::Paste("dy\r\nssh-ed25519 AAAA\x1b[201~y\u{202e}".into());
        assert_eq!(Input::from_event(paste), Some(Input::Paste("dy\nssh-ed25519 AAAA␛[201~y".into())));
    }

    #[test]
    fn mouse_movement_without_a_button_is_dropped() {
        let at = |kind| MouseEvent { kind, column: 7, row: 3, modifiers: KeyModifiers::CONTROL };
        assert_eq!(Input::from_event(Event::Mouse(at(MouseEventKind::Moved))), None);
        let wanted = Mouse { kind: MouseKind::ScrollDown, x: 7, y: 3, ctrl: true, alt: false, shift: false };
        assert_eq!(Input::from_event(Event::Mouse(at(MouseEventKind::ScrollDown))), Some(Input::Mouse(wanted)));
    }
}
