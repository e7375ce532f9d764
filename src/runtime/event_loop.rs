//! The event loop: waits, folds everything that is ready, then draws at most one frame.
//!
//! It never waits for the network (pictures arrive by themselves) and never for the terminal (frames go to a thread
//! with a one-slot mailbox). Without an event it sleeps: no tick, no byte.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::watch;
use tokio::time::Instant;

use super::changes::{Changes, Workshop};
use super::probes::Probes;
use crate::console::change::Order;
use crate::console::{Model, Msg, start, update, view};
use crate::inventory::Inventory;
use crate::inventory::feed::{Clock, Feed};
use crate::provision::journal::Journal;
use crate::terminal::{self, Capabilities, Frame, Input, Modes, Signal, Signals, TerminalError, guard};

/// Shortest time between two frames: bursts are folded, single keys are not delayed.
const FRAME: Duration = Duration::from_millis(16);
/// How long the last frame may take to leave when the program ends.
const FAREWELL: Duration = Duration::from_millis(100);

/// What a console is started with.
pub struct Session {
    /// Its model, before any reading.
    pub model: Model,
    /// The running feed.
    pub feed: Feed,
    /// The clock.
    pub clock: Clock,
    /// What the terminal can do.
    pub capabilities: Capabilities,
    /// What changes are made with.
    pub workshop: Workshop,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The operator left.
    Quit,
    /// A signal ended it.
    Signal(Signal),
    /// The terminal went away.
    TerminalLost,
    /// A panic in some thread; the terminal was given back before its message was printed.
    Panicked,
}

/// The parts of a running console that effects act on.
pub(super) struct Running {
    pub(super) model: Model,
    pub(super) feed: Feed,
    pub(super) clock: Clock,
    pub(super) capabilities: Capabilities,
    pub(super) terminal: terminal::Session,
    pub(super) wake: Option<Timestamp>,
    pub(super) end: Option<End>,
    pub(super) probes: Probes,
    pub(super) changes: Changes,
    signals: Signals,
    pub(super) pictures: watch::Receiver<Arc<Inventory>>,
    dirty: bool,
    /// Whether the operator waits for the next frame.
    urgent: bool,
    /// When the next frame may be drawn, and when one that the operator waits for: a frame for a picture never holds
    /// up the answer to a key.
    next_frame: Instant,
    next_urgent: Instant,
}

/// What the loop wakes up for.
enum Event {
    Signal(Signal),
    Input(Option<std::io::Result<Input>>),
    Picture,
    /// Something came of a question.
    Heard(Msg),
    Wake,
    Frame,
    Panic,
}

/// Runs the console until it ends; the terminal is given back before this returns.
///
/// # Errors
/// When the terminal cannot be taken.
pub async fn run(session: Session) -> Result<End, TerminalError> {
    let refused = |source| TerminalError::Refused { what: "signal handlers", source };
    let signals = Signals::start().map_err(refused)?;
    let modes = Modes { mouse: true, bracketed_paste: true, focus: false, title: true };
    let terminal = terminal::Session::start(session.capabilities.paint, modes)?;
    let mut model = session.model;
    if let Ok(size) = terminal.size() {
        model.size = size;
    }
    let mut running = Running {
        pictures: session.feed.inventory.clone(),
        model,
        feed: session.feed,
        clock: Arc::clone(&session.clock),
        capabilities: session.capabilities,
        terminal,
        wake: None,
        end: None,
        probes: Probes::new(Journal::in_state(&session.workshop.state)),
        changes: Changes::new(session.workshop, &session.clock),
        signals,
        dirty: true,
        urgent: false,
        next_frame: Instant::now(),
        next_urgent: Instant::now(),
    };
    running.pictures.mark_changed();
    let end = running.until_end().await;
    running.terminal.finish(FAREWELL);
    // The terminal is the operator's again; what was sent is awaited, and what is held is given back.
    running.changes.finish().await;
    Ok(end)
}

impl Running {
    async fn until_end(&mut self) -> End {
        for effect in start(&mut self.model) {
            self.apply(effect);
        }
        self.changes.take(Order::Journal);
        self.draw();
        loop {
            let event = self.next().await;
            self.tell_time();
            self.take(event);
            while self.end.is_none() && !self.frame_is_due() {
                let Some(event) = self.ready().await else { break };
                self.take(event);
            }
            if let Some(end) = self.end {
                return end;
            }
            if self.terminal.output().failed() {
                return End::TerminalLost;
            }
            if self.frame_is_due() {
                // Input comes first, so that without this an endless stream of it would hide every picture.
                if self.pictures.has_changed().unwrap_or(false) {
                    self.take(Event::Picture);
                }
                self.draw();
            }
        }
    }

    /// The next event, whenever it comes.
    async fn next(&mut self) -> Event {
        let (wake, clock, due) = (self.wake, Arc::clone(&self.clock), self.due());
        tokio::select! {
            biased;
            () = guard::panicked() => Event::Panic,
            signal = self.signals.next() => Event::Signal(signal),
            input = self.terminal.input() => Event::Input(input),
            Ok(()) = self.pictures.changed() => Event::Picture,
            heard = self.probes.next() => Event::Heard(heard),
            heard = self.changes.next() => Event::Heard(heard),
            () = until(wake, &clock) => Event::Wake,
            () = tokio::time::sleep_until(due), if self.dirty => Event::Frame,
        }
    }

    /// An event that is there already.
    async fn ready(&mut self) -> Option<Event> {
        tokio::select! {
            biased;
            signal = self.signals.next() => Some(Event::Signal(signal)),
            input = self.terminal.input() => Some(Event::Input(input)),
            Ok(()) = self.pictures.changed() => Some(Event::Picture),
            heard = self.probes.next() => Some(Event::Heard(heard)),
            heard = self.changes.next() => Some(Event::Heard(heard)),
            () = std::future::ready(()) => None,
        }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Frame => {}
            Event::Panic => self.end = Some(End::Panicked),
            Event::Wake => self.dirty = true,
            Event::Heard(heard) => self.fold(heard),
            Event::Picture => {
                let picture = Arc::clone(&self.pictures.borrow_and_update());
                self.fold(Msg::Inventory(picture));
            }
            Event::Input(Some(Ok(input))) => {
                self.fold(Msg::Input(input));
                self.urgent = true;
            }
            Event::Input(_) => self.end = Some(End::TerminalLost),
            Event::Signal(Signal::Stop) => self.suspend(),
            Event::Signal(Signal::Continue) => self.continued(),
            Event::Signal(Signal::Resize) => self.measure(),
            Event::Signal(signal) => {
                self.fold(Msg::Shutdown);
                self.end = Some(End::Signal(signal));
            }
        }
    }

    const fn due(&self) -> Instant {
        if self.urgent { self.next_urgent } else { self.next_frame }
    }

    fn frame_is_due(&self) -> bool {
        self.dirty && Instant::now() >= self.due()
    }

    /// Comes before every batch of messages: what they set in motion counts from now. No reason to draw by itself.
    fn tell_time(&mut self) {
        let now = (self.clock)();
        if self.wake.is_some_and(|at| at <= now) {
            self.wake = None;
            self.dirty = true;
        }
        for effect in update(&mut self.model, Msg::Now(now)) {
            self.apply(effect);
        }
    }

    /// Folds a message into the model and carries out what it asks for.
    pub(super) fn fold(&mut self, msg: Msg) {
        for effect in update(&mut self.model, msg) {
            self.apply(effect);
        }
        self.dirty = true;
    }

    /// Takes the size of the terminal in when it is another one.
    pub(super) fn measure(&mut self) {
        if let Ok((width, height)) = self.terminal.size()
            && (width, height) != self.model.size
        {
            self.fold(Msg::Input(Input::Resize { width, height }));
        }
    }

    fn draw(&mut self) {
        // The signal may be a moment late; a frame of another size would be painted for nothing.
        self.measure();
        let screen = view(&self.model);
        let cursor = screen.cursor.filter(|_| screen.cursor_visible);
        self.terminal.output().frame(Frame { buffer: screen.buffer, scroll: screen.scroll, cursor });
        for effect in update(&mut self.model, Msg::Drawn(screen.hits.into())) {
            self.apply(effect);
        }
        self.dirty = false;
        self.next_frame = Instant::now() + FRAME;
        if std::mem::take(&mut self.urgent) {
            self.next_urgent = self.next_frame;
        }
    }
}

/// Ends at `wake`, never before it.
async fn until(wake: Option<Timestamp>, clock: &Clock) {
    let Some(wake) = wake else { return std::future::pending().await };
    loop {
        let left = wake.duration_since(clock());
        if !left.is_positive() {
            return;
        }
        tokio::time::sleep(left.unsigned_abs() + Duration::from_millis(1)).await;
    }
}
