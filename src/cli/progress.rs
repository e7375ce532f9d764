//! How far a check has come: in one line on a terminal's stderr; elsewhere a line for each part that is long awaited.

use std::future::Future;
use std::io::{IsTerminal as _, Write as _};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use super::{open, print};
use crate::console::widgets::format::plural;
use crate::diagnose::collect::{Sink, Tell};
use crate::diagnose::parts::Part;
use crate::text;

/// Columns of the line: it must not wrap, or it could not be taken back.
const WIDTH: usize = 79;

/// How long nothing is said where stderr is no terminal: most checks are done by then.
const QUIET: Duration = Duration::from_secs(3);

/// Awaits `work`, and says meanwhile which parts of `sink` it waits for, each once, where stderr is no terminal.
pub(super) async fn beside<T>(sink: &Sink, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    let mut said = Vec::new();
    loop {
        if let Ok(done) = tokio::time::timeout(QUIET, work.as_mut()).await {
            return done;
        }
        if !std::io::stderr().is_terminal() {
            awaited(&sink.open(), &mut said).iter().for_each(|line| open::note(line));
        }
    }
}

/// A line for each of `open` that is not among `said` yet.
fn awaited(open: &[Part], said: &mut Vec<Part>) -> Vec<String> {
    let new: Vec<Part> = open.iter().filter(|part| !said.contains(part)).cloned().collect();
    said.extend(new.iter().cloned());
    new.iter().map(|part| format!("waiting for {}", part.who())).collect()
}

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

    #[test]
    fn who_is_awaited_is_said_once() {
        let mut said = Vec::new();
        assert_eq!(awaited(&[Part::Fabric], &mut said), ["waiting for Proxmox VE"]);
        assert_eq!(awaited(&[Part::Fabric, Part::Perimeter], &mut said), ["waiting for the firewall"]);
        assert!(awaited(&[Part::Perimeter], &mut said).is_empty());
    }
}
