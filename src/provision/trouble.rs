//! Why a step did not come to its end.

use serde::{Deserialize, Serialize};

use crate::text::clean_lines;

/// What is known of a change that did not succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TroubleKind {
    /// The back end was not reached: nothing was sent. Trying again is safe.
    NotReached,
    /// It was asked and did not answer, or broke off, or answered that it failed: what came of it shows when it is read again.
    Unsettled,
    /// It is busy with something that ends by itself: a lock of a task, another writer.
    Busy,
    /// It said no, for a reason that stays.
    Refused,
    /// What was asked for cannot be understood, or is no value that there is: it was looked at no further.
    Usage,
    /// Somebody else changed the object since the plan was shown.
    Moved,
    /// The answer was yes, and the object is not as it was to be.
    NotSeen,
    /// What is there cannot be told.
    Unknown,
    /// The journal cannot be written: nothing is done that it could not tell of.
    Journal,
    /// It was stopped from here.
    Stopped,
}

impl TroubleKind {
    /// Whether it is certain that nothing came of the try.
    #[must_use]
    pub const fn changed_nothing(self) -> bool {
        matches!(self, Self::Moved | Self::Refused | Self::NotReached)
    }

    /// Whether it tells something that is known, and not that something is unknown.
    #[must_use]
    pub const fn is_known(self) -> bool {
        matches!(self, Self::Refused | Self::Usage | Self::Moved)
    }

    /// Whether the same step may be tried again at once, after the object was read again.
    #[must_use]
    pub const fn may_pass(self) -> bool {
        matches!(self, Self::NotReached | Self::Unsettled | Self::Busy)
    }
}

/// Why a step did not come to its end, in one sentence, with a remedy where there is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{text}")]
pub struct Trouble {
    /// What is known of it.
    pub kind: TroubleKind,
    /// What went wrong, where. One line, cleaned.
    pub text: String,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Trouble {
    /// Trouble of a kind; the text may hold what a back end said.
    pub fn new(kind: TroubleKind, text: impl AsRef<str>) -> Self {
        Self { kind, text: one_line(text.as_ref()), help: None }
    }

    /// The same with a remedy.
    #[must_use]
    pub fn with_help(mut self, help: impl AsRef<str>) -> Self {
        self.help = Some(one_line(help.as_ref())).filter(|help| !help.is_empty());
        self
    }

    /// What is to be done.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }
}

fn one_line(text: &str) -> String {
    clean_lines(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_back_end_said_is_one_clean_line() {
        let trouble = Trouble::new(TroubleKind::Refused, "tag:\u{1b}[2J taken\n  by t1web\n").with_help("");
        assert!(!trouble.text.contains('\u{1b}') && !trouble.text.contains('\n'));
        assert!(trouble.text.ends_with("taken by t1web"));
        assert_eq!(trouble.help(), None);
    }
}
