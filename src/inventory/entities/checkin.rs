//! Check-ins: how far each workload came with its configuration (domain.md §7.6).

use std::sync::Arc;

use jiff::Timestamp;

use super::Class;

/// State of a workload's delivery. Declared in the order of precedence: when several hold, the first one is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckInState {
    /// A second machine used the token; stands until somebody acknowledges it.
    ReplayRefused,
    /// A report came from an instance that is not this workload's.
    Foreign,
    /// The last report is an error.
    Failed,
    /// The token ran out before it was redeemed.
    Expired,
    /// A newer generation is declared than the one applied.
    Behind,
    /// Redeemed, nothing reported yet.
    Delivered,
    /// Token issued, nothing heard.
    Awaiting,
    /// The declared generation runs.
    Applied,
    /// Nothing declared.
    None,
}

/// One workload's row.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckInRow {
    /// Tenant.
    pub tenant: Arc<str>,
    /// Workload.
    pub workload: Arc<str>,
    /// VMID, where the workload is known.
    pub vmid: Option<u32>,
    /// State.
    pub state: CheckInState,
    /// Class.
    pub class: Class,
    /// State in words with what is late, e.g. `awaiting, late`.
    pub word: Arc<str>,
    /// Since when it is in that state, where known.
    pub since: Option<Timestamp>,
    /// Generation applied.
    pub applied: Option<u64>,
    /// Generation declared.
    pub declared: Option<u64>,
    /// Key id of the token.
    pub kid: Option<Arc<str>>,
    /// Token in words without its secret, e.g. `redeemed 10:21Z`, `7m left`.
    pub token: Arc<str>,
    /// When the token runs out, while it is issued.
    pub token_expires: Option<Timestamp>,
    /// SMBIOS UUID the token is bound to, or that reported last.
    pub instance: Option<Arc<str>>,
    /// Last report: when, phase and whether it is an error.
    pub last_report: Option<LastReport>,
    /// What to do next, in a few words; empty where nothing.
    pub next: Arc<str>,
    /// The story so far, oldest first.
    pub events: Vec<CheckInEvent>,
}

/// The last report of a workload's agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastReport {
    /// When.
    pub at: Timestamp,
    /// Phase, e.g. `pull`.
    pub phase: Arc<str>,
    /// Error code, cleaned; `None` = ok.
    pub error: Option<Arc<str>>,
    /// Detail, cleaned.
    pub detail: Arc<str>,
    /// Source address: always the exit node's, no identity.
    pub from: Option<Arc<str>>,
}

/// One event of a first boot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckInEvent {
    /// When.
    pub at: Timestamp,
    /// Class.
    pub class: Class,
    /// What, e.g. `redeem`.
    pub what: Arc<str>,
    /// In words, cleaned.
    pub text: Arc<str>,
}
