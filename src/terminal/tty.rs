//! The terminal device: writes that never block, and a gate that decides who may write.
//!
//! The console opens `/dev/tty` anew, so that redirected output does not matter and non-blocking mode stays its own:
//! other programs on the same terminal never see it. The writer thread writes only while the gate is open; the guard
//! closes it before it gives the terminal back, so that no frame can follow the restore sequence.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    process::Stdio,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec},
    fs::{Mode, OFlags},
    io::Errno,
    termios,
};

use super::error::TerminalError;

const DEVICE: &str = "/dev/tty";

/// A terminal, or any other descriptor that takes its bytes.
#[derive(Debug)]
pub struct Tty {
    fd: OwnedFd,
    gate: Mutex<Gate>,
}

#[derive(Debug, Default)]
struct Gate {
    open: bool,
    /// Counts openings: what was begun under another number must not go on.
    epoch: u64,
    /// Whether a write stopped in the middle, perhaps inside a sequence.
    cut: bool,
}

/// How one attempt to write went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attempt {
    /// So many bytes were taken.
    Wrote(usize),
    /// The reader is behind; try again when the descriptor is writable.
    Full,
    /// The terminal belongs to somebody else now.
    Closed,
}

impl Tty {
    /// Opens the controlling terminal of the process.
    ///
    /// # Errors
    /// [`TerminalError::NoTty`] when there is none.
    pub fn open() -> Result<Self, TerminalError> {
        Ok(Self { fd: open(OFlags::RDWR)?, gate: Mutex::default() })
    }

    /// The controlling terminal in non-blocking mode, for whoever reads it.
    pub(super) fn open_to_read() -> Result<OwnedFd, TerminalError> {
        open(OFlags::RDONLY)
    }

    /// Uses a descriptor that is already open, and makes it non-blocking. Its gate is open.
    ///
    /// # Errors
    /// When the descriptor's flags cannot be changed.
    pub fn from_fd(fd: OwnedFd) -> io::Result<Self> {
        rustix::fs::fcntl_setfl(&fd, rustix::fs::fcntl_getfl(&fd)? | OFlags::NONBLOCK)?;
        Ok(Self { fd, gate: Mutex::new(Gate { open: true, ..Gate::default() }) })
    }

    /// Columns and rows.
    ///
    /// # Errors
    /// When the descriptor is no terminal, or the terminal is gone.
    pub fn size(&self) -> io::Result<(u16, u16)> {
        let size = termios::tcgetwinsize(&self.fd)?;
        Ok((size.ws_col, size.ws_row))
    }

    /// The controlling terminal as standard input or output of a child such as an editor.
    ///
    /// # Errors
    /// When it cannot be opened again.
    pub fn stdio() -> io::Result<Stdio> {
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(rustix::fs::open(DEVICE, flags, Mode::empty())?.into())
    }

    /// The number under which a frame may be written now; `None` while the gate is closed.
    pub(super) fn epoch(&self) -> Option<u64> {
        let gate = self.gate();
        gate.open.then_some(gate.epoch)
    }

    /// Writes what the terminal takes without waiting.
    pub(super) fn write_some(&self, epoch: u64, bytes: &[u8]) -> io::Result<Attempt> {
        let mut gate = self.gate();
        if !gate.open || gate.epoch != epoch {
            return Ok(Attempt::Closed);
        }
        match rustix::io::write(&self.fd, bytes) {
            Ok(n) => {
                gate.cut = n < bytes.len();
                Ok(Attempt::Wrote(n))
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(Attempt::Full),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Waits until the terminal takes bytes again; false when `limit` passed first.
    pub(super) fn wait_writable(&self, limit: Duration) -> bool {
        let mut fds = [PollFd::new(&self.fd, PollFlags::OUT)];
        let limit = Timespec::try_from(limit).ok();
        rustix::event::poll(&mut fds, limit.as_ref()).is_ok_and(|ready| ready > 0)
    }

    pub(super) fn open_gate(&self) {
        let mut gate = self.gate();
        gate.open = true;
        gate.cut = false;
        gate.epoch += 1;
    }

    /// Closes the gate; no write is under way when this returns. True when one was cut short.
    pub(super) fn close_gate(&self) -> bool {
        let mut gate = self.gate();
        gate.open = false;
        std::mem::take(&mut gate.cut)
    }

    /// Writes past the gate: for the guard, which is the only one to write then. Waits at most `tries` × `wait`.
    pub(super) fn write_now(&self, mut bytes: &[u8], tries: u32, wait: Duration) -> io::Result<()> {
        for _ in 0..tries {
            match rustix::io::write(&self.fd, bytes) {
                Ok(n) => bytes = bytes.get(n..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    self.wait_writable(wait);
                }
                Err(errno) => return Err(errno.into()),
            }
            if bytes.is_empty() {
                return Ok(());
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }

    fn gate(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn open(access: OFlags) -> Result<OwnedFd, TerminalError> {
    let flags = access | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    rustix::fs::open(DEVICE, flags, Mode::empty()).map_err(|e| TerminalError::NoTty(e.into()))
}

impl AsFd for Tty {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
