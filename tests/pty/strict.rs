//! A reader of terminal output that knows only what the console's own layer writes, and refuses all else.

/// Private modes that the guard and the painter switch.
const MODES: [&str; 8] = ["25", "1000", "1002", "1004", "1006", "1049", "2004", "2026"];

/// Fails on the first thing that is neither harmless text nor a sequence that the console may write.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(bytes).map_err(|error| format!("not UTF-8: {error}"))?;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let len = match c {
            '\x1b' => sequence(rest).ok_or_else(|| near("sequence", text, rest))?,
            '\r' if rest.starts_with("\r\n") => 2,
            c if c.is_control() || is_format(c) => return Err(near("character", text, rest)),
            c => c.len_utf8(),
        };
        rest = &rest[len..];
    }
    Ok(())
}

fn near(what: &str, text: &str, rest: &str) -> String {
    let before: String = text[..text.len() - rest.len()].chars().rev().take(40).collect();
    let before: String = before.chars().rev().collect();
    let after: String = rest.chars().take(40).collect();
    format!("forbidden {what} {after:?} after {before:?}")
}

/// Bidirectional controls, zero-width and other invisible characters.
fn is_format(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The length of an allowed sequence at the start of `rest`.
fn sequence(rest: &str) -> Option<usize> {
    if let Some(title) = rest.strip_prefix("\x1b]2;") {
        let (end, close) = ["\x1b\\", "\x07"].iter().filter_map(|c| Some((title.find(c)?, c.len()))).min()?;
        check(&title.as_bytes()[..end]).ok()?;
        return Some("\x1b]2;".len() + end + close);
    }
    let body = rest.strip_prefix("\x1b[")?;
    let end = body.find(|c: char| matches!(c, '@'..='~'))?;
    let (parameters, kind) = (&body[..end], body.as_bytes()[end]);
    let numbers = parameters.chars().all(|c| c.is_ascii_digit() || c == ';');
    let allowed = match kind {
        b'm' | b'H' | b'C' | b'S' | b'T' | b'r' => numbers,
        b'K' => parameters.is_empty(),
        b'J' => parameters == "2",
        b'h' | b'l' => parameters.strip_prefix('?').is_some_and(|mode| MODES.contains(&mode)),
        b't' => matches!(parameters, "22;2" | "23;2"),
        _ => false,
    };
    allowed.then_some("\x1b[".len() + end + 1)
}
