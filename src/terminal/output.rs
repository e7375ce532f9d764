//! The writer thread: the screen never waits for the wire.
//!
//! There is one slot for the newest frame. While the terminal takes nothing, newer frames replace older ones there,
//! so a stalled link costs neither memory nor input; when it moves again, the newest picture is painted against what
//! was really written. Each frame is one write. Control strings (title, clipboard) go the same way, in order.

use std::{
    collections::VecDeque,
    io,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use zeroize::Zeroize as _;

use super::{
    painter::{Frame, PaintOptions, Painter},
    tty::{Attempt, Tty},
};

/// Control strings that may wait while the terminal takes nothing.
pub const MAX_CONTROLS: usize = 16;

/// How long a stalled write waits before it looks whether it should be given up.
const STALL_CHECK: Duration = Duration::from_millis(50);
/// How long a dropped [`Output`] tries to write what is left.
const DROP_LIMIT: Duration = Duration::from_millis(200);

/// What the writer thread did so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OutputStats {
    /// Frames that changed something and were written whole.
    pub frames: u64,
    /// Frames that a newer one replaced before they were written.
    pub replaced: u64,
    /// Write calls that took bytes.
    pub writes: u64,
    /// Bytes written.
    pub bytes: u64,
}

/// How the output ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shutdown {
    /// Everything was written.
    Drained,
    /// The terminal took nothing, or is gone; what was left is lost.
    Abandoned,
}

/// Too many control strings wait for a terminal that takes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the terminal takes no output; {MAX_CONTROLS} control strings wait already")]
pub struct Backlog;

/// The sending side; dropping it ends the thread.
#[derive(Debug)]
pub struct Output {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    slot: Mutex<Slot>,
    /// Something is in the slot, or the end is near.
    wake: Condvar,
    /// The thread has ended.
    ended: Condvar,
    abandon: AtomicBool,
}

#[derive(Debug, Default)]
struct Slot {
    frame: Option<Frame>,
    controls: VecDeque<Vec<u8>>,
    repaint: bool,
    closing: bool,
    ended: bool,
    failed: bool,
    stats: OutputStats,
}

impl Output {
    /// Starts the thread that writes to `tty`.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(tty: Arc<Tty>, options: PaintOptions) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let writer = Writer {
            tty,
            painter: Painter::new(options),
            shared: Arc::clone(&shared),
            epoch: None,
            bytes: Vec::with_capacity(64 * 1024),
        };
        let thread = std::thread::Builder::new().name("terminal".into()).spawn(move || writer.run())?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Shows a frame, soon; one that still waits is replaced. Never blocks on the terminal.
    pub fn frame(&self, frame: Frame) {
        let mut slot = self.shared.slot();
        if slot.frame.replace(frame).is_some() {
            slot.stats.replaced += 1;
        }
        self.shared.wake.notify_one();
    }

    /// Sends a control string, before any later frame. Never blocks on the terminal.
    ///
    /// # Errors
    /// [`Backlog`] when too many wait already.
    pub fn control(&self, bytes: Vec<u8>) -> Result<(), Backlog> {
        let mut slot = self.shared.slot();
        if slot.controls.len() >= MAX_CONTROLS {
            return Err(Backlog);
        }
        slot.controls.push_back(bytes);
        self.shared.wake.notify_one();
        Ok(())
    }

    /// Paints the next frame whole, whatever the screen is believed to show (`ctrl-l`).
    pub fn repaint(&self) {
        self.shared.slot().repaint = true;
    }

    /// Whether the terminal is gone: nothing more will be written.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.shared.slot().failed
    }

    /// What was done so far.
    #[must_use]
    pub fn stats(&self) -> OutputStats {
        self.shared.slot().stats
    }

    /// Writes what waits, for at most about `limit`, and ends the thread.
    pub fn shutdown(mut self, limit: Duration) -> Shutdown {
        self.end(limit)
    }

    fn end(&mut self, limit: Duration) -> Shutdown {
        let Some(thread) = self.thread.take() else { return Shutdown::Drained };
        let mut slot = self.shared.slot();
        slot.closing = true;
        self.shared.wake.notify_one();
        let waited = self.shared.ended.wait_timeout_while(slot, limit, |slot| !slot.ended);
        let (slot, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let drained = slot.ended && !slot.failed;
        drop(slot);
        self.shared.abandon.store(true, Ordering::Relaxed);
        let clean = thread.join().is_ok();
        if drained && clean { Shutdown::Drained } else { Shutdown::Abandoned }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.end(DROP_LIMIT);
    }
}

impl Shared {
    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Writer {
    tty: Arc<Tty>,
    painter: Painter,
    shared: Arc<Shared>,
    /// Under which number the remembered screen was written.
    epoch: Option<u64>,
    bytes: Vec<u8>,
}

/// What to write next.
struct Job {
    controls: VecDeque<Vec<u8>>,
    frame: Option<Frame>,
    repaint: bool,
}

/// Tells the waiting side that the thread ended, also when it panicked.
struct EndNotice(Arc<Shared>);

impl Drop for EndNotice {
    fn drop(&mut self) {
        let mut slot = self.0.slot();
        slot.ended = true;
        slot.failed |= std::thread::panicking();
        self.0.ended.notify_all();
    }
}

impl Writer {
    fn run(mut self) {
        let _notice = EndNotice(Arc::clone(&self.shared));
        while let Some(job) = self.next() {
            if self.write(job).is_err() {
                self.shared.slot().failed = true;
                return;
            }
        }
    }

    /// Waits for work; `None` when all is done and the end was asked for.
    fn next(&self) -> Option<Job> {
        let slot = self.shared.slot();
        let idle = |slot: &mut Slot| slot.frame.is_none() && slot.controls.is_empty() && !slot.closing;
        let mut slot = self.shared.wake.wait_while(slot, idle).unwrap_or_else(PoisonError::into_inner);
        let frame = slot.frame.take();
        let controls = std::mem::take(&mut slot.controls);
        if frame.is_none() && controls.is_empty() {
            return None;
        }
        let repaint = frame.is_some() && std::mem::take(&mut slot.repaint);
        Some(Job { controls, frame, repaint })
    }

    fn write(&mut self, job: Job) -> io::Result<()> {
        let epoch = self.tty.epoch();
        if job.repaint || epoch != self.epoch {
            self.painter.forget();
        }
        self.epoch = epoch;
        // While the terminal belongs to an editor or a shell, frames are for nobody: the next one is painted whole.
        let Some(epoch) = epoch else { return Ok(()) };
        self.bytes.clear();
        let controls = !job.controls.is_empty();
        for mut control in job.controls {
            self.bytes.extend_from_slice(&control);
            control.zeroize();
        }
        let before = self.bytes.len();
        if let Some(frame) = job.frame {
            self.painter.paint(frame, &mut self.bytes);
        }
        let painted = self.bytes.len() > before;
        let sent = self.send(epoch);
        if controls {
            // A clipboard may have been in it.
            self.bytes.zeroize();
        }
        if sent? {
            self.shared.slot().stats.frames += u64::from(painted);
        } else {
            self.painter.forget();
        }
        Ok(())
    }

    /// Writes the bytes; false when the gate closed or the end came first.
    fn send(&self, epoch: u64) -> io::Result<bool> {
        let mut rest = self.bytes.as_slice();
        while !rest.is_empty() {
            match self.tty.write_some(epoch, rest)? {
                Attempt::Wrote(n) => {
                    rest = rest.get(n..).unwrap_or_default();
                    let mut slot = self.shared.slot();
                    slot.stats.writes += 1;
                    slot.stats.bytes += n as u64;
                }
                Attempt::Closed => return Ok(false),
                Attempt::Full => {
                    self.tty.wait_writable(STALL_CHECK);
                    if self.shared.abandon.load(Ordering::Relaxed) {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
