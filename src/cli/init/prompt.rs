//! Questions on stderr, answers from the terminal on stdin. Whatever ends a question, the terminal is as before.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, isatty, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use crate::site::Secret;
use crate::text;

/// How often a signal is looked for while nobody types.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// Longest answer, in bytes.
const LONGEST: usize = 64 * 1024;

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// The input ended.
    Eof,
    /// A signal of that number: ctrl-c is 2.
    Signal(u8),
    /// The terminal failed.
    Broken(io::ErrorKind),
}

/// Asks.
pub(super) struct Prompt {
    signal: Arc<AtomicUsize>,
    ahead: Zeroizing<Vec<u8>>,
}

/// Whether somebody can be asked: the answers come from a terminal, and the questions go to one.
pub(super) fn can_ask() -> bool {
    isatty(io::stdin()) && isatty(io::stderr())
}

/// The line settings, put back when this is dropped.
struct Quiet(Termios);

impl Quiet {
    /// Switches off the echo, and takes keys one by one, ctrl-c among them.
    fn enter() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG | LocalModes::IEXTEN);
        quiet.special_codes[SpecialCodeIndex::VMIN] = 1;
        quiet.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(io::stdin(), OptionalActions::Now, &quiet)?;
        Ok(Self(before))
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // A terminal that is gone has no settings.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

impl Prompt {
    /// From here on INT, TERM and HUP end a question instead of the process.
    pub(super) fn new() -> io::Result<Self> {
        let signal = Arc::new(AtomicUsize::new(0));
        for number in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
            let value = usize::try_from(number).unwrap_or(1);
            signal_hook::flag::register_usize(number, Arc::clone(&signal), value)?;
        }
        Ok(Self { signal, ahead: Zeroizing::default() })
    }

    /// Says something; foreign text in it steers nothing.
    #[expect(clippy::unused_self, reason = "only who asks talks")]
    pub(super) fn say(&self, text: &str) {
        // A closed stderr leaves nobody to tell; the next question finds out.
        let _ = writeln!(io::stderr(), "{}", text::clean_lines(text));
    }

    /// The signal that arrived, if one did.
    pub(super) fn ended(&self) -> Option<Ended> {
        match self.signal.load(Ordering::Relaxed) {
            0 => None,
            number => Some(Ended::Signal(u8::try_from(number).unwrap_or(1))),
        }
    }

    /// One line, without blanks at its ends; `default` where it is empty.
    pub(super) fn line(&mut self, question: &str, default: Option<&str>) -> Result<String, Ended> {
        let shown = default.map(|default| format!(" [{}]", text::clean(default))).unwrap_or_default();
        self.question(&format!("{}{shown}: ", text::clean(question)));
        loop {
            if let Some(line) = self.take_line() {
                let line = String::from_utf8_lossy(&line).trim().to_owned();
                return Ok(if line.is_empty() { default.unwrap_or_default().to_owned() } else { line });
            }
            if self.more()? == 0 {
                self.say("");
                return Err(Ended::Eof);
            }
        }
    }

    /// One line that is not shown.
    pub(super) fn hidden(&mut self, question: &str) -> Result<Secret, Ended> {
        let quiet = Quiet::enter().map_err(|e| Ended::Broken(e.kind()))?;
        self.question(&format!("{}: ", text::clean(question)));
        let typed = self.typed();
        drop(quiet);
        self.say("");
        typed.map(|bytes| Secret::new(String::from_utf8_lossy(&bytes).trim().to_owned()))
    }

    fn typed(&mut self) -> Result<Zeroizing<Vec<u8>>, Ended> {
        // Room for all of it, so that growing leaves no copies behind.
        let mut typed = Zeroizing::new(Vec::with_capacity(LONGEST));
        loop {
            if self.ahead.is_empty() && self.more()? == 0 {
                return Err(Ended::Eof);
            }
            let mut bytes = std::mem::take(&mut self.ahead);
            for (at, byte) in bytes.iter().enumerate() {
                match byte {
                    b'\r' | b'\n' => {
                        self.ahead.extend(bytes.get(at + 1..).unwrap_or_default());
                        return Ok(typed);
                    }
                    0x03 => return Err(Ended::Signal(2)),
                    0x04 if typed.is_empty() => return Err(Ended::Eof),
                    0x08 | 0x7f => drop(typed.pop()),
                    0x15 => typed.clear(),
                    byte if *byte >= b' ' && typed.len() < LONGEST => typed.push(*byte),
                    _ => {}
                }
            }
            bytes.clear();
        }
    }

    #[expect(clippy::unused_self, reason = "only who asks talks")]
    fn question(&self, text: &str) {
        let mut err = io::stderr();
        let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
    }

    fn take_line(&mut self) -> Option<Zeroizing<Vec<u8>>> {
        let end = self.ahead.iter().position(|byte| *byte == b'\n')?;
        let rest = Zeroizing::new(self.ahead.split_off(end + 1));
        Some(std::mem::replace(&mut self.ahead, rest))
    }

    /// Waits for input and takes what is there: how many bytes it was, 0 at the end of input.
    fn more(&mut self) -> Result<usize, Ended> {
        let stdin = io::stdin();
        let mut buffer = Zeroizing::new([0_u8; 4096]);
        loop {
            if let Some(ended) = self.ended() {
                self.say("");
                return Err(ended);
            }
            let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
            match poll(&mut fds, Some(&TICK)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => continue,
                Ok(_) => {}
                Err(errno) => return Err(Ended::Broken(io::Error::from(errno).kind())),
            }
            match rustix::io::read(&stdin, &mut *buffer) {
                Ok(n) if self.ahead.len() + n > LONGEST => return Err(Ended::Broken(io::ErrorKind::InvalidInput)),
                Ok(n) => {
                    self.ahead.extend(buffer.get(..n).unwrap_or_default());
                    return Ok(n);
                }
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                Err(errno) => return Err(Ended::Broken(io::Error::from(errno).kind())),
            }
        }
    }
}
