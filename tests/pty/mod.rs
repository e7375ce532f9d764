//! Runs a program in a terminal of its own and watches the screen, the modes and the line settings.
//!
//! A thread reads the terminal and hands over chunks through a short channel: whoever does not take them is a reader
//! that stalls. Every wait is a blocking receive with a deadline.

#![allow(dead_code, reason = "each test binary that includes this module uses a part of it")]

mod modes;
pub mod strict;

use std::{
    ffi::OsStr,
    io::{Read, Write},
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    thread,
    time::{Duration, Instant},
};

use portable_pty::{CommandBuilder, MasterPty, PtySize, SlavePty, native_pty_system};
use rustix::{
    fs::{Mode, OFlags},
    process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, waitpid},
};

pub use modes::Modes;

/// Ends every wait that would otherwise never end; far beyond what a loaded machine needs.
pub const LIMIT: Duration = Duration::from_secs(30);

/// Chunks that are read ahead of the test; then the program's output stalls.
const READ_AHEAD: usize = 4;

/// What to run, and in what kind of terminal.
pub struct Program {
    command: CommandBuilder,
    size: (u16, u16),
    answers: bool,
}

impl Program {
    /// A program with its arguments, in a terminal of 80×24 that answers queries.
    pub fn new(program: impl AsRef<OsStr>, arguments: &[&str]) -> Self {
        let mut command = CommandBuilder::new(program);
        command.args(arguments);
        for (name, value) in [("TERM", "xterm-256color"), ("LC_ALL", "C.UTF-8")] {
            command.env(name, value);
        }
        for name in ["TMUX", "STY", "NO_COLOR", "COLORTERM", "VISUAL", "EDITOR"] {
            command.env_remove(name);
        }
        Self { command, size: (80, 24), answers: true }
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Columns and rows.
    pub fn size(mut self, width: u16, height: u16) -> Self {
        self.size = (width, height);
        self
    }

    /// A terminal that keeps silent when it is asked what it is.
    pub fn silent(mut self) -> Self {
        self.answers = false;
        self
    }

    /// The program has the terminal as its standard streams, but none that controls it.
    pub fn without_controlling_terminal(mut self) -> Self {
        self.command.set_controlling_tty(false);
        self
    }

    /// Starts it.
    pub fn start(self) -> Pty {
        let (width, height) = self.size;
        let pair = native_pty_system().openpty(size_of(width, height)).unwrap();
        let before = line_settings(&*pair.master);
        let child = pair.slave.spawn_command(self.command).unwrap();
        let pid = Pid::from_raw(child.process_id().unwrap().try_into().unwrap()).unwrap();
        let (events, chunks) = (sync_channel(16), sync_channel(READ_AHEAD));
        let mut reader = pair.master.try_clone_reader().unwrap();
        thread::spawn(move || read_all(&mut reader, &chunks.0));
        thread::spawn(move || watch(pid, &events.0));
        Pty {
            writer: pair.master.take_writer().unwrap(),
            master: pair.master,
            _slave: pair.slave,
            pid,
            chunks: chunks.1,
            events: events.1,
            screen: vt100::Parser::new(height.try_into().unwrap(), width.try_into().unwrap(), 0),
            bytes: Vec::new(),
            modes: Modes::default(),
            answers: self.answers,
            before,
            ended: None,
            fences: 0,
        }
    }
}

/// Every number in the SGR sequences of `bytes`, but those that are part of a colour.
pub fn sgr_parameters(bytes: &[u8]) -> Vec<u16> {
    let text = String::from_utf8_lossy(bytes);
    let bodies = text.split("\x1b[").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| matches!(c, '@'..='~'))?;
        rest[end..].starts_with('m').then(|| rest[..end].to_owned())
    });
    bodies.flat_map(|body| body.split(';').filter_map(|p| p.parse().ok()).collect::<Vec<_>>()).collect()
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).rposition(|window| window == wanted)
}

fn size_of(width: u16, height: u16) -> PtySize {
    PtySize { rows: height, cols: width, pixel_width: 0, pixel_height: 0 }
}

/// Every flag and control character of the line, as text to compare.
fn line_settings(master: &dyn MasterPty) -> String {
    format!("{:?}", master.get_termios().unwrap())
}

fn read_all(reader: &mut dyn Read, chunks: &SyncSender<Vec<u8>>) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(n @ 1..) = reader.read(&mut buffer) {
        if chunks.send(buffer[..n].to_vec()).is_err() {
            return;
        }
    }
}

/// Reports when the program stops and when it ends.
fn watch(pid: Pid, events: &SyncSender<WaitStatus>) {
    while let Ok(Some((_, status))) = waitpid(Some(pid), WaitOptions::UNTRACED) {
        if events.send(status).is_err() || status.exited() || status.signaled() {
            return;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a test that waits must end")]
fn now() -> Instant {
    Instant::now()
}

/// A program that runs in its terminal. Ended by its pid when dropped.
pub struct Pty {
    writer: Box<dyn Write + Send>,
    master: Box<dyn MasterPty + Send>,
    /// Held open so that the line settings can be read after the program ended.
    _slave: Box<dyn SlavePty + Send>,
    pid: Pid,
    chunks: Receiver<Vec<u8>>,
    events: Receiver<WaitStatus>,
    screen: vt100::Parser,
    bytes: Vec<u8>,
    modes: Modes,
    answers: bool,
    before: String,
    ended: Option<WaitStatus>,
    /// Marks that were written to find the end of the output.
    fences: u32,
}

impl Pty {
    /// The text on the screen, a line per row, without blanks at the ends.
    pub fn text(&self) -> String {
        self.screen.screen().contents()
    }

    pub fn screen(&self) -> &vt100::Screen {
        self.screen.screen()
    }

    /// Everything that the program wrote and that was taken so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The modes that the program left on, so far.
    pub fn modes(&self) -> &Modes {
        &self.modes
    }

    /// Reads until `done` is true of this terminal.
    #[track_caller]
    pub fn wait_until(&mut self, what: &str, done: impl Fn(&Self) -> bool) {
        let deadline = now() + LIMIT;
        while !done(self) {
            match self.chunks.recv_timeout(deadline.saturating_duration_since(now())) {
                Ok(chunk) => self.take(&chunk),
                Err(error) => panic!("{what} did not come ({error}); the screen shows:\n{}", self.text()),
            }
        }
    }

    /// Reads until the screen shows `text`.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) {
        self.wait_until(&format!("{text:?}"), |pty| pty.text().contains(text));
    }

    /// Reads until the screen does not show `text` any more.
    #[track_caller]
    pub fn wait_gone(&mut self, text: &str) {
        self.wait_until(&format!("the end of {text:?}"), |pty| !pty.text().contains(text));
    }

    /// Types, then reads until the screen shows `text`.
    #[track_caller]
    pub fn press(&mut self, keys: &str, text: &str) {
        self.send(keys.as_bytes());
        self.wait_until(&format!("{text:?} after {keys:?}"), |pty| pty.text().contains(text));
    }

    /// Lets `time` pass without taking any output; the program must go on running.
    #[track_caller]
    pub fn let_pass(&self, time: Duration) {
        let event = self.events.recv_timeout(time);
        assert!(matches!(event, Err(RecvTimeoutError::Timeout)), "the program ended or stopped: {event:?}");
    }

    /// Takes what is written within `time`.
    pub fn take_for(&mut self, time: Duration) {
        let deadline = now() + time;
        while let Ok(chunk) = self.chunks.recv_timeout(deadline.saturating_duration_since(now())) {
            self.take(&chunk);
        }
    }

    /// Takes the next output and says how many bytes it was; `None` when none comes within `limit`.
    pub fn take_next(&mut self, limit: Duration) -> Option<usize> {
        let chunk = self.chunks.recv_timeout(limit).ok()?;
        self.take(&chunk);
        Some(chunk.len())
    }

    /// The row that shows `text`, from 0.
    #[track_caller]
    pub fn row_of(&self, text: &str) -> u16 {
        let at = self.text().lines().position(|line| line.contains(text));
        at.unwrap_or_else(|| panic!("{text:?} is not shown:\n{}", self.text())).try_into().unwrap()
    }

    /// The process id.
    pub fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// Waits until the program is stopped by a signal, and takes everything it wrote before.
    #[track_caller]
    pub fn wait_stopped(&mut self) {
        let status = self.next_event();
        assert!(status.stopped(), "the program ended instead of stopping: {status:?}\n{}", self.text());
    }

    /// Waits until the program has ended, and takes everything that it wrote.
    #[track_caller]
    pub fn wait_ended(&mut self) -> WaitStatus {
        let status = self.next_event();
        assert!(!status.stopped(), "the program stopped instead of ending:\n{}", self.text());
        self.ended = Some(status);
        status
    }

    /// Waits for the end of the program without taking any of its output.
    #[track_caller]
    pub fn wait_ended_unread(&mut self) -> WaitStatus {
        let status = self.events.recv_timeout(LIMIT).expect("the program does not end");
        assert!(!status.stopped(), "the program stopped instead of ending");
        self.ended = Some(status);
        status
    }

    /// The next stop or end; the output is taken meanwhile, so that the program can go on.
    #[track_caller]
    fn next_event(&mut self) -> WaitStatus {
        let deadline = now() + LIMIT;
        loop {
            match self.events.recv_timeout(Duration::from_millis(10)) {
                Ok(status) => {
                    self.drain();
                    return status;
                }
                Err(RecvTimeoutError::Timeout) if now() < deadline => {
                    while let Ok(chunk) = self.chunks.try_recv() {
                        self.take(&chunk);
                    }
                }
                Err(error) => panic!("the program neither stops nor ends ({error}):\n{}", self.text()),
            }
        }
    }

    /// Takes everything that was written up to now: a mark written behind it shows when all has come.
    #[track_caller]
    pub fn drain(&mut self) {
        self.fences += 1;
        let mark = format!("\x1b]777;fence {}\x07", self.fences).into_bytes();
        let path = self.master.tty_name().expect("the terminal has a name");
        let written = mark.clone();
        // In a thread: a terminal that is full takes the mark only while we read.
        let writer = thread::spawn(move || {
            let terminal = rustix::fs::open(path, OFlags::WRONLY | OFlags::NOCTTY, Mode::empty())?;
            rustix::io::write(&terminal, &written)
        });
        self.wait_until("the end of the output", |pty| find(&pty.bytes, &mark).is_some());
        writer.join().unwrap().unwrap();
        let at = find(&self.bytes, &mark).unwrap();
        self.bytes.drain(at..at + mark.len());
    }

    fn take(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
        self.modes.feed(chunk);
        self.screen.process(chunk);
        if self.answers {
            let answer = self.modes.take_answers(self.screen.screen().cursor_position());
            if !answer.is_empty() {
                self.send(&answer);
            }
        }
    }

    /// Types bytes.
    pub fn send(&mut self, bytes: &[u8]) {
        self.writer.write_all(bytes).unwrap();
        self.writer.flush().unwrap();
    }

    /// Pastes as a terminal in bracketed-paste mode does.
    pub fn paste(&mut self, text: &str) {
        self.send(format!("\x1b[200~{text}\x1b[201~").as_bytes());
    }

    pub fn resize(&mut self, width: u16, height: u16) {
        self.screen.screen_mut().set_size(height.try_into().unwrap(), width.try_into().unwrap());
        self.master.resize(size_of(width, height)).unwrap();
    }

    /// Gives the program a size that the emulated screen cannot have: without rows or columns.
    pub fn resize_unseen(&mut self, width: u16, height: u16) {
        self.master.resize(size_of(width, height)).unwrap();
    }

    /// Sends a signal to the program itself.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid, signal).unwrap();
    }

    /// Whether the line is set as it was before the program started.
    pub fn line_is_restored(&self) -> bool {
        line_settings(&*self.master) == self.before
    }

    /// Fails unless the terminal is as it was found.
    #[track_caller]
    pub fn assert_nothing_left_behind(&self) {
        assert!(self.modes.left_on().is_empty(), "left behind: {:?}", self.modes.left_on());
        let now = line_settings(&*self.master);
        assert_eq!(now, self.before, "the line settings differ");
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        if self.ended.is_none() {
            // It may have ended by itself meanwhile.
            let _ = kill_process(self.pid, Signal::KILL);
        }
    }
}
