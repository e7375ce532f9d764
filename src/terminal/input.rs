//! What the operator does, as plain values.
//!
//! Keys come in one normal form: an upper case letter instead of shift and a letter, `backtab` instead of shift-tab.
//! What nobody can act on (releases, keys that only modify) is dropped.

use std::{collections::VecDeque, io, os::fd::OwnedFd, pin::Pin, time::Duration};

use tokio::{
    io::AsyncReadExt as _,
    net::unix::pipe,
    time::{Sleep, sleep},
};

pub use super::key::{Key, KeyCode, KeyError};
use super::{
    decode::{Decoder, Waiting},
    error::TerminalError,
    tty::Tty,
};

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

/// How long the rest of a sequence may take after a byte that may also be a key. Sequences leave a terminal whole, so
/// that only a slow link parts them.
const KEY_PAUSE: Duration = Duration::from_millis(25);
/// How long the rest of what cannot be a key may take.
const REST_PAUSE: Duration = Duration::from_millis(400);
/// How long the line must be silent after a paste before it is over: longer than the gaps within one burst of a slow
/// link, shorter than a hand needs to go on.
const PASTE_PAUSE: Duration = Duration::from_millis(100);
/// Bytes that are read at once.
const CHUNK: usize = 4096;

/// The events of the terminal as they come. Nothing here ever blocks: the terminal is read without waiting, on a
/// descriptor of its own, so that standard input stays as it was.
#[derive(Debug)]
pub struct Inputs {
    /// The terminal. The type is that of the one source of bytes in the runtime that takes any descriptor.
    terminal: pipe::Receiver,
    decoder: Decoder,
    ready: VecDeque<Input>,
    /// When what was begun is looked at again.
    pause: Option<Pin<Box<Sleep>>>,
}

/// What woke the reader.
enum Woken {
    Bytes(io::Result<usize>),
    Pause,
}

impl Inputs {
    /// Starts to listen. Needs a tokio runtime.
    ///
    /// # Errors
    /// When there is no terminal, or the system does not watch it.
    pub fn start() -> Result<Self, TerminalError> {
        Self::from_fd(Tty::open_to_read()?)
            .map_err(|source| TerminalError::Refused { what: "to be watched for keys", source })
    }

    /// Listens to a descriptor in non-blocking mode.
    pub(super) fn from_fd(fd: OwnedFd) -> io::Result<Self> {
        let terminal = pipe::Receiver::from_owned_fd_unchecked(fd)?;
        Ok(Self { terminal, decoder: Decoder::default(), ready: VecDeque::new(), pause: None })
    }

    /// Forgets what was begun: somebody else read the terminal meanwhile.
    pub fn forget(&mut self) {
        self.decoder.reset();
        self.ready.clear();
        self.pause = None;
    }

    /// The next event. `None` once the terminal is gone. Can be cancelled without loss.
    ///
    /// # Errors
    /// When the terminal cannot be read.
    pub async fn next(&mut self) -> Option<io::Result<Input>> {
        loop {
            if let Some(input) = self.ready.pop_front() {
                return Some(Ok(input));
            }
            let mut bytes = [0; CHUNK];
            match self.wake(&mut bytes).await {
                Woken::Pause => {
                    self.pause = None;
                    self.decoder.pause(&mut self.ready);
                }
                Woken::Bytes(Ok(0)) => return None,
                Woken::Bytes(Ok(n)) => {
                    self.decoder.feed(bytes.get(..n).unwrap_or_default(), &mut self.ready);
                    self.pause = match self.decoder.waiting() {
                        Waiting::Nothing => None,
                        Waiting::Key => Some(Box::pin(sleep(KEY_PAUSE))),
                        Waiting::Rest => Some(Box::pin(sleep(REST_PAUSE))),
                        Waiting::PasteOver => Some(Box::pin(sleep(PASTE_PAUSE))),
                    };
                }
                Woken::Bytes(Err(error)) => return Some(Err(error)),
            }
        }
    }

    /// Bytes first: a pause that ended while others worked says nothing when more has come.
    async fn wake(&mut self, bytes: &mut [u8]) -> Woken {
        let read = self.terminal.read(bytes);
        let Some(pause) = &mut self.pause else { return Woken::Bytes(read.await) };
        tokio::select! {
            biased;
            result = read => Woken::Bytes(result),
            () = pause => Woken::Pause,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use rustix::io::write;

    use super::*;

    fn pair() -> (UnixStream, Inputs) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        theirs.set_nonblocking(true).unwrap();
        (ours, Inputs::from_fd(theirs.into()).unwrap())
    }

    async fn name(inputs: &mut Inputs) -> String {
        match inputs.next().await.unwrap().unwrap() {
            Input::Key(key) => key.to_string(),
            other => format!("{other:?}"),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_single_esc_is_a_key_once_nothing_follows() {
        let (terminal, mut inputs) = pair();
        write(&terminal, b"\x1b").unwrap();
        assert_eq!(name(&mut inputs).await, "esc");
        write(&terminal, b"\x1b[1;").unwrap();
        let cut = tokio::time::timeout(REST_PAUSE / 2, inputs.next()).await;
        assert!(cut.is_err(), "{cut:?}");
        write(&terminal, b"5Aj").unwrap();
        assert_eq!(name(&mut inputs).await, "ctrl-up");
        assert_eq!(name(&mut inputs).await, "j");
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_cut_off_is_dropped_after_a_while() {
        let (terminal, mut inputs) = pair();
        write(&terminal, b"\x1b[1;").unwrap();
        let cut = tokio::time::timeout(REST_PAUSE * 2, inputs.next()).await;
        assert!(cut.is_err(), "{cut:?}");
        write(&terminal, b"j").unwrap();
        assert_eq!(name(&mut inputs).await, "j");
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_at_once_behind_a_paste_is_pasted_and_what_comes_later_is_keys() {
        let (terminal, mut inputs) = pair();
        write(&terminal, b"\x1b[200~abc\x1b[201~d\n").unwrap();
        let early = tokio::time::timeout(PASTE_PAUSE * 3 / 4, inputs.next()).await;
        assert!(early.is_err(), "{early:?}");
        write(&terminal, b"y\n\x1b[201~").unwrap();
        assert_eq!(inputs.next().await.unwrap().unwrap(), Input::Paste("abcd\ny\n".into()));
        write(&terminal, b"d").unwrap();
        assert_eq!(name(&mut inputs).await, "d");
    }

    #[tokio::test]
    async fn a_terminal_that_goes_away_is_the_end() {
        let (terminal, mut inputs) = pair();
        write(&terminal, b"q").unwrap();
        drop(terminal);
        assert_eq!(name(&mut inputs).await, "q");
        assert!(inputs.next().await.is_none());
    }

    #[tokio::test]
    async fn what_was_begun_is_forgotten() {
        let (terminal, mut inputs) = pair();
        write(&terminal, b"abc\x1b[200~").unwrap();
        assert_eq!(name(&mut inputs).await, "a");
        inputs.forget();
        write(&terminal, b"j").unwrap();
        assert_eq!(name(&mut inputs).await, "j");
    }
}
