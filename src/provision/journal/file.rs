//! Files of the journal: appended, synced, locked, read with whatever a crash left of the last line.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use rustix::fs::FlockOperation;

use super::notes::Notes;
use super::record::{Closing, Line, Record, Who};
use super::{ChangeId, Entry, Journal, JournalError, LastRun};
use crate::provision::plan::Plan;
use crate::provision::trouble::{Trouble, TroubleKind};

/// A change that this process has: nobody else can take it up.
pub struct Change {
    /// Its number.
    pub id: ChangeId,
    /// What it does: nothing else runs as this change.
    pub plan: Plan,
    /// What was seen at its last run; `None` where this is the first.
    pub last: Option<LastRun>,
    /// Its file.
    pub log: Log,
    /// What its steps noted.
    pub notes: Notes,
    /// Where it and the changes beside it are kept.
    pub journal: Journal,
}

/// The file of a change, open for lines. A copy is the same file.
#[derive(Clone)]
pub struct Log {
    open: Arc<Mutex<Open>>,
}

struct Open {
    file: File,
    /// Whether the last line could not be written to its end: the next one begins on a line of its own.
    cut: bool,
}

impl Log {
    fn new(file: File) -> Self {
        Self { open: Arc::new(Mutex::new(Open { file, cut: false })) }
    }

    /// Writes a line; it is on disk when this returns.
    ///
    /// # Errors
    /// [`TroubleKind::Journal`].
    pub fn write(&self, at: Timestamp, record: Record) -> Result<(), Trouble> {
        let failed = |why: &dyn std::fmt::Display| {
            Trouble::new(TroubleKind::Journal, format!("the journal cannot be written: {why}"))
                .with_help("make room in the site's state directory; nothing more is changed before it can be recorded")
        };
        let mut line = serde_json::to_vec(&Line { at, record }).map_err(|e| failed(&e))?;
        line.push(b'\n');
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.cut {
            line.insert(0, b'\n');
        }
        let written = open.file.write_all(&line).and_then(|()| open.file.sync_data());
        open.cut = written.is_err();
        written.map_err(|e| failed(&e))
    }

    /// Writes that a change is over.
    ///
    /// # Errors
    /// [`TroubleKind::Journal`].
    pub fn close(&self, at: Timestamp, how: Closing) -> Result<(), Trouble> {
        self.write(at, Record::Closed { how })
    }
}

fn failed<'a>(path: &'a Path, what: &'static str) -> impl Fn(std::io::Error) -> JournalError + 'a {
    move |why| JournalError::File { path: path.to_owned(), what, why }
}

pub(super) fn begin(
    journal: &Journal,
    (who, plan, takes_back): (&Who, &Plan, Option<ChangeId>),
    at: Timestamp,
) -> Result<Change, JournalError> {
    let shared = is_shared(journal);
    let there = journal.dir.exists();
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&journal.dir);
    made.map_err(failed(&journal.dir, "cannot be made"))?;
    if shared && !there {
        // Whatever the user's mask says.
        let opened = std::fs::set_permissions(&journal.dir, Permissions::from_mode(0o2770));
        opened.map_err(failed(&journal.dir, "cannot be opened to its group"))?;
    }
    let mut next = journal.ids()?.last().map_or(1, |last| last.0.saturating_add(1));
    let (path, file) = loop {
        let path = journal.path(ChangeId(next));
        // Two consoles that begin at once get two numbers.
        match OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => {
                if shared {
                    let opened = file.set_permissions(Permissions::from_mode(0o660));
                    opened.map_err(failed(&path, "cannot be opened to its group"))?;
                }
                break (path, file);
            }
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => next = next.saturating_add(1),
            Err(e) => return Err(failed(&path, "cannot be made")(e)),
        }
    };
    let id = ChangeId(next);
    alone(&file, id, &path)?;
    let log = Log::new(file);
    let takes_back = takes_back.map(|id| id.to_string());
    let opened = Record::Opened { who: who.clone(), plan: plan.clone(), takes_back };
    let not_written = |trouble: Trouble| failed(&path, "cannot be written")(std::io::Error::other(trouble.text));
    log.write(at, opened).map_err(not_written)?;
    let dir = File::open(&journal.dir).and_then(|dir| dir.sync_all());
    dir.map_err(failed(&journal.dir, "cannot be synced"))?;
    let notes = Notes::default().written_to(&log);
    Ok(Change { id, plan: plan.clone(), last: None, log, notes, journal: journal.clone() })
}

/// Whether the state directory lets its group write: then others of the group may take changes up.
fn is_shared(journal: &Journal) -> bool {
    let state = journal.dir.parent().and_then(|state| std::fs::metadata(state).ok());
    state.is_some_and(|state| state.permissions().mode() & 0o020 != 0)
}

pub(super) fn take_up(journal: &Journal, id: ChangeId) -> Result<(Entry, Change), JournalError> {
    let (entry, change) = keep(journal, id)?;
    if entry.closed().is_some() { Err(JournalError::Over(id)) } else { Ok((entry, change)) }
}

pub(super) fn keep(journal: &Journal, id: ChangeId) -> Result<(Entry, Change), JournalError> {
    let path = &journal.path(id);
    let opened = OpenOptions::new().append(true).read(true).open(path);
    let mut file = opened.map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => JournalError::NoChange(id.to_string()),
        _ => failed(path, "cannot be written")(e),
    })?;
    alone(&file, id, path)?;
    // Read under the lock: what another console wrote until it let go is in it.
    let entry = read(path, id)?;
    whole(&mut file).map_err(failed(path, "cannot be written"))?;
    let log = Log::new(file);
    let notes = entry.notes().written_to(&log);
    let (plan, last) = (entry.plan.clone(), entry.last_run());
    Ok((entry, Change { id, plan, last, log, notes, journal: journal.clone() }))
}

/// Tries of a lock that somebody has, and the time between them: a process that this one is just starting holds a copy of
/// what was open until it runs its own program.
const TRIES: u32 = 50;
const BETWEEN: Duration = Duration::from_millis(2);

#[expect(clippy::disallowed_methods, reason = "nothing tells when a starting process has let go")]
fn alone(file: &File, id: ChangeId, path: &Path) -> Result<(), JournalError> {
    for left in (0..TRIES).rev() {
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(rustix::io::Errno::WOULDBLOCK) if left > 0 => std::thread::sleep(BETWEEN),
            Err(rustix::io::Errno::WOULDBLOCK) => break,
            Err(e) => return Err(failed(path, "cannot be locked")(e.into())),
        }
    }
    Err(JournalError::Running(id))
}

/// Whether somebody has a change. Nobody is kept from it by this: the lock is shared, and given up at once.
pub(super) fn is_running(path: &Path) -> std::io::Result<bool> {
    let file = File::open(path)?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(false),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(true),
        Err(e) => Err(e.into()),
    }
}

/// Takes away a last line that was not written to its end: it never counted, and would be a damaged one among others.
fn whole(file: &mut File) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    let end = length_of_lines(&bytes);
    if end < bytes.len() {
        file.set_len(end as u64)?;
        file.sync_data()?;
    }
    Ok(())
}

/// Bytes of the lines that were written to their end.
fn length_of_lines(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|b| *b == b'\n').map_or(0, |end| end + 1)
}

pub(super) fn read(path: &Path, id: ChangeId) -> Result<Entry, JournalError> {
    let bytes = std::fs::read(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => JournalError::NoChange(id.to_string()),
        _ => failed(path, "cannot be read")(e),
    })?;
    let mut lines = Vec::new();
    let mut damaged = 0;
    // What follows the last line feed was not written to its end.
    for line in
        bytes.get(..length_of_lines(&bytes)).unwrap_or_default().split(|b| *b == b'\n').filter(|line| !line.is_empty())
    {
        match serde_json::from_slice::<Line>(line) {
            Ok(line) => lines.push(line),
            Err(_) => damaged += 1,
        }
    }
    let opened = lines.iter().find_map(|line| match &line.record {
        Record::Opened { who, plan, .. } => Some((line.at, who.clone(), plan.clone())),
        _ => None,
    });
    let instead = lines.iter().rev().find_map(|line| match &line.record {
        Record::Replanned { plan } => Some(plan.clone()),
        _ => None,
    });
    let missing = || {
        let path = path.to_owned();
        // A plan that was never written whole is followed by nothing.
        if damaged + lines.len() > 0 { JournalError::Damaged { path } } else { JournalError::NoPlan { path } }
    };
    let (at, who, plan) = opened.ok_or_else(missing)?;
    Ok(Entry { id, who, at, plan: instead.unwrap_or(plan), lines, damaged })
}
