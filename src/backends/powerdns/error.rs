//! What PowerDNS refuses and what stands in the way to it, typed. Source: facts/dns.md §1.

use super::change::BadChange;
use super::name::Name;
use super::wire::Unreadable;
use crate::backends::exit_node::error::Error as SshError;
use crate::backends::http::{HttpError, Outcome};

/// Why a request to PowerDNS gave no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No usable answer at all.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The site's mode leaves the API out, or says too little to reach it.
    #[error("the PowerDNS API cannot be asked: {0}")]
    NotConfigured(&'static str),
    /// The API key cannot be sent. Its text is never shown.
    #[error("the PowerDNS API key cannot be used: {0}")]
    BadKey(&'static str),
    /// A zone's name that cannot be part of a request path.
    #[error("{zone:?} is not the name of a zone")]
    BadZone {
        /// The name.
        zone: String,
    },
    /// The connection was accepted and closed without an answer: what `webserver-allow-from` does to a source address
    /// that it does not list.
    #[error("{origin}: the connection was closed without an answer; this host is probably not in webserver-allow-from")]
    SourceRefused {
        /// Scheme, host and port.
        origin: String,
    },
    /// The tunnel could not be opened.
    #[error("no tunnel: {0}")]
    Tunnel(#[from] SshError),
    /// The tunnel's socket cannot be made on this machine.
    #[error("no tunnel: {what}: {why}")]
    TunnelSocket {
        /// What was tried.
        what: &'static str,
        /// The system's words.
        why: String,
    },
    /// The tunnel was lost, and lost again as soon as it was opened anew.
    #[error("the tunnel through {destination} does not hold")]
    TunnelLost {
        /// ssh destination.
        destination: String,
    },
    /// The tunnel stands, and its far end got nowhere: nothing listens there, forwarding is forbidden, or the API does
    /// not admit that host. All three look the same from here.
    #[error("through {destination}: {origin} does not answer")]
    TunnelFarEnd {
        /// ssh destination.
        destination: String,
        /// Scheme, host and port.
        origin: String,
    },
    /// 401.
    #[error("PowerDNS did not accept the API key")]
    Unauthenticated,
    /// 403: not PowerDNS's own way to refuse, so something in between.
    #[error("not permitted (HTTP 403): {text}")]
    Denied {
        /// Words of the answer.
        text: String,
    },
    /// The zone does not exist. The API itself was asked again and answered.
    #[error("no zone {zone} on this server")]
    ZoneAbsent {
        /// Its name.
        zone: Name,
    },
    /// The TSIG key does not exist. The API itself was asked again and answered.
    #[error("no TSIG key {key} on this server")]
    KeyAbsent {
        /// Its name.
        key: Name,
    },
    /// 409: a zone or a key of that name is there already. A zone's is said before anything else is looked at.
    #[error("the {what} {name} is there already")]
    Exists {
        /// `zone` or `TSIG key`.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// Not sent: the server would take it, or be broken by it.
    #[error(transparent)]
    BadChange(#[from] BadChange),
    /// Not sent: a record set is no longer as it was when the change was decided.
    #[error("{name} {kind} has been changed by somebody else")]
    Moved {
        /// Owner.
        name: Name,
        /// Type.
        kind: String,
    },
    /// Sent and taken, and read back as something else: somebody wrote after us.
    #[error("{name} {kind} was written, and then changed by somebody else")]
    Overtaken {
        /// Owner.
        name: Name,
        /// Type.
        kind: String,
    },
    /// 404 where every version answers: PowerDNS says the same when its API is off.
    #[error("the server answers, but has no {path}: {text}")]
    NoApi {
        /// Path template.
        path: &'static str,
        /// Words of the answer.
        text: String,
    },
    /// 422: understood and refused.
    #[error("PowerDNS refused the request: {text}")]
    Unprocessable {
        /// Its words.
        text: String,
    },
    /// Any other refusal (400, 405, 409, 413, …).
    #[error("PowerDNS refused the request (HTTP {status}): {text}")]
    Refused {
        /// 4xx.
        status: u16,
        /// Its words.
        text: String,
    },
    /// 5xx.
    #[error("PowerDNS failed (HTTP {status}): {text}")]
    ServerFault {
        /// 5xx.
        status: u16,
        /// Its words; 4.7 often has none.
        text: String,
    },
    /// The answer is no JSON.
    #[error("HTTP {status} with {media}: that is not the PowerDNS API")]
    NotTheApi {
        /// Status code.
        status: u16,
        /// Media type.
        media: String,
    },
    /// A field of the answer cannot be understood.
    #[error("the answer of {path} cannot be read: {fault}")]
    Unreadable {
        /// Path template.
        path: &'static str,
        /// Where and why.
        fault: Unreadable,
    },
}

impl Error {
    /// What to do about it, one sentence.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Http(error) => error.help(),
            Self::Tunnel(error) => error.help(),
            Self::TunnelFarEnd { destination, origin } => format!(
                "On {destination}, try `curl {origin}/`: PowerDNS must listen there, webserver-allow-from must list that host, and its sshd must allow TCP forwarding."
            ),
            Self::Unprocessable { text } => match super::Refusal::of(text) {
                Some(refusal) => refusal.help(),
                None => self.fixed_help().to_owned(),
            },
            other => other.fixed_help().to_owned(),
        }
    }

    /// Whether the request can have changed something.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Http(error) => error.outcome(),
            Self::NotConfigured(_)
            | Self::BadKey(_)
            | Self::BadZone { .. }
            | Self::Tunnel(_)
            | Self::TunnelSocket { .. }
            | Self::TunnelLost { .. }
            | Self::BadChange(_)
            | Self::Moved { .. } => Outcome::NotSent,
            // Closed without an answer: probably refused at the door, yet the request may have been read.
            Self::SourceRefused { .. } | Self::TunnelFarEnd { .. } | Self::Unreadable { .. } => Outcome::Unknown,
            // 4.7 says so bare when its database was busy: how far it came, only reading tells (facts/dns.md §1).
            Self::ServerFault { .. } => Outcome::Unknown,
            Self::NotTheApi { status, .. } => Outcome::of_foreign(*status),
            _ => Outcome::Answered,
        }
    }

    fn fixed_help(&self) -> &'static str {
        match self {
            Self::NotConfigured(_) => {
                "Complete [powerdns] in the site file: mode, url, api_key, and tunnel for mode tunnel."
            }
            Self::BadKey(_) => "Store the value of api-key= from pdns.conf, alone.",
            Self::BadZone { .. } => "Correct the name.",
            Self::SourceRefused { .. } => {
                "Add this host to webserver-allow-from in pdns.conf, or use mode = \"tunnel\" through a host that is listed."
            }
            Self::TunnelSocket { .. } => "Check that the directory exists and is yours, and that its path is short.",
            Self::TunnelLost { .. } => {
                "It is opened again with the next reading; look at the link and at that host's sshd."
            }
            Self::Unauthenticated => "Compare the key with api-key= in pdns.conf; PowerDNS reads it at its start.",
            Self::Denied { .. } => "PowerDNS itself answers 401: look for a proxy in between.",
            Self::ZoneAbsent { .. } => "Read the list of zones again: it may just have been deleted.",
            Self::KeyAbsent { .. } => "Make the tenant's key, and list it in TSIG-ALLOW-DNSUPDATE of its zones.",
            Self::Exists { .. } => "Read it: if it is as wanted there is nothing to do; if not, whose is it?",
            Self::BadChange(_) => "Correct the change.",
            Self::Moved { .. } => "Read it again, look at the difference, and plan anew.",
            Self::Overtaken { .. } => {
                "Read it again: what stands there now is the other's; agree with whoever writes this zone before the next try."
            }
            Self::NoApi { .. } => "Set api=yes and api-key= in pdns.conf; without them PowerDNS answers 404.",
            Self::Unprocessable { .. } => "Correct what the text names.",
            Self::Refused { .. } => "Something in between changes requests, or the versions differ.",
            Self::ServerFault { .. } => {
                "Look at the server's log; before 5.1 a TXT without quotes, written into its database by hand, breaks its whole zone."
            }
            Self::NotTheApi { .. } => "Check url in the site file; another service or a proxy answers there.",
            Self::Unreadable { .. } => "This version of PowerDNS answers in a form not known here; report the field.",
            Self::Http(_) | Self::Tunnel(_) | Self::TunnelFarEnd { .. } => "See the message.",
        }
    }

    /// Whether asking again later can help without anybody changing a configuration.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Http(error) => error.is_transient(),
            Self::Tunnel(error) => matches!(
                error,
                SshError::ConnectionRefused { .. }
                    | SshError::Unreachable { .. }
                    | SshError::Disconnected { .. }
                    | SshError::TimedOut { .. }
            ),
            Self::TunnelLost { .. } | Self::TunnelFarEnd { .. } | Self::ServerFault { .. } => true,
            _ => false,
        }
    }
}
