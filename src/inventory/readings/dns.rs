//! What was read of names: PowerDNS by its API or by queries, and the perimeter resolver by queries.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::backends::powerdns::model::{Server, Settings, TsigKeyName, Zone, ZoneHead, ZoneMetadata};
use crate::backends::powerdns::{Name, Reach};
use crate::inventory::source::{Gap, Seen};

/// A question: owner name and type (upper-case).
pub type QuestionKey = (Name, &'static str);

/// Types whose answers at the perimeter are compared with the authority's.
pub const COMPARED: [&str; 4] = ["A", "AAAA", "CNAME", "PTR"];

/// One cycle of reading names.
#[derive(Debug, Clone)]
pub struct DnsReading {
    /// When the cheap parts were read.
    pub at: Timestamp,
    /// How PowerDNS is reached, and so what can be known.
    pub reach: Reach,
    /// The server.
    pub server: Seen<Server>,
    /// Settings that decide who may update.
    pub settings: Seen<Settings>,
    /// All zones, without records.
    pub zones: Seen<Arc<[ZoneHead]>>,
    /// Zone → its records, read again when its serial or its edited serial moved, and at times anyway: a zone missing
    /// here was not read yet.
    pub content: BTreeMap<Name, Seen<Arc<Zone>>>,
    /// Zone → why its records are those of an earlier read: the last one failed.
    pub old: BTreeMap<Name, Gap>,
    /// Zone → who may update it.
    pub metadata: BTreeMap<Name, Seen<Arc<ZoneMetadata>>>,
    /// TSIG keys by name, without secrets.
    pub keys: Seen<Arc<[TsigKeyName]>>,
    /// What the authoritative server says to queries. In mode `dns-only` this is all there is.
    pub authority: BTreeMap<QuestionKey, Seen<Arc<Answer>>>,
    /// What the perimeter resolver says to queries, for what is on screen.
    pub perimeter: BTreeMap<QuestionKey, Seen<Arc<Answer>>>,
    /// HTTP requests made so far.
    pub requests: u64,
    /// DNS queries made so far.
    pub queries: u64,
}

/// An answer of a DNS server, as far as rows need it. The full message is `resolve`'s.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Who was asked.
    pub server: SocketAddr,
    /// When.
    pub at: Timestamp,
    /// How long it took.
    pub took: Duration,
    /// `NOERROR`, `NXDOMAIN`, `SERVFAIL`, `REFUSED`, …
    pub code: String,
    /// The authoritative bit.
    pub authoritative: bool,
    /// Records of the asked type in the answer section, contents cleaned.
    pub records: Vec<String>,
    /// Seconds left: the smallest TTL of the records, or of the SOA in a negative answer (RFC 2308 §5).
    pub left: Option<u32>,
    /// Serial and owner of the SOA in answer or authority section.
    pub soa: Option<(Name, u32)>,
}

impl DnsReading {
    /// An empty reading at `at`: everything "not read yet".
    #[must_use]
    pub fn empty(at: Timestamp, reach: Reach) -> Self {
        Self {
            at,
            reach,
            server: Err(Gap::not_read("the server")),
            settings: Err(Gap::not_read("the settings of PowerDNS")),
            zones: Err(Gap::not_read("the zone list")),
            content: BTreeMap::new(),
            old: BTreeMap::new(),
            metadata: BTreeMap::new(),
            keys: Err(Gap::not_read("the list of TSIG keys")),
            authority: BTreeMap::new(),
            perimeter: BTreeMap::new(),
            requests: 0,
            queries: 0,
        }
    }
}
