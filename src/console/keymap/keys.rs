//! Names of keys, as files write them and as screens show them.

use crate::terminal::input::{Key, KeyCode};

/// Named keys: name in files, code, sign on screen, sign in ASCII.
const NAMED: [(&str, KeyCode, &str, &str); 15] = [
    ("enter", KeyCode::Enter, "↵", "enter"),
    ("esc", KeyCode::Esc, "esc", "esc"),
    ("tab", KeyCode::Tab, "tab", "tab"),
    ("shift-tab", KeyCode::BackTab, "⇧tab", "shift-tab"),
    ("backspace", KeyCode::Backspace, "backspace", "backspace"),
    ("delete", KeyCode::Delete, "delete", "delete"),
    ("insert", KeyCode::Insert, "insert", "insert"),
    ("left", KeyCode::Left, "←", "left"),
    ("right", KeyCode::Right, "→", "right"),
    ("up", KeyCode::Up, "↑", "up"),
    ("down", KeyCode::Down, "↓", "down"),
    ("home", KeyCode::Home, "home", "home"),
    ("end", KeyCode::End, "end", "end"),
    ("pgup", KeyCode::PageUp, "pgup", "pgup"),
    ("pgdn", KeyCode::PageDown, "pgdn", "pgdn"),
];

/// A key without what its character already says: shift on a character, and `shift-tab` in its two spellings.
#[must_use]
pub fn normal(key: Key) -> Key {
    match key.code {
        KeyCode::Char(_) => Key { shift: false, ..key },
        KeyCode::Tab if key.shift => Key { code: KeyCode::BackTab, shift: false, ..key },
        KeyCode::BackTab => Key { shift: false, ..key },
        _ => key,
    }
}

/// Parses a sequence such as `g t`, `ctrl-c`, `space`, `pgdn`.
///
/// # Errors
/// The word that is no key, with the nearest name.
pub fn parse_sequence(text: &str) -> Result<Vec<Key>, (String, Option<String>)> {
    let keys: Result<Vec<Key>, _> = text.split_whitespace().map(parse_key).collect();
    match keys {
        Ok(keys) if keys.is_empty() => {
            Err(("an empty key sequence".to_owned(), Some("write e.g. \"g t\" or \"space\"".to_owned())))
        }
        other => other,
    }
}

fn parse_key(word: &str) -> Result<Key, (String, Option<String>)> {
    let (mut ctrl, mut alt, mut shift) = (false, false, false);
    let mut rest = word;
    loop {
        let (flag, tail) = match rest.split_once('-') {
            Some(("ctrl", tail)) => (&mut ctrl, tail),
            Some(("alt", tail)) => (&mut alt, tail),
            Some(("shift", tail)) => (&mut shift, tail),
            _ => break,
        };
        if tail.is_empty() {
            break;
        }
        *flag = true;
        rest = tail;
    }
    let mut one = rest.chars();
    let code = match (one.next(), one.next()) {
        (Some(c), None) if shift && c.is_alphabetic() => KeyCode::Char(c.to_uppercase().next().unwrap_or(c)),
        (Some(c), None) => KeyCode::Char(c),
        _ => named(rest).ok_or_else(|| unknown(word, rest))?,
    };
    Ok(normal(Key { code, ctrl, alt, shift }))
}

fn named(name: &str) -> Option<KeyCode> {
    if name == "space" {
        return Some(KeyCode::Char(' '));
    }
    if let Some(n) = name.strip_prefix('f').and_then(|n| n.parse::<u8>().ok()) {
        return (1..=12).contains(&n).then_some(KeyCode::F(n));
    }
    NAMED.iter().find(|(n, ..)| *n == name).map(|(_, code, ..)| *code)
}

fn unknown(word: &str, rest: &str) -> (String, Option<String>) {
    let names = NAMED.iter().map(|(n, ..)| *n).chain(["space"]);
    (format!("\"{word}\" is not a key"), super::super::file::did_you_mean(rest, names))
}

/// A sequence as files write it.
#[must_use]
pub fn name(keys: &[Key]) -> String {
    join(keys, |named| named.0)
}

/// A sequence as screens show it.
#[must_use]
pub fn display(keys: &[Key], ascii: bool) -> String {
    join(keys, if ascii { |named| named.3 } else { |named| named.2 })
}

type Named = (&'static str, KeyCode, &'static str, &'static str);

fn join(keys: &[Key], word: fn(&Named) -> &'static str) -> String {
    let mut out = String::new();
    for key in keys {
        if !out.is_empty() {
            out.push(' ');
        }
        for (on, prefix) in [(key.ctrl, "ctrl-"), (key.alt, "alt-"), (key.shift, "shift-")] {
            if on {
                out.push_str(prefix);
            }
        }
        match key.code {
            KeyCode::Char(' ') => out.push_str("space"),
            KeyCode::Char(c) => out.push(c),
            KeyCode::F(n) => out.push_str(&format!("f{n}")),
            code => out.push_str(NAMED.iter().find(|(_, c, ..)| *c == code).map_or("?", word)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back_as_itself() {
        for text in ["g t", "ctrl-c", "space", "pgdn", "shift-tab", "f5", "G", "-", "ctrl--", "alt-x", "shift-left"] {
            let keys = parse_sequence(text).unwrap();
            assert_eq!(name(&keys), text);
        }
    }

    #[test]
    fn shift_on_a_letter_is_the_capital() {
        assert_eq!(parse_sequence("shift-g"), parse_sequence("G"));
    }

    #[test]
    fn an_unknown_key_is_named_with_its_neighbour() {
        let (what, help) = parse_sequence("g entre").unwrap_err();
        assert_eq!(what, "\"entre\" is not a key");
        assert_eq!(help.as_deref(), Some("did you mean \"enter\"?"));
    }
}
