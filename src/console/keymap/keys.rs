//! Sequences of keys, as files write them and as screens show them.

use crate::console::file::did_you_mean;
use crate::terminal::input::{Key, KeyCode};

/// Names to suggest from.
const NAMES: [&str; 16] = [
    "enter",
    "esc",
    "tab",
    "backtab",
    "space",
    "backspace",
    "delete",
    "insert",
    "up",
    "down",
    "left",
    "right",
    "home",
    "end",
    "pgup",
    "pgdn",
];

/// Parses a sequence such as `g t`, `ctrl-c`, `space`, `pgdn`.
///
/// # Errors
/// The word that is no key, with the nearest name.
pub fn parse_sequence(text: &str) -> Result<Vec<Key>, (String, Option<String>)> {
    let key = |word: &str| {
        let unknown = |e: crate::terminal::KeyError| {
            let help = did_you_mean(word, NAMES).unwrap_or_else(|| e.help().to_owned());
            (format!("\"{word}\" is not a key"), Some(help))
        };
        word.parse::<Key>().map(Key::normal).map_err(unknown)
    };
    let keys: Vec<Key> = text.split_whitespace().map(key).collect::<Result<_, _>>()?;
    if keys.is_empty() {
        return Err(("an empty key sequence".to_owned(), Some("write e.g. \"g t\" or \"space\"".to_owned())));
    }
    Ok(keys)
}

/// A sequence as files write it.
#[must_use]
pub fn name(keys: &[Key]) -> String {
    keys.iter().map(Key::to_string).collect::<Vec<_>>().join(" ")
}

/// A sequence as screens show it.
#[must_use]
pub fn display(keys: &[Key], ascii: bool) -> String {
    let sign = |key: &Key| match (key.code, key.ctrl || key.alt || key.shift) {
        (KeyCode::Enter, false) if !ascii => "↵".to_owned(),
        (KeyCode::Up, false) if !ascii => "↑".to_owned(),
        (KeyCode::Down, false) if !ascii => "↓".to_owned(),
        (KeyCode::Left, false) if !ascii => "←".to_owned(),
        (KeyCode::Right, false) if !ascii => "→".to_owned(),
        (KeyCode::BackTab, false) => if ascii { "shift-tab" } else { "⇧tab" }.to_owned(),
        _ => key.to_string(),
    };
    keys.iter().map(sign).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back_as_itself() {
        for text in ["g t", "ctrl-c", "space", "pgdn", "backtab", "f5", "G", "-", "alt-x", "shift-left"] {
            let keys = parse_sequence(text).unwrap();
            assert_eq!(name(&keys), text);
        }
        for name in NAMES {
            assert!(parse_sequence(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn spellings_of_one_key_are_one_key() {
        assert_eq!(parse_sequence("shift-g"), parse_sequence("G"));
        assert_eq!(parse_sequence("shift-tab"), parse_sequence("backtab"));
    }

    #[test]
    fn an_unknown_key_is_named_with_its_neighbour() {
        let (what, help) = parse_sequence("g entre").unwrap_err();
        assert_eq!(what, "\"entre\" is not a key");
        assert_eq!(help.as_deref(), Some("did you mean \"enter\"?"));
    }
}
