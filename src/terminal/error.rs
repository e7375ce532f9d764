//! What can go wrong between the console and its terminal.

use std::io;

/// Why the terminal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TerminalError {
    /// The process has no controlling terminal.
    #[error("there is no terminal to draw on: /dev/tty cannot be opened: {0}")]
    NoTty(#[source] io::Error),
    /// The terminal cannot place text, by its own name.
    #[error("the terminal calls itself {term:?} (TERM), which cannot show full-screen programs")]
    Unsuitable {
        /// The value of `TERM`; empty when it is not set.
        term: String,
    },
    /// The terminal refused a setting or a write.
    #[error("the terminal refused {what}: {source}")]
    Refused {
        /// What was asked of it.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl TerminalError {
    /// What the operator can do about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::NoTty(_) => "log in with a terminal (ssh -t), or use a verb such as `get` or `render`",
            Self::Unsuitable { .. } => "set TERM to what your terminal is (such as xterm-256color), or use a verb",
            Self::Refused { .. } => "check that the session is still connected, then start again",
        }
    }

    pub(super) fn refused(what: &'static str) -> impl FnOnce(rustix::io::Errno) -> Self {
        move |errno| Self::Refused { what, source: errno.into() }
    }
}
