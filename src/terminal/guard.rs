//! Takes the terminal and gives it back as it was, however the program ends.
//!
//! There is one terminal per process, so what must be undone is kept once for the process: by the [`Guard`] when it
//! is dropped, by the panic hook before the message is printed, and by [`restore_now`] from whoever handles signals.
//! Giving back is idempotent and bounded in time, also when the terminal takes no output: then what waits is thrown
//! away, and raw mode ends in any case.

use std::{
    io::{self, Read as _},
    os::unix::net::UnixStream,
    sync::{Arc, Mutex, MutexGuard, Once, PoisonError, TryLockError},
    time::Duration,
};

use rustix::{
    process::Signal,
    termios::{self, OptionalActions, QueueSelector, Termios},
};

use tokio::sync::Notify;

use super::{error::TerminalError, tty::Tty};

/// What is switched on beside raw mode, the alternate screen and the hidden cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modes {
    /// Clicks, drags and the wheel as events (1000, 1002, in SGR form 1006). Off leaves selection to the terminal.
    pub mouse: bool,
    /// Pasted text as one event (2004).
    pub bracketed_paste: bool,
    /// Focus events (1004).
    pub focus: bool,
    /// Keep the window title on the terminal's stack, so that ours can be taken back.
    pub title: bool,
}

impl Default for Modes {
    fn default() -> Self {
        Self { mouse: true, bracketed_paste: true, focus: true, title: true }
    }
}

impl Modes {
    /// `again` says that they were on already and may have been changed by somebody else: titles are not stacked twice.
    fn on(self, again: bool) -> Vec<u8> {
        let mut out = Vec::with_capacity(96);
        add(&mut out, self.title && !again, b"\x1b[22;2t");
        add(&mut out, true, b"\x1b[?1049h\x1b[?25l");
        add(&mut out, self.bracketed_paste, b"\x1b[?2004h");
        add(&mut out, self.focus, b"\x1b[?1004h");
        add(&mut out, self.mouse, b"\x1b[?1000h\x1b[?1002h\x1b[?1006h");
        out
    }

    /// The reverse, in reverse order. `cut` says that the last write stopped in the middle.
    fn off(self, cut: bool) -> Vec<u8> {
        let mut out = Vec::with_capacity(128);
        // A string terminator ends what a cut control string would swallow, and is nothing otherwise.
        add(&mut out, cut, b"\x1b\\\x1b[?2026l");
        add(&mut out, self.mouse, b"\x1b[?1006l\x1b[?1002l\x1b[?1000l");
        add(&mut out, self.focus, b"\x1b[?1004l");
        add(&mut out, self.bracketed_paste, b"\x1b[?2004l");
        add(&mut out, true, b"\x1b[m\x1b[r\x1b[?25h\x1b[?1049l");
        add(&mut out, self.title, b"\x1b[23;2t");
        out
    }
}

fn add(out: &mut Vec<u8>, wanted: bool, bytes: &[u8]) {
    if wanted {
        out.extend_from_slice(bytes);
    }
}

/// The terminal that must be given back.
struct Held {
    tty: Arc<Tty>,
    modes: Modes,
    /// The line settings to go back to.
    cooked: Termios,
    /// Whether the terminal is ours at this moment.
    entered: bool,
}

static HELD: Mutex<Option<Held>> = Mutex::new(None);
static PANICKED: Notify = Notify::const_new();

/// Attempts and pauses while the restore sequence finds no room: 200 ms at most, twice.
const RESTORE_TRIES: u32 = 8;
const RESTORE_WAIT: Duration = Duration::from_millis(25);

impl Held {
    fn enter(&mut self) -> Result<(), TerminalError> {
        if !self.entered {
            self.cooked = termios::tcgetattr(&self.tty).map_err(TerminalError::refused("to tell its settings"))?;
        }
        let mut raw = self.cooked.clone();
        raw.make_raw();
        // From here on there is something to give back, also when the next lines fail.
        let again = std::mem::replace(&mut self.entered, true);
        termios::tcsetattr(&self.tty, OptionalActions::Now, &raw).map_err(TerminalError::refused("raw mode"))?;
        let write = self.tty.write_now(&self.modes.on(again), RESTORE_TRIES, RESTORE_WAIT);
        write.map_err(|source| TerminalError::Refused { what: "its modes", source })?;
        self.tty.open_gate();
        Ok(())
    }

    fn leave(&mut self) {
        if !std::mem::take(&mut self.entered) {
            return;
        }
        let cut = self.tty.close_gate();
        let off = self.modes.off(cut);
        if let Err(error) = self.tty.write_now(&off, RESTORE_TRIES, RESTORE_WAIT)
            && error.kind() == io::ErrorKind::TimedOut
        {
            // Nobody reads. What waits is an old picture; without it there is room for what matters.
            let _ = termios::tcflush(&self.tty, QueueSelector::OFlush);
            let _ = self.tty.write_now(&self.modes.off(true), RESTORE_TRIES, RESTORE_WAIT);
        }
        // Now, not after draining: a terminal that takes nothing must not hold the program. Errors have no reader.
        let _ = termios::tcsetattr(&self.tty, OptionalActions::Now, &self.cooked);
    }
}

fn held() -> MutexGuard<'static, Option<Held>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives the terminal back now, if it is ours. Safe to call from any thread, any number of times.
pub fn restore_now() {
    if let Some(held) = held().as_mut() {
        held.leave();
    }
}

/// Whether the terminal is ours at this moment; false after a panic in any thread.
#[must_use]
pub fn is_entered() -> bool {
    held().as_ref().is_some_and(|held| held.entered)
}

/// Restores first, so that the message is read on the normal screen, then does what was done before.
fn install_panic_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            restore_in_panic();
            previous(info);
            PANICKED.notify_one();
        }));
    });
}

/// Ends when a panic in any thread has given the terminal back: from then on nothing can be shown. Can be cancelled
/// without loss.
pub async fn panicked() {
    PANICKED.notified().await;
}

fn restore_in_panic() {
    let mut slot = match HELD.try_lock() {
        Ok(slot) => slot,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        // Somebody is at it already, perhaps this very thread.
        Err(TryLockError::WouldBlock) => return,
    };
    if let Some(held) = slot.as_mut() {
        held.leave();
    }
}

/// Stops the whole group, so that a wrapper script stops too and the shell takes over.
///
/// The stop reaches this thread at some point after the call that asks for it, so the way back to raw mode is barred
/// until the handler of CONT has run.
fn stop_until_continued() -> io::Result<()> {
    let (mut continued, notice) = UnixStream::pair()?;
    let handler = signal_hook::low_level::pipe::register(Signal::CONT.as_raw(), notice)?;
    let stopped = rustix::process::kill_current_process_group(Signal::STOP);
    let waited = stopped.map_err(io::Error::from).and_then(|()| continued.read_exact(&mut [0]));
    signal_hook::low_level::unregister(handler);
    waited
}

/// Holds the terminal; it is given back when this is dropped.
#[derive(Debug)]
#[must_use = "the terminal is given back when the guard is dropped"]
pub struct Guard(());

impl Guard {
    /// Takes the terminal: raw mode, alternate screen, hidden cursor and `modes`, and opens it to the writer thread.
    ///
    /// # Errors
    /// When the terminal refuses; it is given back before the error returns.
    pub fn enter(tty: Arc<Tty>, modes: Modes) -> Result<Self, TerminalError> {
        install_panic_hook();
        let cooked = termios::tcgetattr(&tty).map_err(TerminalError::refused("to tell its settings"))?;
        let mut slot = held();
        if let Some(former) = slot.as_mut() {
            former.leave();
        }
        let entered = slot.insert(Held { tty, modes, cooked, entered: false }).enter();
        drop(slot);
        let guard = Self(());
        entered.map(|()| guard)
    }

    /// Lends the terminal to `work` (an editor, a shell) and takes it back. The next frame is painted whole.
    ///
    /// Pause the event stream first: two readers on one terminal steal each other's keys.
    ///
    /// # Errors
    /// When the terminal refuses to come back.
    pub fn lend<T>(&self, work: impl FnOnce() -> T) -> Result<T, TerminalError> {
        restore_now();
        let result = work();
        self.reenter()?;
        Ok(result)
    }

    /// Stops the process group as `ctrl-z` does in other programs; returns when it is continued.
    ///
    /// # Errors
    /// When the terminal refuses to come back, or the system gives no pipe; then nothing was stopped.
    pub fn suspend(&self) -> Result<(), TerminalError> {
        let refused = |source| TerminalError::Refused { what: "to be stopped", source };
        self.lend(stop_until_continued)?.map_err(refused)
    }

    /// Takes the terminal again, whoever changed it meanwhile (after a CONT that no suspend of ours preceded).
    ///
    /// # Errors
    /// When the terminal refuses.
    pub fn reenter(&self) -> Result<(), TerminalError> {
        held().as_mut().map_or(Ok(()), Held::enter)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        restore_now();
    }
}
