//! How a question can fail without an answer.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// Datagrams that came to the socket and were not the answer. They are ignored until the deadline, and counted: each
/// is a sign of a forger, a broken server or a middle box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Strays {
    /// Another id.
    pub wrong_id: u32,
    /// The id, and another question, or no response at all.
    pub wrong_question: u32,
    /// From another address or port.
    pub wrong_source: u32,
    /// Too short for a header.
    pub no_header: u32,
}

impl Strays {
    /// Whether there was none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) const fn add(&mut self, other: Self) {
        self.wrong_id = self.wrong_id.saturating_add(other.wrong_id);
        self.wrong_question = self.wrong_question.saturating_add(other.wrong_question);
        self.wrong_source = self.wrong_source.saturating_add(other.wrong_source);
        self.no_header = self.no_header.saturating_add(other.no_header);
    }

    /// In words, e.g. `2 with another id`; empty when there was none.
    #[must_use]
    pub fn words(&self) -> String {
        let all = [
            (self.wrong_id, "with another id"),
            (self.wrong_question, "to another question"),
            (self.wrong_source, "from another address"),
            (self.no_header, "without a header"),
        ];
        let said: Vec<String> = all.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        said.join(", ")
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The host said that nobody listens there.
    #[error("{server} refuses connections ({via})")]
    Refused {
        /// Server.
        server: SocketAddr,
        /// `udp` or `tcp`.
        via: &'static str,
    },
    /// Silence in every try.
    #[error("{server} did not answer: {tries} {}, {} ms each{}", plural(*tries), each.as_millis(), ignored(strays))]
    TimedOut {
        /// Server.
        server: SocketAddr,
        /// How often it was asked.
        tries: u32,
        /// How long each try waited.
        each: Duration,
        /// What came instead.
        strays: Strays,
    },
    /// The answer came from somewhere else.
    #[error("the answer to the question put to {server} came from {from} and was not taken")]
    WrongSource {
        /// Server.
        server: SocketAddr,
        /// Who answered.
        from: SocketAddr,
    },
    /// No way there.
    #[error("{server} cannot be reached: {why}")]
    Unreachable {
        /// Server.
        server: SocketAddr,
        /// The system's words.
        why: String,
    },
    /// Bytes that are no DNS message.
    #[error("{server} answered with what is no DNS message: {why}")]
    Malformed {
        /// Server.
        server: SocketAddr,
        /// What is wrong.
        why: String,
    },
    /// A datagram larger than was allowed.
    #[error("{server} answered with more than the {limit} bytes it was allowed")]
    Oversized {
        /// Server.
        server: SocketAddr,
        /// What the question allowed, in bytes.
        limit: usize,
    },
    /// The connection ended before the answer did.
    #[error("{server} closed the connection before it had answered")]
    Closed {
        /// Server.
        server: SocketAddr,
    },
    /// The datagram was truncated, and TCP failed.
    #[error("the answer needs TCP, and over TCP: {0}")]
    TcpAfterTruncation(Box<Self>),
    /// The system resolver gave no answer.
    #[error("the resolver of this host gave no answer: {why}")]
    System {
        /// Its words.
        why: String,
    },
    /// This machine failed.
    #[error("{what}: {why}")]
    Local {
        /// What was tried.
        what: &'static str,
        /// The system's words.
        why: String,
    },
}

const fn plural(tries: u32) -> &'static str {
    if tries == 1 { "try" } else { "tries" }
}

fn ignored(strays: &Strays) -> String {
    if strays.is_empty() { String::new() } else { format!("; ignored {}", strays.words()) }
}

impl Failure {
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Refused { server, .. } => {
                format!("is the DNS server on {} running, on port {}?", server.ip(), server.port())
            }
            Self::TimedOut { .. } => {
                "a resolver is silent while the server behind it is; ask that one, then look at firewalls".to_owned()
            }
            Self::WrongSource { .. } => "the server answers from another of its addresses: name that one".to_owned(),
            Self::Unreachable { server, .. } => format!("is there a route from here to {}?", server.ip()),
            Self::Malformed { server, .. } | Self::Oversized { server, .. } => {
                format!("is it a DNS server that listens on {server}?")
            }
            Self::Closed { .. } => "ask again; its log says why".to_owned(),
            Self::TcpAfterTruncation(_) => "let 53/tcp through as well as 53/udp".to_owned(),
            Self::System { .. } => "look at /etc/resolv.conf of this host".to_owned(),
            Self::Local { .. } => "see the message".to_owned(),
        }
    }

    /// What an I/O error says about `server`.
    pub(super) fn of_io(server: SocketAddr, via: &'static str, error: &std::io::Error) -> Self {
        use std::io::ErrorKind as Kind;
        match error.kind() {
            Kind::ConnectionRefused => Self::Refused { server, via },
            Kind::UnexpectedEof | Kind::ConnectionReset | Kind::ConnectionAborted | Kind::BrokenPipe => {
                Self::Closed { server }
            }
            _ => Self::Unreachable { server, why: crate::text::clean(&error.to_string()).into_owned() },
        }
    }
}

/// The unspecified address of `server`'s family, any port: the system chooses, at random.
pub(super) const fn any_port(server: SocketAddr) -> SocketAddr {
    match server {
        SocketAddr::V4(_) => SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED), 0),
        SocketAddr::V6(_) => SocketAddr::new(IpAddr::V6(std::net::Ipv6Addr::UNSPECIFIED), 0),
    }
}
