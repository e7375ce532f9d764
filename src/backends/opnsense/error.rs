//! What OPNsense refuses, typed. Sources: facts/opnsense.md §1, §2, §3.

use std::collections::BTreeMap;

use crate::backends::http::{HttpError, Outcome};

use super::endpoints::Privilege;
use super::forward::BadForward;
use super::version::Version;
use super::wire::Unreadable;

/// Why a request to OPNsense gave no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No usable answer at all.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// Key or secret cannot be what OPNsense hands out. Their text is never shown.
    #[error("the OPNsense API key or secret cannot be used: {0}")]
    BadCredentials(&'static str),
    /// An id that cannot be part of a request path.
    #[error("{value:?} is not a valid {what}")]
    BadId {
        /// What it should have been.
        what: &'static str,
        /// What it was, cleaned.
        value: String,
    },
    /// Sent to the login page: the key did not arrive, for instance because a proxy dropped it.
    #[error("OPNsense sent this request to its login page: it saw no API key")]
    NoCredentials,
    /// 401: key, secret or their user is wrong or disabled.
    #[error("OPNsense did not accept the API key: {reason}")]
    Unauthenticated {
        /// OPNsense's words.
        reason: String,
    },
    /// 403: the key's user lacks a privilege.
    #[error("not permitted: {endpoint} needs {}", named(.need))]
    Denied {
        /// Path of the endpoint.
        endpoint: String,
        /// Privileges, any one of which would do; empty = only "All pages".
        need: &'static [Privilege],
    },
    /// The key's user may not write ("Deny config write"). Comes as a 500.
    #[error("this API key may not change anything: {text}")]
    ReadOnlyKey {
        /// OPNsense's words.
        text: String,
    },
    /// This version has no such endpoint: 404, or 200 with nothing in it where a catch-all answers.
    #[error("this OPNsense version has no {endpoint}")]
    NoEndpoint {
        /// Path of the endpoint.
        endpoint: String,
    },
    /// Known beforehand not to exist in the router's version; nothing was sent.
    #[error("OPNsense {version} does not tell {what} (needs {since})")]
    NotOffered {
        /// What was wanted.
        what: &'static str,
        /// The router's version.
        version: Version,
        /// First version that has it.
        since: Version,
    },
    /// 400: the request as such was not understood.
    #[error("OPNsense did not understand the request: {text}")]
    BadRequest {
        /// Its words.
        text: String,
    },
    /// Not sent: a forward that the router would refuse, or take and not carry out.
    #[error(transparent)]
    BadForward(#[from] BadForward),
    /// Not sent: the object is of another kind, and this command would turn it into one of its own.
    #[error("{what}")]
    OtherKind {
        /// Which, and what it is.
        what: String,
    },
    /// 200 with `"result":"failed"` or `"status":"error"`: values refused, unknown id, or the wrong HTTP method.
    #[error("OPNsense refused: {}", refusal(.validations))]
    Failed {
        /// Field (`rule.protocol`) → why; empty where OPNsense gives no reason.
        validations: BTreeMap<String, Vec<String>>,
    },
    /// No object with this id (an empty list where an object should be, or `not found`).
    #[error("does not exist: {what}")]
    Absent {
        /// What was asked for.
        what: String,
    },
    /// 500 with words for the user, e.g. an object in use.
    #[error("OPNsense refused: {text}")]
    Refused {
        /// Its words.
        text: String,
    },
    /// 500 without: OPNsense's own code failed; the reason is in its log.
    #[error("OPNsense failed on {endpoint}: {text}")]
    Crashed {
        /// Path of the endpoint.
        endpoint: String,
        /// Its words.
        text: String,
    },
    /// A list that changed while its pages were read, or that holds fewer rows than it says.
    #[error("{endpoint}: {got} rows of {total} came")]
    Incomplete {
        /// Path of the endpoint.
        endpoint: String,
        /// Rows read.
        got: usize,
        /// Rows announced.
        total: usize,
    },
    /// An answer that is not from the OPNsense API, e.g. a page of a proxy or of the web server.
    #[error("HTTP {status}, but the answer is not from the OPNsense API: {snippet}")]
    NotTheApi {
        /// Status.
        status: u16,
        /// Media type and first words, cleaned.
        snippet: String,
    },
    /// A field of an answer that cannot be understood.
    #[error("{endpoint}: the answer cannot be understood at {fault}")]
    Unreadable {
        /// Path of the endpoint.
        endpoint: String,
        /// Where and why.
        fault: Unreadable,
    },
    /// An API answer with a status that has no meaning here.
    #[error("HTTP {status}: {text}")]
    Other {
        /// Status.
        status: u16,
        /// Words of the answer.
        text: String,
    },
}

fn named(need: &[Privilege]) -> String {
    match need {
        [] => "the privilege \"All pages\" (page-all)".to_owned(),
        some => {
            let names: Vec<String> = some.iter().map(|p| format!("\"{}\" ({})", p.name, p.id)).collect();
            format!("the privilege {}", names.join(" or "))
        }
    }
}

fn refusal(validations: &BTreeMap<String, Vec<String>>) -> String {
    if validations.is_empty() {
        return "it does not say why".to_owned();
    }
    validations.iter().map(|(field, why)| format!("{field}: {}", why.join(" "))).collect::<Vec<_>>().join("; ")
}

impl Error {
    /// What to do about it, one sentence.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Http(error) => error.help(),
            Self::Denied { need, .. } => {
                format!("Give the key's user {} (System → Access → Users or Groups).", named(need))
            }
            other => other.fixed_help().to_owned(),
        }
    }

    /// Whether asking again later can help without anybody changing a configuration.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Http(error) => error.is_transient(),
            Self::Crashed { .. } | Self::Incomplete { .. } => true,
            _ => false,
        }
    }

    /// Whether the request can have changed something.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Http(error) => error.outcome(),
            Self::BadCredentials(_)
            | Self::BadId { .. }
            | Self::NotOffered { .. }
            | Self::BadForward(_)
            | Self::OtherKind { .. } => Outcome::NotSent,
            // OPNsense's own code failed: how far it came is in its log.
            Self::Crashed { .. } | Self::Unreadable { .. } => Outcome::Unknown,
            Self::Other { status, .. } => Outcome::of_status(*status),
            Self::NotTheApi { status, .. } => Outcome::of_foreign(*status),
            _ => Outcome::Answered,
        }
    }

    fn fixed_help(&self) -> &'static str {
        match self {
            Self::BadCredentials(_) => {
                "Store the two values of the downloaded key file, key= and secret=, each in its own place."
            }
            Self::BadId { .. } => "Correct the name.",
            Self::NoCredentials => "Check what stands between here and the router: it drops the Authorization header.",
            Self::Unauthenticated { .. } => {
                "Check key and secret and that their user is enabled (System → Access → Users)."
            }
            Self::ReadOnlyKey { .. } => {
                "Nothing to do for reading; for changes use a key without \"Deny config write\"."
            }
            Self::NoEndpoint { .. } | Self::NotOffered { .. } => {
                "Update the router; without it this view stays unknown."
            }
            Self::BadRequest { .. } => "Something between here and the router changes requests, or versions differ.",
            Self::BadForward(_) => "Correct the forward.",
            Self::OtherKind { .. } => {
                "Read the forwards again; delete this row and add a plain forward if that is meant."
            }
            Self::Failed { .. } => "Correct the fields named.",
            Self::Absent { .. } => "Read again: it may just have been deleted.",
            Self::Refused { .. } | Self::Http(_) | Self::Denied { .. } | Self::Other { .. } => {
                "Look at the router's log (System → Log Files → General)."
            }
            Self::Crashed { .. } => "Look at the router's log (System → Log Files → Backend and General).",
            Self::Incomplete { .. } => "Read again: the list changed in between.",
            Self::NotTheApi { .. } => "Check the URL in the site file; a proxy may stand in between.",
            Self::Unreadable { .. } => "This version of OPNsense answers in a form not known here; report the field.",
        }
    }
}
