//! What can go wrong between this program and a server, in words an operator can act on.

use std::time::Duration;

use super::trust::fingerprint_text;

/// A request that produced no usable answer: where it went, and what happened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{origin}: {kind}")]
pub struct HttpError {
    /// Scheme, host and port, e.g. `https://10.20.99.22:8006`.
    pub origin: String,
    /// What happened.
    pub kind: Kind,
}

/// Which part of a request was under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Name lookup, TCP connect and TLS handshake.
    Connect,
    /// Request sent, no status line yet.
    Answer,
    /// Status line seen, body incomplete.
    Body,
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Connect => "connecting",
            Self::Answer => "waiting for the answer",
            Self::Body => "reading the answer",
        })
    }
}

/// What is known of a request that gave no value: whether it can have changed something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It did not reach the server: nothing was changed, and sending it again is safe.
    NotSent,
    /// It may have been carried out, in whole or in part: look before anything else is done.
    Unknown,
    /// The server answered and its answer was understood: what it says holds.
    Answered,
}

/// The kinds of failure that matter to an operator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Kind {
    /// The configuration cannot work; nothing was sent.
    #[error("{0}")]
    Setup(String),
    /// The host name has no address.
    #[error("the name {host} does not resolve: {reason}")]
    NameNotResolved {
        /// The name asked for.
        host: String,
        /// The resolver's words.
        reason: String,
    },
    /// Nothing listens there.
    #[error("connection refused")]
    Refused,
    /// No route, host or network unreachable.
    #[error("unreachable: {0}")]
    Unreachable(String),
    /// Too slow.
    #[error("no progress within {limit:?} while {phase}")]
    TimedOut {
        /// What was under way.
        phase: Phase,
        /// The limit that was hit.
        limit: Duration,
    },
    /// The connection ended before any answer.
    #[error("the server closed the connection before answering")]
    ClosedBeforeAnswer,
    /// The connection stood and was lost before any answer: no route any more, or TLS broke after the handshake.
    #[error("the connection was lost before any answer: {0}")]
    Lost(String),
    /// The connection ended inside an answer.
    #[error("the connection broke inside the answer: {0}")]
    Broken(String),
    /// TLS failed.
    #[error("{0}")]
    Tls(TlsFault),
    /// The bytes that came back are not HTTP.
    #[error("the answer is not HTTP: {0}")]
    NotHttp(String),
    /// The answer is larger than allowed.
    #[error("the answer is larger than {limit} bytes")]
    BodyTooLarge {
        /// Bytes allowed.
        limit: usize,
    },
    /// A redirect. None is followed: the token would go along.
    #[error("redirected (HTTP {status}) to {location}; redirects are not followed")]
    Redirected {
        /// 3xx.
        status: u16,
        /// Where to, cleaned; `nowhere` when the header is missing.
        location: String,
    },
    /// Plain HTTP was spoken to a port that wants HTTPS.
    #[error("plain HTTP to an HTTPS port (HTTP {status} to {location})")]
    PlainToTls {
        /// 301 or 308.
        status: u16,
        /// Where to, cleaned.
        location: String,
    },
    /// An answer whose status says no, where the back end has nothing more to say about it.
    #[error("HTTP {status} {reason}")]
    Status {
        /// Status code.
        status: u16,
        /// Reason phrase, cleaned.
        reason: String,
    },
    /// Something without a kind of its own.
    #[error("{0}")]
    Other(String),
}

/// Why TLS failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TlsFault {
    /// Signed by nobody we trust.
    #[error("the server's certificate is signed by an unknown issuer")]
    UnknownIssuer,
    /// A signature does not fit: another authority of the same name, or a server without the certificate's key.
    #[error("a signature of the server's certificate or handshake is wrong")]
    BadSignature,
    /// Past its end date.
    #[error("the server's certificate has expired")]
    Expired,
    /// Before its start date.
    #[error("the server's certificate is not valid yet")]
    NotYetValid,
    /// Issued for other names.
    #[error("the server's certificate is not for {expected}, but for {presented}")]
    NameMismatch {
        /// The name in the URL.
        expected: String,
        /// Names in the certificate.
        presented: String,
    },
    /// Not the pinned certificate.
    #[error(
        "the server's certificate is not the pinned one: expected SHA-256 {}, got {}",
        fingerprint_text(.expected),
        fingerprint_text(.seen)
    )]
    PinMismatch {
        /// Configured.
        expected: [u8; 32],
        /// Presented.
        seen: [u8; 32],
    },
    /// The other side does not speak TLS.
    #[error("the server does not speak TLS on this port")]
    NotTls,
    /// The other side ended the handshake.
    #[error("the server refused the TLS handshake: {0}")]
    Alert(String),
    /// Any other fault, in the library's words.
    #[error("TLS failed: {0}")]
    Other(String),
}

impl HttpError {
    /// What to do about it, one sentence.
    #[must_use]
    pub fn help(&self) -> String {
        self.kind.help().to_owned()
    }

    /// Whether asking again later can help without anybody changing a configuration.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(
            self.kind,
            Kind::Refused
                | Kind::Unreachable(_)
                | Kind::TimedOut { .. }
                | Kind::ClosedBeforeAnswer
                | Kind::Lost(_)
                | Kind::Broken(_)
        )
    }

    /// Whether the request can have changed something.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        self.kind.outcome()
    }
}

impl Kind {
    /// Whether the request can have changed something. Where it is not sure that nothing was sent, it is unknown.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self {
            // `classify` keeps these to what fails before a connection stands.
            Self::Setup(_)
            | Self::NameNotResolved { .. }
            | Self::Refused
            | Self::Unreachable(_)
            | Self::TimedOut { phase: Phase::Connect, .. }
            | Self::Tls(_) => Outcome::NotSent,
            Self::Redirected { .. } | Self::PlainToTls { .. } => Outcome::Answered,
            Self::Status { status, .. } => Outcome::of_status(*status),
            Self::TimedOut { .. }
            | Self::ClosedBeforeAnswer
            | Self::Lost(_)
            | Self::Broken(_)
            | Self::NotHttp(_)
            | Self::BodyTooLarge { .. }
            | Self::Other(_) => Outcome::Unknown,
        }
    }

    fn help(&self) -> &'static str {
        match self {
            Self::Setup(_) => "Correct the site file.",
            Self::NameNotResolved { .. } => {
                "Use an address instead of a name in the site file: the resolver may be what is down."
            }
            Self::Refused => "Check that the service runs and that the port in the site file is right.",
            Self::Unreachable(_) => "Check the route from here to this address.",
            Self::TimedOut { phase: Phase::Connect, .. } => "Check the route and the firewall between here and there.",
            Self::TimedOut { .. } => "The server is slow or hangs; look at its load and its log.",
            Self::ClosedBeforeAnswer | Self::Lost(_) | Self::Broken(_) => {
                "Try again; if it stays, look at the server's log."
            }
            Self::Tls(fault) => fault.help(),
            Self::NotHttp(_) => "Check scheme and port in the site file: this may be a TLS port or another service.",
            Self::BodyTooLarge { .. } => "This is not the service expected there, or its data outgrew the limit.",
            Self::Redirected { .. } => "Put the final address into the site file.",
            Self::PlainToTls { .. } => "Write https:// in the site file.",
            Self::Status { .. } => "Look at the server's log.",
            Self::Other(_) => "Look at the log of both sides.",
        }
    }
}

impl Outcome {
    /// Of an answer with an error status. A gateway that says 502 or 504 has passed the request on, and does not know
    /// what became of it.
    pub(in crate::backends) fn of_status(status: u16) -> Self {
        if matches!(status, 502 | 504) { Self::Unknown } else { Self::Answered }
    }

    /// Of an answer that is not the API's own: only a 4xx says that the request went no further.
    pub(in crate::backends) fn of_foreign(status: u16) -> Self {
        if (400..500).contains(&status) { Self::Answered } else { Self::Unknown }
    }
}

impl TlsFault {
    fn help(&self) -> &'static str {
        match self {
            Self::UnknownIssuer => {
                "Name the CA's certificate or the server's fingerprint in the site file (Proxmox: /etc/pve/pve-root-ca.pem)."
            }
            Self::BadSignature => {
                "The CA may have been made anew under the same name: fetch its certificate again from the server itself."
            }
            Self::Expired => "Renew the server's certificate.",
            Self::NotYetValid => "Check the clocks of both sides.",
            Self::NameMismatch { .. } => "Use a name the certificate carries, or pin its fingerprint.",
            Self::PinMismatch { .. } => {
                "Compare with the fingerprint shown on the server itself; change the site file only if they agree."
            }
            Self::NotTls => "Check the port; write http:// only where plaintext is meant.",
            Self::Alert(_) | Self::Other(_) => "Look at the TLS settings of the server.",
        }
    }
}
