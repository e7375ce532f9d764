//! What a line of the journal can say.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::provision::fields::{Difference, Seen};
use crate::provision::plan::Plan;
use crate::provision::trouble::Trouble;

/// Who runs a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Who {
    /// Login name.
    pub user: String,
    /// Host.
    pub host: String,
    /// Process id.
    pub pid: u32,
}

/// How a change ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Closing {
    /// Every step is as it was wanted.
    Done,
    /// It was taken back.
    Undone,
    /// Somebody decided that it stays as it is.
    LeftAsItIs,
}

/// The value of a note. It may be the token of a lock, which whoever has it may use: never shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NoteValue(String);

impl NoteValue {
    /// The value, for the step that noted it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether the note is not true any more.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&str> for NoteValue {
    fn from(value: &str) -> Self {
        Self(value.to_owned())
    }
}

impl std::fmt::Debug for NoteValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_empty() { "none" } else { "…" })
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
pub enum Record {
    /// A change was begun.
    Opened {
        /// By whom.
        who: Who,
        /// What is to be done.
        plan: Plan,
        /// The number of the change that it takes back, which is over when this one is done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        takes_back: Option<String>,
    },
    /// It was approved and runs from here: the first time, or again.
    Run {
        /// By whom.
        who: Who,
        /// What was seen of each step when it was approved; empty where it could not be told.
        digests: Vec<String>,
        /// What of others was approved to go along.
        riders: Vec<String>,
    },
    /// Another plan takes its place, before anything of it was done: an index was taken by somebody else.
    Replanned {
        /// What is to be done instead.
        plan: Plan,
    },
    /// A step is about to change something.
    Begun {
        /// Its number, from 0.
        step: usize,
        /// What is there.
        before: Seen,
        /// What has to be done.
        todo: Difference,
    },
    /// Something a step has to find again: the token of a lock, the id of a task.
    Note {
        /// Its name.
        key: String,
        /// Its value; empty = not true any more.
        value: NoteValue,
    },
    /// The back end answered yes.
    Applied {
        /// Step, from 0.
        step: usize,
    },
    /// Read back, as it was wanted.
    Verified {
        /// Step, from 0.
        step: usize,
        /// What was there then: what is taken back has to be that still.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<Seen>,
    },
    /// There was nothing to do.
    Satisfied {
        /// Step, from 0.
        step: usize,
    },
    /// A step did not come to its end.
    Failed {
        /// Step, from 0.
        step: usize,
        /// Why.
        trouble: Trouble,
    },
    /// The run was stopped before this step, or in it.
    Interrupted {
        /// Step, from 0.
        step: usize,
    },
    /// Something that was held was given back, or could not be.
    GaveBack {
        /// What.
        what: String,
        /// Why not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trouble: Option<Trouble>,
    },
    /// It is over.
    Closed {
        /// How.
        how: Closing,
    },
}

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// When.
    pub at: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub record: Record,
}
