//! What a record says, after reading. All text is clean, bounded and without secrets.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Broken {
    /// Line of the file, or number in the list, from 1.
    pub number: usize,
    /// What is wrong.
    pub why: String,
}

/// How far one workload came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declared {
    /// Counts up with every change.
    pub generation: u64,
    /// Digest of the configuration; empty where the source does not say.
    pub digest: String,
}

/// State of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    pub smbios_uuid: Option<Arc<str>>,
    /// Generation it delivers.
    pub generation: Option<u64>,
}

/// A refused exchange.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    pub digest: Option<Arc<str>>,
    /// SMBIOS UUID of the reporting machine, lower-case.
    pub smbios_uuid: Option<Arc<str>>,
    /// Boot id of the reporting machine.
    pub boot_id: Option<Arc<str>>,
    /// Container → resolved image digest.
    pub images: Vec<(String, String)>,
    /// Source address.
    pub from: Option<Arc<str>>,
}

/// Gathers records one by one and never holds more than a listing may tell.
#[derive(Debug, Default)]
pub(super) struct Gather {
    all: Records,
    places: std::collections::HashMap<(String, String), usize>,
}

impl Gather {
    /// The source's own clock; what was said first counts.
    pub(super) fn at_first(&mut self, at: Option<Timestamp>) {
        self.all.at = self.all.at.or(at);
    }

    /// The source's own clock; what was said last counts.
    pub(super) fn at_last(&mut self, at: Option<Timestamp>) {
        self.all.at = at.or(self.all.at);
    }

    /// Takes a record: the last one of each workload stays, in the order in which workloads appear first.
    pub(super) fn take(&mut self, read: Result<Record, Broken>) {
        let record = match read {
            Ok(record) => record,
            Err(broken) if self.all.broken.len() < TOLD => return self.all.broken.push(broken),
            Err(_) => return self.all.broken_more += 1,
        };
        let key = (record.tenant.clone(), record.workload.clone());
        if let Some(older) = self.places.get(&key).and_then(|at| self.all.items.get_mut(*at)) {
            *older = record;
        } else if self.all.items.len() < MAX_RECORDS {
            self.places.insert(key, self.all.items.len());
            self.all.items.push(record);
        } else {
            self.all.cut = true;
        }
    }

    /// What was gathered; `cut` = the source had more to tell.
    pub(super) fn done(self, cut: bool) -> Records {
        Records { cut: cut || self.all.cut, ..self.all }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_bounded_while_it_is_read() {
        let mut gather = Gather::default();
        for number in 1..=1_000 {
            gather.take(Err(Broken { number, why: "x".to_owned() }));
            assert!(gather.all.broken.len() <= TOLD);
        }
        let read = gather.done(false);
        assert_eq!((read.broken.len(), read.broken_more, read.cut), (TOLD, 1_000 - TOLD, false));
    }
}
