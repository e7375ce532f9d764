//! What was read of check-ins: the records of one listing.

use std::sync::Arc;

use jiff::Timestamp;

use crate::backends::bootstrap::Record;
use crate::inventory::source::{Gap, Seen};

/// One listing.
#[derive(Debug, Clone)]
pub struct BootReading {
    /// When it was read, by our clock.
    pub at: Timestamp,
    /// The source's own clock at that moment: ages of tokens and reports are counted on it. Ours where it does not say.
    pub service_at: Timestamp,
    /// Records, one a workload. `Off` where the API offers no check-ins, which is not a fault.
    pub records: Seen<Arc<[Record]>>,
    /// Why a workload may be missing from a list that was read: it was too long, or records of it make no sense.
    pub holes: Option<Gap>,
    /// HTTP requests made so far.
    pub requests: u64,
}
