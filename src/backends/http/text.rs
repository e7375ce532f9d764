//! Text from the other side is data: nothing in it may steer a terminal.

/// One line of safe text: control characters (line breaks and tabs too) become one space, bidirectional controls and
/// terminal escape sequences disappear, blanks at both ends are cut.
#[must_use]
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in strip(text) {
        if !c.is_control() {
            out.push(c);
        } else if !out.ends_with(' ') {
            out.push(' ');
        }
    }
    out.truncate(out.trim_end().len());
    let lead = out.len() - out.trim_start().len();
    out.drain(..lead);
    out
}

/// A block of safe text: like [`clean`], but line feeds and tabs stay and nothing is trimmed.
#[must_use]
pub fn clean_block(text: &str) -> String {
    strip(text).filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

/// Everything except escape sequences (ESC or CSI up to their final byte) and characters that reorder or hide text.
fn strip(text: &str) -> impl Iterator<Item = char> + '_ {
    let mut chars = text.chars().peekable();
    std::iter::from_fn(move || {
        loop {
            let c = chars.next()?;
            let csi = match c {
                '\u{1b}' => match chars.peek() {
                    Some('[') => chars.next().is_some(),
                    Some(_) => {
                        chars.next();
                        continue;
                    }
                    None => return None,
                },
                '\u{9b}' => true,
                _ => false,
            };
            if csi {
                while let Some(&parameter) = chars.peek() {
                    if !(' '..='~').contains(&parameter) {
                        break;
                    }
                    chars.next();
                    if ('@'..='~').contains(&parameter) {
                        break;
                    }
                }
                continue;
            }
            if !is_hidden(c) {
                return Some(c);
            }
        }
    })
}

/// Bidirectional controls, zero-width characters and the byte order mark.
fn is_hidden(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_escapes_and_bidi_do_not_survive() {
        assert_eq!(clean("a\u{1b}[31mred\u{1b}[0m\r\n\tb"), "ared b");
        assert_eq!(clean("x\u{202e}gnp.exe\u{2066}"), "xgnp.exe");
        assert_eq!(clean("\u{9b}2Jgone\u{7}"), "gone");
        assert_eq!(clean("  spaced\n"), "spaced");
        assert_eq!(clean("grüße → ok"), "grüße → ok");
        assert_eq!(clean("tail\u{1b}"), "tail");
    }

    #[test]
    fn blocks_keep_their_lines() {
        assert_eq!(clean_block("+a\n\tb\u{1b}[2J\r\n"), "+a\n\tb\n");
    }
}
