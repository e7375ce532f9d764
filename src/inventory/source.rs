//! Sources and their freshness. A source's failure changes its own entry here and nothing else.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::backends::exit_node::model::{Unread, UnreadKind};

/// Where facts come from; the order is that of the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceId {
    /// Proxmox VE.
    Pve,
    /// PowerDNS and the resolvers.
    Dns,
    /// OPNsense, the perimeter.
    Fw,
    /// The exit node(s).
    Exit,
    /// Where check-ins are read: the bootstrap service, or a file of its records.
    Boot,
    /// The platform's registry of tenants; in the header only while it is set up and not well.
    Registry,
}

impl SourceId {
    /// All, in header order.
    pub const ALL: [Self; 6] = [Self::Pve, Self::Dns, Self::Fw, Self::Exit, Self::Boot, Self::Registry];

    /// Short label of header and messages.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Pve => "PVE",
            Self::Dns => "DNS",
            Self::Fw => "FW",
            Self::Exit => "EXIT",
            Self::Boot => "BOOT",
            Self::Registry => "REG",
        }
    }

    /// What it is, in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Pve => "Proxmox VE",
            Self::Dns => "PowerDNS",
            Self::Fw => "the perimeter",
            Self::Exit => "the exit node",
            Self::Boot => "the bootstrap service",
            Self::Registry => "the registry",
        }
    }
}

/// Why something is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GapKind {
    /// The site does not have that source.
    Off,
    /// Not read yet.
    NotRead,
    /// A right is missing.
    Denied,
    /// The source did not answer.
    NoAnswer,
    /// It answered something that was not understood, or with an error.
    Failed,
    /// It was never asked: what asking needs, such as its secret or its certificate, cannot be used.
    Unusable,
}

/// A hole in the picture, with its reason in the operator's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// Kind.
    pub kind: GapKind,
    /// Reason, one clean line: what, where, remedy.
    pub why: Arc<str>,
}

impl Gap {
    /// A gap of `kind` because `why`.
    pub fn new(kind: GapKind, why: impl Into<Arc<str>>) -> Self {
        Self { kind, why: why.into() }
    }

    /// Nothing was read yet.
    #[must_use]
    pub fn not_read(what: &str) -> Self {
        Self::new(GapKind::NotRead, format!("{what} was not read yet"))
    }

    /// The same gap, saying what it is about.
    #[must_use]
    pub fn about(self, what: &str) -> Self {
        Self { why: format!("{what}: {}", self.why).into(), ..self }
    }

    /// The word beside the glyph `?`.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self.kind {
            GapKind::Off => "off",
            GapKind::NotRead => "not read",
            GapKind::Denied => "denied",
            GapKind::NoAnswer => "no answer",
            GapKind::Failed => "unknown",
            GapKind::Unusable => "cannot be asked",
        }
    }
}

impl From<&Unread> for Gap {
    fn from(u: &Unread) -> Self {
        let kind = match u.kind {
            UnreadKind::Denied => GapKind::Denied,
            UnreadKind::TimedOut => GapKind::NoAnswer,
            UnreadKind::Missing | UnreadKind::Failed | UnreadKind::Unparsable => GapKind::Failed,
        };
        Self::new(kind, format!("{}: {}", u.what, u.why))
    }
}

/// A value that was seen, or why it was not.
pub type Seen<T> = Result<T, Gap>;

/// The last failure of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceError {
    /// What kind of hole it leaves.
    pub kind: GapKind,
    /// One clean line in the operator's words.
    pub text: Arc<str>,
    /// What helps, when something does.
    pub help: Option<Arc<str>>,
    /// Since when the source fails without a success in between.
    pub since: Timestamp,
}

/// Health of one source. Ages are computed from `now`, so that the inventory itself does not change while time passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceHealth {
    /// Whether the site has it at all.
    pub configured: bool,
    /// When asking began for the first time.
    pub asked_since: Option<Timestamp>,
    /// When the data shown was observed.
    pub observed_at: Option<Timestamp>,
    /// The failure that is current; `None` after a success.
    pub error: Option<SourceError>,
    /// When it is tried again.
    pub next_try: Option<Timestamp>,
    /// Time between two reads while all is well.
    pub interval: SignedDuration,
    /// After how long an attempt is given up.
    pub deadline: SignedDuration,
    /// Parts that could not be read although the source answered.
    pub gaps: Vec<Gap>,
}

/// What to say of a source at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceStatus {
    /// The site does not have it.
    Off,
    /// First answer awaited.
    Loading,
    /// Data no older than the bound.
    Fresh,
    /// Data, but old: late, or the last tries failed.
    Stale,
    /// Refused for lack of a right.
    Denied,
    /// No data and no answer.
    Failed,
    /// Never asked: what asking needs, such as its secret or its certificate, cannot be used.
    Unusable,
}

impl SourceHealth {
    /// A source that the site does not have.
    #[must_use]
    pub const fn off() -> Self {
        Self {
            configured: false,
            asked_since: None,
            observed_at: None,
            error: None,
            next_try: None,
            interval: SignedDuration::from_secs(10),
            deadline: SignedDuration::from_secs(10),
            gaps: Vec::new(),
        }
    }

    /// A source that is about to be asked.
    #[must_use]
    pub const fn starting(interval: SignedDuration, deadline: SignedDuration, now: Timestamp) -> Self {
        Self {
            configured: true,
            asked_since: Some(now),
            observed_at: None,
            error: None,
            next_try: None,
            interval,
            deadline,
            gaps: Vec::new(),
        }
    }

    /// The age that fresh data never exceeds: one interval and half of another for the answer.
    #[must_use]
    pub fn fresh_bound(&self) -> SignedDuration {
        self.interval + self.interval / 2
    }

    /// Status at `now`.
    #[must_use]
    pub fn status(&self, now: Timestamp) -> SourceStatus {
        if !self.configured {
            return SourceStatus::Off;
        }
        let late = self.observed_at.map(|at| now.duration_since(at) > self.fresh_bound());
        match (&self.error, late) {
            (Some(e), _) if e.kind == GapKind::Denied => SourceStatus::Denied,
            (Some(e), None) if e.kind == GapKind::Unusable => SourceStatus::Unusable,
            (Some(_), None) => SourceStatus::Failed,
            (None, None) => SourceStatus::Loading,
            (Some(_), Some(_)) | (None, Some(true)) => SourceStatus::Stale,
            (None, Some(false)) => SourceStatus::Fresh,
        }
    }

    /// Age of the data shown.
    #[must_use]
    pub fn age(&self, now: Timestamp) -> Option<SignedDuration> {
        self.observed_at.map(|at| now.duration_since(at).max(SignedDuration::ZERO))
    }
}

/// Health of all sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sources {
    /// By [`SourceId::ALL`] order.
    entries: [SourceHealth; 6],
}

impl Default for Sources {
    fn default() -> Self {
        Self { entries: std::array::from_fn(|_| SourceHealth::off()) }
    }
}

impl Sources {
    const fn slot(id: SourceId) -> usize {
        match id {
            SourceId::Pve => 0,
            SourceId::Dns => 1,
            SourceId::Fw => 2,
            SourceId::Exit => 3,
            SourceId::Boot => 4,
            SourceId::Registry => 5,
        }
    }

    /// Health of `id`.
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "slot() is below the array's length for every SourceId")]
    pub const fn get(&self, id: SourceId) -> &SourceHealth {
        &self.entries[Self::slot(id)]
    }

    /// Replaces the health of `id`.
    pub fn set(&mut self, id: SourceId, health: SourceHealth) {
        if let Some(entry) = self.entries.get_mut(Self::slot(id)) {
            *entry = health;
        }
    }

    /// All, in header order.
    pub fn iter(&self) -> impl Iterator<Item = (SourceId, &SourceHealth)> {
        SourceId::ALL.into_iter().zip(&self.entries)
    }
}
