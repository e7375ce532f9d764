//! HTTP as the back ends need it: trust (CA file, pinned certificate, system store), limits, typed errors.
//!
//! HTTP/1 only, no redirects, no proxy from the environment, no process-wide TLS default. A body is read up to a cap,
//! a request ends by a deadline, and only an idempotent read whose connection died before any answer is sent again.

mod certificate;
mod classify;
mod echo;
mod error;
mod look;
mod record;
mod text;
mod transport;
mod trust;

pub use certificate::Certificate;
pub use error::{HttpError, Kind, Outcome, Phase, TlsFault};
pub use look::{ClockSeen, HttpSeen, Look, TlsSeen, Wait, look};
pub use record::{Exchange, Recorder};
pub use text::{clean, clean_block};
pub use transport::{HttpClient, Limits, Request, Response};
pub use trust::fingerprint_text;

/// What a request does to the other side. Declared with each endpoint, never inferred from the HTTP method: a search
/// may be a POST.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Looks, changes nothing.
    Read,
    /// Leaves a short trace (a packet, a counter) and cleans up after itself.
    Probe,
    /// Changes state. Needs an approved plan.
    Write,
}
