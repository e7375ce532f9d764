//! Keys and their names: `g`, `G`, `ctrl-c`, `enter`, `alt-f5`.

use std::{fmt, str::FromStr};

/// A key without its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum KeyCode {
    /// A character as typed: shift is already in it.
    Char(char),
    Enter,
    Esc,
    Tab,
    /// Shift and tab.
    BackTab,
    Backspace,
    Delete,
    Insert,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    /// A function key, 1–24.
    F(u8),
}

/// A key with its modifiers, in normal form ([`Key::normal`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Which key.
    pub code: KeyCode,
    /// Control is held.
    pub ctrl: bool,
    /// Alt is held.
    pub alt: bool,
    /// Shift is held; never set for characters and [`KeyCode::BackTab`], which contain it.
    pub shift: bool,
}

/// A text that names no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} names no key")]
pub struct KeyError {
    text: String,
}

impl KeyError {
    /// What a key name looks like.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        "write one character (g, G, ?) or enter, esc, tab, backtab, space, backspace, delete, insert, up, down, left, \
         right, home, end, pgup, pgdn, f1 to f24, with ctrl-, alt- or shift- before it"
    }
}

/// The named keys; the first name of each is the one printed.
const NAMES: [(&str, KeyCode); 22] = [
    ("enter", KeyCode::Enter),
    ("return", KeyCode::Enter),
    ("esc", KeyCode::Esc),
    ("escape", KeyCode::Esc),
    ("tab", KeyCode::Tab),
    ("backtab", KeyCode::BackTab),
    ("space", KeyCode::Char(' ')),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("del", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pgup", KeyCode::PageUp),
    ("pageup", KeyCode::PageUp),
    ("pgdn", KeyCode::PageDown),
    ("pagedown", KeyCode::PageDown),
    ("minus", KeyCode::Char('-')),
];

impl Key {
    /// The key alone.
    #[must_use]
    pub const fn new(code: KeyCode) -> Self {
        Self { code, ctrl: false, alt: false, shift: false }
    }

    /// A character alone.
    #[must_use]
    pub const fn char(c: char) -> Self {
        Self::new(KeyCode::Char(c))
    }

    /// Control and a character.
    #[must_use]
    pub const fn ctrl(c: char) -> Self {
        Self { ctrl: true, ..Self::char(c) }
    }

    /// The one form of this key: terminals report shift in different ways, and control hides the case of letters.
    #[must_use]
    pub fn normal(mut self) -> Self {
        match self.code {
            KeyCode::Char(c) if self.ctrl => self.code = KeyCode::Char(single(c.to_lowercase(), c)),
            KeyCode::Char(c) if self.shift => self.code = KeyCode::Char(single(c.to_uppercase(), c)),
            KeyCode::Tab if self.shift => self.code = KeyCode::BackTab,
            _ => {}
        }
        self.shift &= !matches!(self.code, KeyCode::Char(_) | KeyCode::BackTab);
        self
    }

    /// The character to insert into a text field, if this key types one.
    #[must_use]
    pub const fn typed(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if !self.ctrl && !self.alt => Some(c),
            _ => None,
        }
    }
}

/// The other case of a character, where that is one character too.
fn single(mut cased: impl Iterator<Item = char>, c: char) -> char {
    match (cased.next(), cased.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (held, name) in [(self.ctrl, "ctrl-"), (self.alt, "alt-"), (self.shift, "shift-")] {
            if held {
                f.write_str(name)?;
            }
        }
        match (NAMES.iter().find(|(_, code)| *code == self.code), self.code) {
            // Alone, a hyphen reads well; after a modifier it needs its name.
            (_, KeyCode::Char('-')) if !(self.ctrl || self.alt) => f.write_str("-"),
            (Some((name, _)), _) => f.write_str(name),
            (None, KeyCode::F(n)) => write!(f, "f{n}"),
            (None, KeyCode::Char(c)) => write!(f, "{c}"),
            (None, _) => Err(fmt::Error),
        }
    }
}

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let error = || KeyError { text: text.to_owned() };
        let mut key = Self::char('\0');
        let mut rest = text;
        while let Some((modifier, after)) = rest.split_once('-').filter(|(before, after)| {
            // A hyphen alone, or the last one, is the key itself.
            !before.is_empty() && !after.is_empty()
        }) {
            let held = match modifier.to_ascii_lowercase().as_str() {
                "ctrl" | "c" => &mut key.ctrl,
                "alt" | "a" | "m" => &mut key.alt,
                "shift" | "s" => &mut key.shift,
                _ => return Err(error()),
            };
            if std::mem::replace(held, true) {
                return Err(error());
            }
            rest = after;
        }
        key.code = code(rest).ok_or_else(error)?;
        Ok(key.normal())
    }
}

fn code(name: &str) -> Option<KeyCode> {
    let mut chars = name.chars();
    if let (Some(c), None) = (chars.next(), chars.next()) {
        return (!c.is_control() && !c.is_whitespace()).then_some(KeyCode::Char(c));
    }
    let lower = name.to_ascii_lowercase();
    if let Some((_, code)) = NAMES.iter().find(|(known, _)| *known == lower) {
        return Some(*code);
    }
    let number = lower.strip_prefix('f')?.parse().ok()?;
    (1..=24).contains(&number).then_some(KeyCode::F(number))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_read_and_printed() {
        for name in
            ["g", "G", "?", "-", "ctrl-c", "ctrl-minus", "alt-x", "ctrl-alt-del", "shift-up", "f1", "alt-f12", "space"]
        {
            let printed = name.parse::<Key>().unwrap().to_string();
            assert_eq!(printed, name.replace("del", "delete"));
        }
        for (name, printed) in
            [("Ctrl-C", "ctrl-c"), ("shift-g", "G"), ("shift-tab", "backtab"), ("PageDown", "pgdn"), ("ESC", "esc")]
        {
            assert_eq!(name.parse::<Key>().unwrap().to_string(), printed);
        }
        assert_eq!("ctrl-l".parse(), Ok(Key::ctrl('l')));
    }

    #[test]
    fn what_names_no_key_is_refused() {
        for name in ["", " ", "f0", "f25", "hyper-x", "ctrl-", "ctrl-ctrl-x", "gg", "\x1b", "entr"] {
            let error = name.parse::<Key>().expect_err(name);
            assert!(error.to_string().contains("names no key") && error.help().contains("backtab"));
        }
    }

    #[test]
    fn only_plain_characters_are_typed() {
        assert_eq!(Key::char('ß').typed(), Some('ß'));
        assert_eq!(Key::ctrl('a').typed(), None);
        assert_eq!(Key::new(KeyCode::Enter).typed(), None);
    }

    fn any_key() -> impl Strategy<Value = Key> {
        let code = prop_oneof![
            "[!-~§ä日]".prop_map(|s| KeyCode::Char(s.chars().next().unwrap())),
            prop::sample::select(NAMES.to_vec()).prop_map(|(_, code)| code),
            (1u8..=24).prop_map(KeyCode::F),
        ];
        (code, any::<(bool, bool, bool)>())
            .prop_map(|(code, (ctrl, alt, shift))| Key { code, ctrl, alt, shift }.normal())
    }

    proptest! {
        #[test]
        fn every_key_survives_being_printed_and_read(key in any_key()) {
            prop_assert_eq!(key.to_string().parse::<Key>(), Ok(key));
            prop_assert_eq!(key.normal(), key);
        }

        #[test]
        fn no_text_breaks_the_parser(text in "\\PC{0,12}|[a-z-]{0,12}") {
            let _ = text.parse::<Key>();
        }
    }
}
