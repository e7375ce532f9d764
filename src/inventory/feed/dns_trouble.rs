//! What a failed reading of names leaves.

use crate::backends::dns::Failure;
use crate::backends::powerdns::Error;
use crate::inventory::source::{Gap, GapKind};

/// Why a cycle gave nothing.
pub(super) struct Trouble {
    /// Kind of hole.
    pub kind: GapKind,
    /// What is wrong, one clean line.
    pub text: String,
    /// What helps.
    pub help: String,
}

impl From<&Error> for Trouble {
    fn from(error: &Error) -> Self {
        Self { kind: kind(error), text: error.to_string(), help: error.help() }
    }
}

impl From<&Failure> for Trouble {
    fn from(failure: &Failure) -> Self {
        Self { kind: kind_of(failure), text: failure.to_string(), help: failure.help() }
    }
}

/// The gap that `error` leaves.
pub(super) fn gap(error: &Error) -> Gap {
    Gap::new(kind(error), error.to_string())
}

/// The gap that `failure` leaves.
pub(super) fn gap_of(failure: &Failure) -> Gap {
    Gap::new(kind_of(failure), failure.to_string())
}

/// A key that is wrong and an address that is not listed are missing rights: `api-key` and `webserver-allow-from`.
fn kind(error: &Error) -> GapKind {
    match error {
        Error::Unauthenticated | Error::SourceRefused { .. } | Error::Denied { .. } => GapKind::Denied,
        Error::Tunnel(ssh) => super::exit::kind(ssh),
        Error::Http(_) | Error::TunnelLost { .. } | Error::TunnelFarEnd { .. } => GapKind::NoAnswer,
        _ => GapKind::Failed,
    }
}

const fn kind_of(failure: &Failure) -> GapKind {
    match failure {
        Failure::Malformed { .. } | Failure::Oversized { .. } | Failure::Local { .. } => GapKind::Failed,
        _ => GapKind::NoAnswer,
    }
}
