//! The journal: one file a change, one JSON object a line, on disk before and after each step.
//!
//! A line that was cut by a crash counts as not written. Nothing is concluded from the journal about a back end: it tells
//! what was tried, who did, and what was noted (the token of a lock, the id of a task); what is there is read again.

mod file;
mod notes;
mod open;
mod record;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

pub use file::{Change, Log};
pub use notes::Notes;
pub use record::{Closing, Line, NoteValue, Record, Who};

use super::fields::{Difference, Seen};
use super::plan::Plan;

/// Number of a change: `C-0042`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChangeId(u32);

impl std::fmt::Display for ChangeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "C-{:04}", self.0)
    }
}

impl std::str::FromStr for ChangeId {
    type Err = JournalError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix("C-").unwrap_or(text);
        let number = digits.parse().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()));
        number.map(Self).ok_or_else(|| JournalError::NoChange(crate::text::clean(text).into_owned()))
    }
}

/// Why the journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The directory or a file cannot be read or written.
    #[error("{}: {what}: {why}", path.display())]
    File {
        /// Directory or file.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// The system's words.
        why: std::io::Error,
    },
    /// Somebody runs this change now.
    #[error("change {0} is being run by another console")]
    Running(ChangeId),
    /// It came to its end.
    #[error("change {0} is over")]
    Over(ChangeId),
    /// A way back of it did not come to its end.
    #[error("change {0} is being taken back by {1}, which did not come to its end")]
    TakenBack(ChangeId, ChangeId),
    /// A way back of it came to its end.
    #[error("{0} was taken back by {1}")]
    Undone(ChangeId, ChangeId),
    /// No change of that number.
    #[error("{0:?} is no change of this site")]
    NoChange(String),
    /// Its plan cannot be read, though something was written after it.
    #[error("{}: its plan cannot be read; it may hold the SDN lock", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// Nothing of it can be read.
    #[error("{}: holds no plan that can be read", path.display())]
    NoPlan {
        /// The file.
        path: PathBuf,
    },
}

impl JournalError {
    /// What to do.
    #[must_use]
    pub fn help(&self) -> Cow<'static, str> {
        let words = match self {
            Self::TakenBack(of, back) => {
                return Cow::Owned(format!(
                    "`deevnet-console resume {back}` goes on with the way back; `deevnet-console resume --leave {back}` \
                     leaves it as it is: then {of} is resumed or taken back"
                ));
            }
            Self::File { .. } => {
                "make the site's state directory writable for you, or set [state] dir in the site file"
            }
            Self::Over(_) => "what it did can be taken back by a change of its own",
            Self::Undone(..) => "what came after it is taken back by a change of its own",
            Self::Running(_) => "wait until it ends, or stop it there",
            Self::NoChange(_) => "`deevnet-console journal` lists them",
            Self::Damaged { .. } => {
                "read it: it may be of a newer version; what it noted tells what is to be given back"
            }
            Self::NoPlan { .. } => "nothing was begun: the file can be removed",
        };
        Cow::Borrowed(words)
    }
}

/// All changes of a site.
#[derive(Debug, Clone)]
pub struct Journal {
    dir: PathBuf,
}

/// How far a step came, by the journal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StepState {
    /// What was there before it was begun, the first time.
    pub before: Option<Seen>,
    /// What had to be done, each time it was begun.
    pub todo: Vec<Difference>,
    /// Whether it was read back as it was wanted.
    pub verified: bool,
    /// What was read back then.
    pub after: Option<Seen>,
    /// Whether the back end said yes, or the same run saw it done: what is there is its work.
    pub own: bool,
}

/// What was seen when a change was approved the last time, of the steps that nothing came of since.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LastRun {
    /// Digest of each step's object; empty where it could not be told, or the step was begun.
    pub digests: Vec<String>,
}

/// A change as its file tells it.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its number.
    pub id: ChangeId,
    /// Who began it.
    pub who: Who,
    /// When.
    pub at: Timestamp,
    /// What was to be done.
    pub plan: Plan,
    /// All that can be read, in order.
    pub lines: Vec<Line>,
    /// Lines that cannot be read, apart from a last one that was cut.
    pub damaged: usize,
}

impl Entry {
    /// What of it cannot be read, in words.
    #[must_use]
    pub fn unread(&self) -> Option<String> {
        let lines = match self.damaged {
            0 => return None,
            1 => "1 line of its journal cannot be read and counts".to_owned(),
            many => format!("{many} lines of its journal cannot be read and count"),
        };
        Some(format!("{}: {lines} for nothing: cut when a run ended, or changed since", self.id))
    }

    /// How it ended; `None` = it did not come to an end.
    #[must_use]
    pub fn closed(&self) -> Option<Closing> {
        self.lines.iter().rev().find_map(|line| match &line.record {
            Record::Closed { how } => Some(*how),
            _ => None,
        })
    }

    /// The change that this one takes back, and that is over when this one is done.
    #[must_use]
    pub fn takes_back(&self) -> Option<ChangeId> {
        self.lines.iter().find_map(|line| match &line.record {
            Record::Opened { takes_back, .. } => takes_back.as_ref()?.parse().ok(),
            _ => None,
        })
    }

    /// How far each step came.
    #[must_use]
    pub fn steps(&self) -> Vec<StepState> {
        let mut states = vec![StepState::default(); self.plan.steps.len()];
        let mut answered = Vec::new();
        for line in &self.lines {
            match &line.record {
                Record::Begun { step, before, todo } => {
                    if let Some(state) = states.get_mut(*step) {
                        state.before.get_or_insert_with(|| before.clone());
                        state.todo.push(todo.clone());
                        state.verified = false;
                    }
                }
                Record::Applied { step } => {
                    answered.push(*step);
                    if let Some(state) = states.get_mut(*step) {
                        state.own = true;
                    }
                }
                // Refused at the first try, and changed by one request: nothing came of it. What was read before the next
                // try counts.
                Record::Failed { step, trouble } if trouble.kind.changed_nothing() => {
                    let in_one = self.plan.steps.get(*step).is_some_and(|step| step.object.ensure().in_one());
                    if let Some(state) = states.get_mut(*step)
                        && state.todo.len() == 1
                        && in_one
                        && !answered.contains(step)
                    {
                        *state = StepState::default();
                    }
                }
                Record::Verified { step, after } => {
                    if let Some(state) = states.get_mut(*step) {
                        state.verified = true;
                        state.own = true;
                        state.after.clone_from(after);
                    }
                }
                Record::Satisfied { step } => {
                    if let Some(state) = states.get_mut(*step) {
                        state.verified = true;
                    }
                }
                _ => {}
            }
        }
        states
    }

    /// What its steps noted.
    #[must_use]
    pub fn notes(&self) -> Notes {
        let notes = self.lines.iter().filter_map(|line| match &line.record {
            Record::Note { key, value } => Some((key.clone(), value.expose().to_owned())),
            Record::Begun { step, .. } => Some((begun(*step), "yes".to_owned())),
            _ => None,
        });
        Notes::remembered(notes)
    }

    /// What was seen at its last run; `None` before the first.
    #[must_use]
    pub fn last_run(&self) -> Option<LastRun> {
        let mut digests = self.lines.iter().rev().find_map(|line| match &line.record {
            Record::Run { digests, .. } => Some(digests.clone()),
            _ => None,
        })?;
        for line in &self.lines {
            if let Record::Begun { step, .. } = line.record
                && let Some(digest) = digests.get_mut(step)
            {
                digest.clear();
            }
        }
        Some(LastRun { digests })
    }

    /// The last thing that is known of it.
    #[must_use]
    pub fn last(&self) -> Timestamp {
        self.lines.last().map_or(self.at, |line| line.at)
    }
}

/// Name of the note that a step was begun, of whatever run: what is there may be its own work.
#[must_use]
pub fn begun(step: usize) -> String {
    format!("begun step {step}")
}

impl Journal {
    /// The journal in the state directory of a site. Made when the first change is begun.
    #[must_use]
    pub fn in_state(state: &Path) -> Self {
        Self { dir: state.join("journal") }
    }

    /// Where a change is kept.
    #[must_use]
    pub fn path(&self, id: ChangeId) -> PathBuf {
        self.dir.join(format!("{id}.jsonl"))
    }

    /// Numbers of all changes, ascending.
    ///
    /// # Errors
    /// When the directory cannot be read; one that is not there holds none.
    pub fn ids(&self) -> Result<Vec<ChangeId>, JournalError> {
        let failed = |why| JournalError::File { path: self.dir.clone(), what: "cannot be read", why };
        let entries = match std::fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(failed(e)),
        };
        let mut ids = Vec::new();
        for entry in entries {
            let name = entry.map_err(failed)?.file_name();
            let id: Option<ChangeId> =
                name.to_str().and_then(|name| name.strip_suffix(".jsonl")).and_then(|name| name.parse().ok());
            ids.extend(id);
        }
        ids.sort_unstable();
        Ok(ids)
    }

    /// What a change's file tells.
    ///
    /// # Errors
    /// [`JournalError::NoChange`], [`JournalError::NoPlan`], or that it cannot be read.
    pub fn read(&self, id: ChangeId) -> Result<Entry, JournalError> {
        file::read(&self.path(id), id)
    }

    /// Changes that did not come to an end, newest last. Files without a plan began nothing and are left out.
    ///
    /// # Errors
    /// When the directory or a file cannot be read.
    pub fn unfinished(&self) -> Result<Vec<Entry>, JournalError> {
        let mut open = Vec::new();
        for id in self.ids()? {
            match self.read(id) {
                Ok(entry) if entry.closed().is_none() => open.push(entry),
                Ok(_) | Err(JournalError::NoPlan { .. }) => {}
                Err(e) => return Err(e),
            }
        }
        Ok(open)
    }

    /// Begins a change: takes the next number, and writes who does what.
    ///
    /// # Errors
    /// When it cannot be written: then nothing may be done.
    pub fn begin(&self, who: &Who, plan: &Plan, at: Timestamp) -> Result<Change, JournalError> {
        file::begin(self, (who, plan, None), at)
    }

    /// Begins the way back of a change: the same, and on disk with its plan is which change it takes back.
    ///
    /// # Errors
    /// As [`Journal::begin`].
    pub fn begin_back(&self, who: &Who, plan: &Plan, of: ChangeId, at: Timestamp) -> Result<Change, JournalError> {
        file::begin(self, (who, plan, Some(of)), at)
    }

    /// The newest way back of a change that did not come to its end.
    ///
    /// # Errors
    /// When the directory cannot be read. Files that cannot be read tell of no way back.
    pub fn open_way_back(&self, of: ChangeId) -> Result<Option<ChangeId>, JournalError> {
        let later = self.ids()?.into_iter().rev().take_while(|later| *later > of);
        let open = |entry: &Entry| entry.takes_back() == Some(of) && entry.closed().is_none();
        Ok(later.filter_map(|id| self.read(id).ok()).find(open).map(|entry| entry.id))
    }

    /// The way back of a change that came to its end, unless that was taken back itself.
    ///
    /// # Errors
    /// When the directory cannot be read. Files that cannot be read tell of no way back.
    pub fn taken_back(&self, of: ChangeId) -> Result<Option<ChangeId>, JournalError> {
        for later in self.ids()?.into_iter().rev().take_while(|later| *later > of) {
            let back = self.read(later).ok().filter(|entry| entry.takes_back() == Some(of));
            if back.is_some_and(|back| back.closed() == Some(Closing::Done)) && self.taken_back(later)?.is_none() {
                return Ok(Some(later));
            }
        }
        Ok(None)
    }

    /// Whether some console has the change now. It is only looked at: nobody is kept from taking it up.
    ///
    /// # Errors
    /// When its file cannot be opened.
    pub fn is_running(&self, id: ChangeId) -> Result<bool, JournalError> {
        let path = self.path(id);
        file::is_running(&path).map_err(|why| JournalError::File { path, what: "cannot be read", why })
    }

    /// Takes a change up again, alone: a second console is refused for as long as this one has it.
    ///
    /// # Errors
    /// [`JournalError::Running`] while another console has it, [`JournalError::Over`] when it ended; else as [`Self::read`].
    pub fn take_up(&self, id: ChangeId) -> Result<(Entry, Change), JournalError> {
        file::take_up(self, id)
    }

    /// The same of a change that may be over: nobody else takes it up, or back, for as long as this one has it.
    ///
    /// # Errors
    /// As [`Self::take_up`], but for [`JournalError::Over`].
    pub fn keep(&self, id: ChangeId) -> Result<(Entry, Change), JournalError> {
        file::keep(self, id)
    }
}

#[cfg(test)]
mod tests;
