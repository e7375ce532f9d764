//! Why no records could be read.

use super::SCHEMA;
use crate::backends::http::HttpError;

/// A listing that failed as a whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Nothing usable came back.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The credential cannot be part of a header.
    #[error("the credential is empty or holds characters that no header may carry")]
    BadCredential,
    /// 401 or 403.
    #[error("{place} {}", if *.status == 401 { "did not accept the credential" } else { "does not let this credential list check-ins" })]
    Denied {
        /// Origin.
        place: String,
        /// Status code.
        status: u16,
    },
    /// Another status than 200.
    #[error("{place}: the list of check-ins ended with HTTP {status}{}{text}", if .text.is_empty() { "" } else { ": " })]
    Status {
        /// Origin.
        place: String,
        /// Status code.
        status: u16,
        /// The service's words, clean and short.
        text: String,
    },
    /// Another major version.
    #[error("{place} says that it lists {found}; this program reads {SCHEMA}")]
    Schema {
        /// Origin or path.
        place: String,
        /// What it says it is.
        found: String,
    },
    /// No list of records.
    #[error("{place}: not a list of check-ins: {what}")]
    NotUnderstood {
        /// Origin or path.
        place: String,
        /// Why not.
        what: String,
    },
    /// The file cannot be read.
    #[error("{place} cannot be read: {why}")]
    File {
        /// Path.
        place: String,
        /// Why not.
        why: String,
        /// Whether a right is missing.
        denied: bool,
    },
    /// The file is larger than what is read.
    #[error("{place} is larger than {limit} bytes")]
    FileTooLarge {
        /// Path.
        place: String,
        /// Bytes read at most.
        limit: u64,
    },
}

impl Error {
    /// What to do about it, one sentence.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Http(error) => error.help(),
            Self::BadCredential => "Look at what `credential` in [bootstrap] names: one line, no spaces.".to_owned(),
            Self::Denied { status: 401, .. } => {
                "Put a valid operator credential where [bootstrap] credential says; it may have been revoked."
                    .to_owned()
            }
            Self::Denied { .. } => "Ask for an operator credential that may read every tenant.".to_owned(),
            Self::Status { status: 503, .. } => "The service is up and not ready; look at its log.".to_owned(),
            Self::Status { .. } => "Look at the service's log.".to_owned(),
            Self::Schema { .. } => "Use a version of this program that reads that schema.".to_owned(),
            Self::NotUnderstood { .. } => {
                "Check that [bootstrap] names a bootstrap service or a file of its records.".to_owned()
            }
            Self::File { denied: true, .. } => "Give your user the right to read the file.".to_owned(),
            Self::File { .. } => "Check the path of `file` in [bootstrap].".to_owned(),
            Self::FileTooLarge { .. } => "Keep the newest record of each workload and drop the older ones.".to_owned(),
        }
    }
}
