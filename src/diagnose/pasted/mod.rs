//! Pasted results: what somebody ran in a workload, on another segment or on a node, and pasted here as text.
//!
//! The text of ping, nc, curl, dig, host, nslookup and tcpdump is read into typed results ([`read`]), compared with
//! what was to be run ([`fit`]), and kept as evidence of a kind of its own ([`item`]). It is somebody's word: it is
//! marked as pasted wherever it is shown, and never takes the place of something that was measured.

mod ask;
mod blocks;
mod capture;
mod connect;
mod curl;
mod dns;
mod document;
mod fit;
mod item;
mod ping;
#[cfg(test)]
mod tests;

use std::net::Ipv4Addr;

use serde::Serialize;

pub use ask::{Ask, Came, Filter, Leg, Wants, Whence};
pub use document::{Block, DocumentError, document};
pub use fit::fit;
pub use item::{Given, item};

/// Most bytes of one pasted text: a screenful or two of output, a hundred times over.
pub const MOST: usize = 64 << 10;

/// How one try ended, as its output says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Said {
    /// Echo requests were answered.
    Answered {
        /// Sent.
        sent: u32,
        /// Answered.
        received: u32,
    },
    /// A TCP connection was made.
    Connected,
    /// TLS was spoken.
    Tls,
    /// HTTP answered with this code.
    Http(u16),
    /// The connection was refused: somebody answered.
    Refused,
    /// Nothing came back.
    Timeout,
    /// A router said that it does not go there.
    Unreachable {
        /// Which one, where the output says.
        by: Option<Ipv4Addr>,
    },
    /// A router said that it is forbidden.
    Prohibited {
        /// Which one, where the output says.
        by: Option<Ipv4Addr>,
    },
    /// It went in a circle.
    Loop,
    /// The sender has no route: nothing was sent.
    NoRoute,
    /// The name did not resolve: nothing was sent.
    NotResolved,
    /// It was not made, and the output does not say why.
    NotConnected,
    /// A DNS server answered.
    Resolved {
        /// Code, e.g. `NOERROR`.
        code: String,
        /// Records of the answer.
        answers: usize,
    },
    /// A capture ended.
    Captured {
        /// Packets seen.
        packets: u32,
    },
    /// The program did not run, and its words.
    NotRun(String),
}

impl Said {
    /// In words, for people.
    #[must_use]
    pub fn words(&self) -> String {
        let by = |by: &Option<Ipv4Addr>| by.map_or_else(String::new, |by| format!(" by {by}"));
        match self {
            Self::Answered { sent, received } if sent == received => format!("answered {received} times"),
            Self::Answered { sent, received } => format!("answered {received} of {sent} times"),
            Self::Connected => "connected".to_owned(),
            Self::Tls => "connected, TLS spoken".to_owned(),
            Self::Http(code) => format!("connected, HTTP {code}"),
            Self::Refused => "refused".to_owned(),
            Self::Timeout => "timeout".to_owned(),
            Self::Unreachable { by: who } => format!("called unreachable{}", by(who)),
            Self::Prohibited { by: who } => format!("called prohibited{}", by(who)),
            Self::Loop => "went in a circle".to_owned(),
            Self::NoRoute => "not sent: the sender has no route".to_owned(),
            Self::NotResolved => "not sent: the name did not resolve".to_owned(),
            Self::NotConnected => "not connected, without saying why".to_owned(),
            Self::Resolved { code, answers } => format!("{code}, {answers} records"),
            Self::Captured { packets } => format!("{packets} packets captured"),
            Self::NotRun(why) => format!("did not run: {why}"),
        }
    }
}

/// What was tried, as the output tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tried {
    /// Echo requests to an address.
    Ping(Ipv4Addr),
    /// A connection.
    Tcp(Ipv4Addr, u16),
    /// A question to a server; the name in lower case without a final dot.
    Dns(Ipv4Addr, String),
    /// A capture on a device.
    Capture(String),
}

impl Tried {
    /// In words: `ping 192.0.2.1`, `tcp 192.0.2.1:22`.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Ping(ip) => format!("ping {ip}"),
            Self::Tcp(ip, port) => format!("tcp {ip}:{port}"),
            Self::Dns(server, name) => format!("dns {name} at {server}"),
            Self::Capture(device) => format!("capture on {device}"),
        }
    }
}

/// One result as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reading {
    /// What was tried.
    pub tried: Tried,
    /// How it ended.
    pub said: Said,
    /// Address it was sent from, where the output says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Ipv4Addr>,
    /// The line that decides, clean and cut.
    pub line: String,
}

/// Longest deciding line that is kept, in characters.
const LINE: usize = 160;

impl Reading {
    fn new(tried: Tried, said: Said, line: &str) -> Self {
        let line = crate::text::clean(line.trim()).chars().take(LINE).collect();
        Self { tried, said, source: None, line }
    }

    /// `ping 192.0.2.1: timeout`.
    #[must_use]
    pub fn words(&self) -> String {
        format!("{}: {}", self.tried.words(), self.said.words())
    }
}

/// Why a text is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Nothing in it.
    #[error("there is no text")]
    Empty,
    /// Too much.
    #[error("the text is longer than {} KiB", MOST >> 10)]
    TooLong,
    /// No output that is known.
    #[error("this is no output of ping, nc, curl, dig, host, nslookup or tcpdump")]
    Nothing,
    /// A result that does not say of which address.
    #[error("{0:?} does not say which address was tried")]
    NoAddress(String),
    /// Output that ends before its result.
    #[error("the output for {0} ends before its result")]
    CutOff(String),
    /// Two things in one output that cannot both be.
    #[error("the output contradicts itself: {0}")]
    Disagrees(String),
    /// It went by a proxy.
    #[error("it went by way of a proxy, which says nothing of the way itself")]
    Proxy,
    /// Something else was tried.
    #[error("this is {got}, and what is to be tried is {wanted}")]
    Other {
        /// What was tried.
        got: String,
        /// What ought to have been.
        wanted: String,
    },
    /// It was sent from elsewhere.
    #[error("it was sent from {got}, and {wanted} is to send")]
    Source {
        /// From where.
        got: Ipv4Addr,
        /// From where it ought to have been.
        wanted: String,
    },
    /// It did not run.
    #[error("it did not run: {0}")]
    NotRun(String),
}

impl Refusal {
    /// What helps.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Empty | Self::Nothing => "paste the command and all of its output",
            Self::TooLong => "paste one run at a time",
            Self::NoAddress(_) => "paste the command line along with its output",
            Self::CutOff(_) => "wait until the command has ended, then paste all of its output",
            Self::Disagrees(_) => "paste the output of one run, unchanged",
            Self::Proxy => "run it without the proxy: curl --noproxy '*'",
            Self::Other { .. } => "run the command that is shown, or choose the cell this belongs to",
            Self::Source { .. } => "run it where the leg says",
            Self::NotRun(_) => "run it again where the program is there and may send",
        }
    }
}

/// Reads pasted `text`: every result in it, in order.
///
/// # Errors
/// Why nothing of it can be counted.
pub fn read(text: &str) -> Result<Vec<Reading>, Refusal> {
    if text.len() > MOST {
        return Err(Refusal::TooLong);
    }
    let lines = blocks::lines(text);
    if lines.iter().all(|line| line.trim().is_empty()) {
        return Err(Refusal::Empty);
    }
    let mut found = Vec::new();
    for block in blocks::split(lines) {
        found.extend(block.read()?);
    }
    if found.is_empty() { Err(Refusal::Nothing) } else { Ok(found) }
}
