//! Why the registry could not be read.

use crate::backends::http::HttpError;

/// A list that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Nothing usable came back.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The token cannot be part of a header.
    #[error("the token is empty or holds characters that no header may carry")]
    BadToken,
    /// 401 or 403.
    #[error("{place} {}", if *.status == 401 { "did not accept the token" } else { "does not let this token list tenants" })]
    Denied {
        /// Origin.
        place: String,
        /// Status code.
        status: u16,
    },
    /// Another status than 200.
    #[error("{place}: {path} ended with HTTP {status}{}{text}", if .text.is_empty() { "" } else { ": " })]
    Status {
        /// Origin.
        place: String,
        /// Path.
        path: &'static str,
        /// Status code.
        status: u16,
        /// The registry's words, clean and short.
        text: String,
    },
    /// Not the list that was asked for.
    #[error("{place}: not a list of the registry: {what}")]
    NotUnderstood {
        /// Origin.
        place: String,
        /// Why not.
        what: String,
    },
}

impl Error {
    /// What to do about it, one sentence.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Http(error) => error.help(),
            Self::BadToken => "Look at what `token` in [registry] names: one line, no spaces.".to_owned(),
            Self::Denied { status: 401, .. } => {
                "Put a valid operator token where [registry] token says; it may have been replaced.".to_owned()
            }
            Self::Denied { .. } => "Use an operator token: a tenant's own token reads that tenant alone.".to_owned(),
            Self::Status { .. } => {
                "Look at the registry's log: its answers name the step, the log says why.".to_owned()
            }
            Self::NotUnderstood { .. } => "Check that [registry] url is the registry of this site.".to_owned(),
        }
    }
}
