//! The signals that concern a full-screen program, as events.

use std::io;

use tokio::signal::unix::{Signal as Listener, SignalKind, signal};

/// A signal that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Signal {
    /// End: TERM.
    Terminate,
    /// The session is gone: HUP.
    HangUp,
    /// End: INT, sent by another process (in raw mode `ctrl-c` is a key).
    Interrupt,
    /// End: QUIT.
    Quit,
    /// Stop: TSTP, sent by another process (in raw mode `ctrl-z` is a key).
    Stop,
    /// Go on after a stop: CONT. Also arrives after a stop of our own.
    Continue,
    /// The terminal has another size: WINCH. Several in a row may come as one.
    Resize,
}

impl Signal {
    /// The exit code by which shells report an end through this signal; `None` where it ends nothing.
    #[must_use]
    pub const fn exit_code(self) -> Option<u8> {
        match self {
            Self::Terminate => Some(128 + 15),
            Self::HangUp => Some(128 + 1),
            Self::Interrupt => Some(128 + 2),
            Self::Quit => Some(128 + 3),
            Self::Stop | Self::Continue | Self::Resize => None,
        }
    }
}

/// Listens for [`Signal`]s; from its start on they no longer have their default effect.
#[derive(Debug)]
pub struct Signals {
    terminate: Listener,
    hang_up: Listener,
    interrupt: Listener,
    quit: Listener,
    stop: Listener,
    go_on: Listener,
    resize: Listener,
}

impl Signals {
    /// Starts to listen. Needs a tokio runtime.
    ///
    /// # Errors
    /// When the system refuses a handler.
    pub fn start() -> io::Result<Self> {
        let raw = |signal: rustix::process::Signal| self::signal(SignalKind::from_raw(signal.as_raw()));
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            stop: raw(rustix::process::Signal::TSTP)?,
            go_on: raw(rustix::process::Signal::CONT)?,
            resize: signal(SignalKind::window_change())?,
        })
    }

    /// The next signal. Can be cancelled without loss.
    pub async fn next(&mut self) -> Signal {
        tokio::select! {
            biased;
            _ = self.terminate.recv() => Signal::Terminate,
            _ = self.hang_up.recv() => Signal::HangUp,
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.quit.recv() => Signal::Quit,
            _ = self.stop.recv() => Signal::Stop,
            _ = self.go_on.recv() => Signal::Continue,
            _ = self.resize.recv() => Signal::Resize,
        }
    }
}
