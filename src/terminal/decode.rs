//! From the bytes of a terminal to events.
//!
//! Fed with whatever arrived, in pieces of any size, and never waiting: what is incomplete stays until the rest comes
//! or [`Decoder::pause`] says that none did. Sequences that mean nothing here are dropped whole; no part of one ever
//! becomes a key (xterm "Control Sequences"; kitty "Comprehensive keyboard handling").

use std::collections::VecDeque;

use super::{
    input::{Button, Input, Mouse, MouseKind},
    key::{Key, KeyCode},
};
use crate::text;

/// The most text of one paste that is kept, in bytes; the rest of it is dropped.
const MAX_PASTE: usize = 1 << 20;
/// The longest control sequence that is understood; longer ones are dropped.
const MAX_SEQUENCE: usize = 64;
const ESC: u8 = 0x1b;
const PASTE_START: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

/// What was begun and not ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum State {
    #[default]
    Ground,
    /// Parts of a character; whether `alt` is held.
    Utf8(Vec<u8>, bool),
    Escape,
    /// Parameters of a control sequence.
    Control(Vec<u8>),
    /// `ESC O`.
    Single,
    /// `ESC [ [`, function keys of the Linux console.
    Linux,
    /// A click in the oldest form: three bytes follow.
    Click(Vec<u8>),
    /// A control string up to its terminator: its first byte, whether anything else came, whether `ESC` was last.
    Text(u8, bool, bool),
    /// Pasted text; whether its end mark came. What follows the mark at once is pasted text too: the clipboard may hold
    /// an end mark of its own, which not every terminal takes out, and what lies behind it must not become keys.
    Paste(Vec<u8>, bool),
}

/// What the decoder waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    /// Nothing: all bytes are events.
    Nothing,
    /// The next byte tells whether `esc` was pressed or a sequence began.
    Key,
    /// The rest of a sequence or a paste.
    Rest,
    /// Silence behind the end mark of a paste.
    PasteOver,
}

/// See the module documentation.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    state: State,
    /// Bytes of a paste since the last pause.
    since: usize,
}

impl Decoder {
    /// Takes bytes in and adds the events that they complete.
    pub fn feed(&mut self, bytes: &[u8], out: &mut VecDeque<Input>) {
        for &byte in bytes {
            self.byte(byte, out);
        }
    }

    /// Whether, and for what, [`Decoder::pause`] is to be called when nothing more comes.
    pub fn waiting(&self) -> Waiting {
        match &self.state {
            State::Ground => Waiting::Nothing,
            State::Escape | State::Single | State::Text(_, false, false) => Waiting::Key,
            State::Control(parameters) if parameters.is_empty() => Waiting::Key,
            State::Paste(_, true) => Waiting::PasteOver,
            _ => Waiting::Rest,
        }
    }

    /// Nothing came for a while: what could be a key is one, what is cut off is dropped. A paste whose end mark came is
    /// over. One without goes on, unless a single `esc` or `ctrl-c` was typed into it: its end was lost.
    pub fn pause(&mut self, out: &mut VecDeque<Input>) {
        let waiting = self.waiting();
        match std::mem::take(&mut self.state) {
            State::Paste(text, true) => paste(&text, out),
            State::Paste(mut text, false) => match text.pop() {
                Some(typed @ (ESC | 0x03)) if self.since == 1 => {
                    paste(&text, out);
                    out.push_back(Input::Key(control(typed)));
                }
                last => {
                    text.extend(last);
                    self.since = 0;
                    self.state = State::Paste(text, false);
                }
            },
            State::Escape => out.push_back(Input::Key(Key::new(KeyCode::Esc))),
            State::Single => push_alt('O', out),
            State::Control(_) if waiting == Waiting::Key => push_alt('[', out),
            State::Text(first, false, false) => push_alt(char::from(first), out),
            _ => {}
        }
    }

    /// Forgets what was begun: the terminal belonged to somebody else.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    fn byte(&mut self, byte: u8, out: &mut VecDeque<Input>) {
        self.state = match (std::mem::take(&mut self.state), byte) {
            (State::Paste(text, ended), _) => {
                self.since += 1;
                in_paste(text, ended, byte)
            }
            (State::Text(_, _, true), b'\\') | (State::Text(..), 0x07) => State::Ground,
            (State::Text(_, _, true), _) => {
                // Not the terminator: the string was cut off, and something new began.
                self.state = State::Escape;
                return self.byte(byte, out);
            }
            (State::Text(first, _, _), _) => State::Text(first, true, byte == ESC),
            (State::Click(mut at), 0x20..) => {
                at.push(byte);
                if at.len() == 3 {
                    out.extend(old_click(&at).map(Input::Mouse));
                    State::Ground
                } else {
                    State::Click(at)
                }
            }
            (State::Ground, ESC) => State::Escape,
            (State::Escape, ESC) => {
                out.push_back(Input::Key(Key::new(KeyCode::Esc)));
                State::Escape
            }
            (_, ESC) => State::Escape,
            (State::Ground, _) => plain(byte, false, out),
            (State::Utf8(mut bytes, alt), 0x80..=0xbf) => {
                bytes.push(byte);
                character(bytes, alt, out)
            }
            (State::Escape, b'[') => State::Control(Vec::new()),
            (State::Escape, b'O') => State::Single,
            (State::Escape, b']' | b'P' | b'_' | b'^' | b'X') => State::Text(byte, false, false),
            (State::Escape, _) => plain(byte, true, out),
            (State::Control(parameters), b'[') if parameters.is_empty() => State::Linux,
            (State::Control(parameters), b'M') if parameters.is_empty() => State::Click(Vec::new()),
            (State::Control(mut parameters), 0x20..=0x3f) => {
                if parameters.len() < MAX_SEQUENCE {
                    parameters.push(byte);
                }
                State::Control(parameters)
            }
            (State::Control(parameters), 0x40..=0x7e) => {
                self.since = 0;
                control_sequence(&parameters, byte, out)
            }
            // Parameters come before the letter in some old terminals.
            (State::Single, b'0'..=b'9' | b';') => State::Single,
            (State::Single, 0x40..=0x7e) => {
                out.extend(single(byte).map(Input::Key));
                State::Ground
            }
            (State::Linux, b'A'..=b'E') => {
                out.push_back(Input::Key(Key::new(KeyCode::F(byte - b'A' + 1))));
                State::Ground
            }
            (State::Linux, 0x20..=0x7e) => State::Ground,
            // What was begun is broken off; this byte begins anew.
            _ => plain(byte, false, out),
        };
    }
}

fn push_alt(c: char, out: &mut VecDeque<Input>) {
    out.push_back(Input::Key(Key { alt: true, ..Key::char(c) }));
}

/// A byte outside of sequences.
fn plain(byte: u8, alt: bool, out: &mut VecDeque<Input>) -> State {
    match byte {
        0x00..=0x1f | 0x7f => out.push_back(Input::Key(Key { alt, ..control(byte) })),
        0x20..=0x7e => out.push_back(Input::Key(Key { alt, ..Key::char(char::from(byte)) })),
        0xc2..=0xf4 => return State::Utf8(vec![byte], alt),
        _ => {}
    }
    State::Ground
}

/// A control character as the key that sends it (ECMA-48 §5.2; terminals send carriage return for enter).
fn control(byte: u8) -> Key {
    match byte {
        0x00 => Key::ctrl(' '),
        0x08 | 0x7f => Key::new(KeyCode::Backspace),
        b'\t' => Key::new(KeyCode::Tab),
        b'\r' | b'\n' => Key::new(KeyCode::Enter),
        ESC => Key::new(KeyCode::Esc),
        0x01..=0x1a => Key::ctrl(char::from(byte + 0x60)),
        _ => Key::ctrl(char::from((byte & 0x1f) + 0x40)),
    }
}

/// The character, once all its bytes are there.
fn character(bytes: Vec<u8>, alt: bool, out: &mut VecDeque<Input>) -> State {
    match std::str::from_utf8(&bytes) {
        Ok(text) => {
            let typed = text.chars().filter(|c| !c.is_control());
            out.extend(typed.map(|c| Input::Key(Key { alt, ..Key::char(c) })));
            State::Ground
        }
        Err(error) if error.error_len().is_none() => State::Utf8(bytes, alt),
        Err(_) => State::Ground,
    }
}

fn in_paste(mut text: Vec<u8>, ended: bool, byte: u8) -> State {
    text.push(byte);
    let again = ended && text.ends_with(PASTE_START);
    if again || text.ends_with(PASTE_END) {
        text.truncate(text.len() - PASTE_END.len());
        return State::Paste(text, !again);
    }
    // Beyond the limit only what may be the end mark is kept, at the end.
    if text.len() > MAX_PASTE + 2 * PASTE_END.len() {
        text.remove(MAX_PASTE);
    }
    State::Paste(text, ended)
}

fn paste(text: &[u8], out: &mut VecDeque<Input>) {
    let kept = text.get(..text.len().min(MAX_PASTE)).unwrap_or_default();
    out.push_back(Input::Paste(text::clean_lines(&String::from_utf8_lossy(kept))));
}

/// The numbers of a sequence; what follows a colon is finer detail.
fn numbers(parameters: &[u8]) -> Vec<u32> {
    let text = String::from_utf8_lossy(parameters);
    let first = |part: &str| part.split(':').next().and_then(|n| n.parse().ok());
    text.split(';').map(|part| first(part).unwrap_or(0)).collect()
}

fn control_sequence(parameters: &[u8], end: u8, out: &mut VecDeque<Input>) -> State {
    if parameters.len() >= MAX_SEQUENCE {
        return State::Ground;
    }
    let event = match (parameters, end) {
        (b"200", b'~') => return State::Paste(Vec::new(), false),
        (b"", b'I') => Some(Input::FocusGained),
        (b"", b'O') => Some(Input::FocusLost),
        ([b'<', click @ ..], b'M' | b'm') => sgr_click(&numbers(click), end == b'm').map(Input::Mouse),
        ([first, ..], _) if !first.is_ascii_digit() => None,
        _ if released(parameters) => None,
        _ => key_sequence(&numbers(parameters), end).map(Input::Key),
    };
    out.extend(event);
    State::Ground
}

/// Whether the second parameter says that a key was let go (`modifiers:3`).
fn released(parameters: &[u8]) -> bool {
    let kind = parameters.split(|b| *b == b';').nth(1).and_then(|part| part.split(|b| *b == b':').nth(1));
    kind == Some(b"3")
}

fn key_sequence(numbers: &[u32], end: u8) -> Option<Key> {
    let at = |i: usize| numbers.get(i).copied().unwrap_or(0);
    let (code, modifiers) = match end {
        b'~' if at(0) == 27 => (unicode(at(2))?, at(1)),
        b'~' => (numbered(at(0))?, at(1)),
        b'u' => (unicode(at(0))?, at(1)),
        b'Z' => (KeyCode::BackTab, at(1)),
        _ if at(0) > 1 => return None,
        _ => (lettered(end)?, at(1)),
    };
    with_modifiers(code, modifiers)
}

/// 1 and the sum of shift 1, alt 2, control 4. Keys of the window system (8, 16, 32) are not ours; locks (64, 128) do
/// not matter.
fn with_modifiers(code: KeyCode, modifiers: u32) -> Option<Key> {
    let held = modifiers.saturating_sub(1);
    let key = Key { code, shift: held & 1 != 0, alt: held & 2 != 0, ctrl: held & 4 != 0 };
    (held & 0b11_1000 == 0).then(|| key.normal())
}

/// The last letter of `ESC [` and `ESC O` sequences.
const fn lettered(end: u8) -> Option<KeyCode> {
    Some(match end {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'H' => KeyCode::Home,
        b'F' => KeyCode::End,
        b'P'..=b'S' => KeyCode::F(end - b'P' + 1),
        _ => return None,
    })
}

/// `ESC O` and a letter: also the keypad in application mode.
fn single(end: u8) -> Option<Key> {
    let code = match end {
        b'M' => KeyCode::Enter,
        b'I' => KeyCode::Tab,
        b'X' => KeyCode::Char('='),
        b'j'..=b'y' => KeyCode::Char(char::from(end - b'j' + b'*')),
        _ => lettered(end)?,
    };
    Some(Key::new(code))
}

/// `ESC [ number ~`.
fn numbered(number: u32) -> Option<KeyCode> {
    let function = |first: u32, f: u32| u8::try_from(number - first + f).ok().map(KeyCode::F);
    match number {
        1 | 7 => Some(KeyCode::Home),
        2 => Some(KeyCode::Insert),
        3 => Some(KeyCode::Delete),
        4 | 8 => Some(KeyCode::End),
        5 => Some(KeyCode::PageUp),
        6 => Some(KeyCode::PageDown),
        11..=15 => function(11, 1),
        17..=21 => function(17, 6),
        23..=26 => function(23, 11),
        28..=29 => function(28, 15),
        31..=34 => function(31, 17),
        _ => None,
    }
}

/// A key by its code point, or by a number of the private use area (kitty, "Functional key definitions").
fn unicode(code: u32) -> Option<KeyCode> {
    const KEYPAD: [KeyCode; 11] = [
        KeyCode::Left,
        KeyCode::Right,
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::PageUp,
        KeyCode::PageDown,
        KeyCode::Home,
        KeyCode::End,
        KeyCode::Insert,
        KeyCode::Delete,
        KeyCode::Enter,
    ];
    match code {
        9 => Some(KeyCode::Tab),
        13 | 57414 => Some(KeyCode::Enter),
        27 => Some(KeyCode::Esc),
        8 | 127 => Some(KeyCode::Backspace),
        57376..=57387 => u8::try_from(code - 57376 + 13).ok().map(KeyCode::F),
        57399..=57408 => char::from_digit(code - 57399, 10).map(KeyCode::Char),
        57409..=57413 => ".*/-+".chars().nth(usize::try_from(code - 57409).ok()?).map(KeyCode::Char),
        57417..=57427 => KEYPAD.get(usize::try_from(code - 57417).ok()?).copied(),
        0xe000..=0xf8ff => None,
        _ => char::from_u32(code).filter(|c| !c.is_control()).map(KeyCode::Char),
    }
}

/// `ESC [ < buttons ; column ; row`, both from 1.
fn sgr_click(numbers: &[u32], up: bool) -> Option<Mouse> {
    let [buttons, x, y] = numbers else { return None };
    let cell = |n: u32| u16::try_from(n.checked_sub(1)?).ok();
    mouse(*buttons, up, cell(*x)?, cell(*y)?)
}

/// `ESC [ M` and three bytes, each 32 more than it means.
fn old_click(bytes: &[u8]) -> Option<Mouse> {
    let [buttons, x, y] = bytes else { return None };
    let buttons = u32::from(buttons.checked_sub(32)?);
    let cell = |n: u8| n.checked_sub(33).map(u16::from);
    mouse(buttons, buttons & 3 == 3, cell(*x)?, cell(*y)?)
}

/// Buttons with shift 4, alt 8, control 16, movement 32 and wheel 64 (xterm, "Mouse Tracking").
fn mouse(buttons: u32, up: bool, x: u16, y: u16) -> Option<Mouse> {
    let button = match buttons & 3 {
        0 => Button::Left,
        1 => Button::Middle,
        2 => Button::Right,
        // The oldest form does not say which button was let go.
        _ if up => Button::Left,
        _ => return None,
    };
    let kind = match buttons & 0b1110_0000 {
        0 if up => MouseKind::Up(button),
        0 => MouseKind::Down(button),
        32 => MouseKind::Drag(button),
        64 if buttons & 3 == 0 => MouseKind::ScrollUp,
        64 if buttons & 3 == 1 => MouseKind::ScrollDown,
        _ => return None,
    };
    Some(Mouse { kind, x, y, shift: buttons & 4 != 0, alt: buttons & 8 != 0, ctrl: buttons & 16 != 0 })
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
