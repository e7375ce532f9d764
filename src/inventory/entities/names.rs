//! Names: zones of tenants and the records in them.

use std::sync::Arc;

use super::{Class, FieldDiff};
use crate::inventory::readings::Answer;
use crate::inventory::source::{Gap, Seen};

/// Glyph and word of something small, e.g. whether a workload's A record is right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Glyph.
    pub class: Class,
    /// Word.
    pub word: Arc<str>,
}

impl Mark {
    /// A mark.
    pub fn new(class: Class, word: impl Into<Arc<str>>) -> Self {
        Self { class, word: word.into() }
    }
}

/// The names of a workload: whether its A and its PTR are there and right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkloadNames {
    /// `<workload>.<tenant>.<domain>` A.
    pub a: Seen<Mark>,
    /// PTR of its address.
    pub ptr: Seen<Mark>,
}

/// One RRset of a tenant's zone, or one that ought to be there and is not.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordRow {
    /// Tenant.
    pub tenant: Option<Arc<str>>,
    /// Zone, no trailing dot, cleaned.
    pub zone: Arc<str>,
    /// Owner, absolute without trailing dot, cleaned.
    pub name: Arc<str>,
    /// Owner within its zone, `@` at the apex, cleaned.
    pub label: Arc<str>,
    /// Type, upper-case.
    pub kind: Arc<str>,
    /// Contents as served, cleaned, and whether each is disabled; empty where the set is not there.
    pub values: Vec<(Arc<str>, bool)>,
    /// TTL in seconds as stored; `None` where the set is not there.
    pub ttl: Option<i64>,
    /// Why the authority's contents are not known, where they are not.
    pub gap: Option<Gap>,
    /// VMID of the workload the name or address belongs to.
    pub workload: Option<u32>,
    /// What the perimeter resolver says; an error where it was not asked, with the reason.
    pub perimeter: Seen<Arc<Answer>>,
    /// What differs from the derived values, and between the servers.
    pub diffs: Vec<FieldDiff>,
    /// Class.
    pub class: Class,
    /// State in a word or two, e.g. `same`, `absent`, `tenant's own`.
    pub word: Arc<str>,
}

/// A zone of a tenant.
#[derive(Debug, Clone, PartialEq)]
pub struct ZoneRow {
    /// Tenant; `None` of a zone under the site's domain or in its overlay that no tenant owns.
    pub tenant: Option<Arc<str>>,
    /// Zone, no trailing dot, cleaned.
    pub zone: Arc<str>,
    /// Whether it is there.
    pub exists: Seen<bool>,
    /// Kind, e.g. `native`.
    pub kind: Seen<String>,
    /// Serial at the authority.
    pub serial: Seen<Option<u32>>,
    /// Serial that the perimeter resolver shows; it keeps a SOA for as long as its TTL allows.
    pub perimeter_serial: Seen<Option<u32>>,
    /// NS targets at the apex, cleaned.
    pub nameservers: Seen<Vec<String>>,
    /// TSIG keys that may update it.
    pub keys: Seen<Vec<String>>,
    /// Whether it takes updates without a signature.
    pub unsigned_updates: Seen<bool>,
    /// Number of RRsets.
    pub rrsets: Seen<usize>,
    /// Why its records are not the present ones: they were not read, or the last read failed.
    pub records_gap: Option<Gap>,
    /// What differs from the derived values.
    pub diffs: Vec<FieldDiff>,
    /// Class.
    pub class: Class,
    /// Word.
    pub word: Arc<str>,
}
