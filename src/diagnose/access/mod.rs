//! Whether this host can do what a site file says: every address, certificate, credential, right, clock and vantage point.
//!
//! [`collect()`] asks everybody at once and writes down what came ([`Facts`]); [`judge()`] says what it means. Nothing that
//! is collected or judged holds a secret.

mod collect;
mod facts;
mod judge;
pub mod rights;

use std::time::Duration;

use jiff::Timestamp;

pub use collect::proxmox::with_token as proxmox_with_token;
pub use collect::{Options, collect};
pub use facts::{
    Asked, ExitFacts, Facts, Fault, FaultKind, OpnsenseFacts, PowerDnsFacts, ProxmoxFacts, SecretFacts, ServiceFacts,
    Tried,
};
pub use judge::{fingerprint_command, judge};

/// Skew at which TSIG stops working: its fudge, in seconds (RFC 8945 §10). Short-lived tokens break at about the same.
pub const TSIG_FUDGE_S: i64 = 300;
/// Skew that is worth a word, in seconds.
pub const SKEW_S: i64 = 30;

/// What a check came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// As it should be.
    Ok,
    /// It works, and somebody should know something.
    Warning,
    /// It does not work.
    Fault,
    /// It was tried, and cannot be told.
    Unknown,
    /// It was not tried.
    NotRun,
    /// The site leaves it out, or nothing needs it.
    Off,
}

impl State {
    /// Word, as in documents.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Fault => "fault",
            Self::Unknown => "unknown",
            Self::NotRun => "not run",
            Self::Off => "off",
        }
    }
}

/// One thing that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What: `reach`, `TLS`, `token`, `rights`, …
    pub what: &'static str,
    /// What it came to.
    pub state: State,
    /// In words, short: `12 ms`, `lacks SDN.Audit on /sdn`.
    pub text: String,
    /// What was seen, a line each.
    pub evidence: Vec<String>,
    /// What to do, one sentence.
    pub help: Option<String>,
    /// Exactly what to type or to set, a line each; where is said in `help`.
    pub commands: Vec<String>,
    /// Whether the site file or what it names on this host is at fault.
    pub configuration: bool,
}

impl Check {
    fn new(what: &'static str, state: State, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { what, state, text, evidence: Vec::new(), help: None, commands: Vec::new(), configuration: false }
    }

    fn ok(what: &'static str, text: impl Into<String>) -> Self {
        Self::new(what, State::Ok, text)
    }

    fn evidence(mut self, line: impl Into<String>) -> Self {
        self.evidence.push(line.into());
        self
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    fn commands(mut self, lines: impl IntoIterator<Item = String>) -> Self {
        self.commands.extend(lines);
        self
    }
}

/// Everything checked at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// `pve`, `exit NODE`, `dns`, `fw`, `resolvers`, `boot`, `registry`, `site`.
    pub name: String,
    /// Origin, address or destination.
    pub target: String,
    /// How long it took in all.
    pub took: Duration,
    /// The checks, in the order of causes.
    pub checks: Vec<Check>,
}

/// What a site check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// When it began.
    pub at: Timestamp,
    /// The sources, in the order of the site file.
    pub sources: Vec<Source>,
}

/// A report in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// All is well.
    Ok,
    /// A fault or a warning.
    Found,
    /// The site file, or what it names on this host, cannot be used.
    Configuration,
    /// No fault, but something is unknown or was not run.
    Unknown,
}

impl Verdict {
    /// Word, as in documents.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Found => "found",
            Self::Configuration => "configuration",
            Self::Unknown => "unknown",
        }
    }
}

impl Report {
    /// The whole in a word: configuration before faults, faults before what is unknown.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let any = |found: fn(&Check) -> bool| self.sources.iter().flat_map(|s| &s.checks).any(found);
        if any(|c| c.configuration && c.state == State::Fault) {
            Verdict::Configuration
        } else if any(|c| matches!(c.state, State::Fault | State::Warning)) {
            Verdict::Found
        } else if any(|c| matches!(c.state, State::Unknown | State::NotRun)) {
            Verdict::Unknown
        } else {
            Verdict::Ok
        }
    }
}

#[cfg(test)]
mod docs_tests;
