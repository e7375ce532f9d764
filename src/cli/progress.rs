//! How far a check has come, in one line on a terminal's stderr; nothing where stderr is no terminal.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;

use super::print;
use crate::console::widgets::format::plural;
use crate::diagnose::collect::Tell;
use crate::diagnose::parts::Part;
use crate::text;

/// Columns of the line: it must not wrap, or it could not be taken back.
const WIDTH: usize = 79;

/// Tells of every answer.
pub(super) fn tell() -> Tell {
    let shown = std::io::stderr().is_terminal();
    Arc::new(move |count, open| {
        if shown {
            write(&line(count, open));
        }
    })
}

/// Takes the line back.
pub(super) fn end() {
    if std::io::stderr().is_terminal() {
        write("");
    }
}

/// A line that cannot be written is no loss.
fn write(line: &str) {
    let mut err = std::io::stderr().lock();
    let _ = write!(err, "\r\x1b[K{line}").and_then(|()| err.flush());
}

fn line(count: usize, open: &[Part]) -> String {
    let mut who: Vec<String> = open.iter().map(Part::who).collect();
    who.dedup();
    let waiting = if who.is_empty() { String::new() } else { format!(" · waiting for {}", who.join(", ")) };
    let all = format!("{}{waiting}", plural(count, "answer"));
    let charset = if print::glyphs().ascii { text::Charset::Ascii } else { text::Charset::Unicode };
    let plain = text::clean(&all).into_owned();
    let plain = if charset == text::Charset::Ascii { text::to_ascii(&plain).into_owned() } else { plain };
    text::cut(&plain, WIDTH, text::Cut::End, charset).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_says_what_came_and_who_is_awaited() {
        let open = [Part::Read("hv02".into()), Part::Perimeter];
        let text = line(7, &open);
        assert!(text.starts_with("7 answers") && text.contains("the exit node hv02, the firewall"), "{text}");
        assert_eq!(line(1, &[]), "1 answer");
        let many: Vec<Part> = (0..40).map(|n| Part::Tried(format!("node{n}"))).collect();
        assert!(text::width(&line(7, &many)) <= WIDTH);
    }
}
