//! What a record says, after reading. All text is clean, bounded and without secrets.

use jiff::{SignedDuration, Timestamp};

/// Records kept of one listing; a source that lists more has outgrown this program's bounds, and says so.
pub const MAX_RECORDS: usize = 20_000;
/// Broken records told of one listing.
const TOLD: usize = 20;

/// What a source answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Listing {
    /// Its records.
    Records(Records),
    /// It has no such list: an API without check-ins. No error.
    NotOffered,
}

/// One listing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Records {
    /// The source's own clock when it answered; `None` of a file that does not say.
    pub at: Option<Timestamp>,
    /// Records, the last one of each workload.
    pub items: Vec<Record>,
    /// Records that make no sense, the first 20.
    pub broken: Vec<Broken>,
    /// How many more made no sense.
    pub broken_more: usize,
    /// Whether records beyond [`MAX_RECORDS`] were left out.
    pub cut: bool,
}

/// A record that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Line of the file, or number in the list, from 1.
    pub number: usize,
    /// What is wrong.
    pub why: String,
}

/// How far one workload came.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Tenant.
    pub tenant: String,
    /// Workload.
    pub workload: String,
    /// VMID, where the source keeps one.
    pub vmid: Option<u32>,
    /// Configuration declared; `None` = none is.
    pub declared: Option<Declared>,
    /// The newest token; `None` = none was issued.
    pub token: Option<Token>,
    /// Exchanges that were refused, oldest first, the newest 32.
    pub refusals: Vec<Refusal>,
    /// When somebody acknowledged the refusals.
    pub acknowledged_at: Option<Timestamp>,
    /// Reports of agents, oldest first, the newest 32.
    pub reports: Vec<Report>,
    /// Time between two reports of a healthy agent; `None` = the source does not say.
    pub interval: Option<SignedDuration>,
}

/// A declared configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// Counts up with every change.
    pub generation: u64,
    /// Digest of the configuration; empty where the source does not say.
    pub digest: String,
}

/// State of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenState {
    /// Not used yet.
    Issued,
    /// Exchanged for a configuration.
    Redeemed,
    /// Ran out unused.
    Expired,
    /// Taken back.
    Revoked,
}

/// A word that is no state of a token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no state of a token")]
pub struct UnknownState(pub String);

impl std::str::FromStr for TokenState {
    type Err = UnknownState;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "issued" => Ok(Self::Issued),
            "redeemed" => Ok(Self::Redeemed),
            "expired" => Ok(Self::Expired),
            "revoked" => Ok(Self::Revoked),
            other => Err(UnknownState(other.to_owned())),
        }
    }
}

/// A token without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Key id.
    pub kid: String,
    /// State, as the source has it.
    pub state: TokenState,
    /// When it was issued.
    pub issued_at: Timestamp,
    /// When it runs out, redeemed or not.
    pub expires_at: Option<Timestamp>,
    /// When it was exchanged.
    pub redeemed_at: Option<Timestamp>,
    /// Source address of that exchange: the exit node's, no identity.
    pub redeemed_from: Option<String>,
    /// SMBIOS UUID it is bound to, lower-case.
    pub smbios_uuid: Option<String>,
    /// Generation it delivers.
    pub generation: Option<u64>,
}

/// A refused exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// When.
    pub at: Timestamp,
    /// Why, in the source's word, e.g. `claim-mismatch`.
    pub reason: String,
    /// Source address.
    pub from: Option<String>,
    /// The first characters of the claim's hash, to tell one holder from another.
    pub claim: Option<String>,
}

/// What an agent said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// When.
    pub at: Timestamp,
    /// `redeem`, `fetch`, `validate`, `pull`, `write`, `start` or `health`.
    pub phase: String,
    /// Whether the phase went well.
    pub ok: bool,
    /// Error code; empty where all is well.
    pub code: String,
    /// Detail.
    pub detail: String,
    /// Generation it speaks of.
    pub generation: Option<u64>,
    /// Digest of that generation.
    pub digest: Option<String>,
    /// SMBIOS UUID of the reporting machine, lower-case.
    pub smbios_uuid: Option<String>,
    /// Boot id of the reporting machine.
    pub boot_id: Option<String>,
    /// Container → resolved image digest.
    pub images: Vec<(String, String)>,
    /// Source address.
    pub from: Option<String>,
}

impl Records {
    /// The last record of each workload, in the order in which workloads appear first, within bounds.
    pub(super) fn newest(mut self) -> Self {
        let mut places = std::collections::HashMap::new();
        let mut kept: Vec<Record> = Vec::with_capacity(self.items.len());
        for record in self.items.drain(..) {
            let at = *places.entry((record.tenant.clone(), record.workload.clone())).or_insert(kept.len());
            match kept.get_mut(at) {
                Some(older) => *older = record,
                None => kept.push(record),
            }
        }
        self.cut |= kept.len() > MAX_RECORDS;
        kept.truncate(MAX_RECORDS);
        self.broken_more = self.broken.len().saturating_sub(TOLD);
        self.broken.truncate(TOLD);
        Self { items: kept, ..self }
    }
}
