//! What the platform's own services told: check-ins of workloads, and the registry of tenants. A document each, of what
//! their clients read; neither can hold a secret. A site without the service leaves none.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Facts, Reader, Sourced, Taken};
use crate::backends::bootstrap::{Broken, Record};
use crate::backends::registry::{Egress, Tenant};
use crate::diagnose::evidence::{Item, Kind};

/// Readers of this area.
pub(super) const READERS: &[Reader] = &[checkins, registry];

/// Name of the form of check-ins.
pub const CHECKINS: &str = "deevnet-console/checkins/v1";
/// What their item is called.
pub const OF_CHECKINS: &str = "check-ins of workloads, as their source lists them";
/// Name of the form of the registry.
pub const REGISTRY: &str = "deevnet-console/registry/v1";
/// What its item is called.
pub const OF_REGISTRY: &str = "tenants, as the registry lists them";

/// Why a source told nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lack {
    /// Whether it has no such list at all, which is no fault.
    #[serde(default)]
    pub off: bool,
    /// Why, in a sentence.
    pub why: String,
}

/// Check-ins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckIns {
    /// [`CHECKINS`].
    pub schema: String,
    /// Where they were read: an origin or a file.
    pub place: String,
    /// The source's own clock, by which ages are counted; `None` = it does not say.
    #[serde(default)]
    pub at: Option<Timestamp>,
    /// Why there are none.
    #[serde(default)]
    pub lack: Option<Lack>,
    /// Records.
    #[serde(default)]
    pub records: Vec<Record>,
    /// Records that make no sense.
    #[serde(default)]
    pub broken: Vec<Broken>,
    /// Whether the source lists more than is read, or more that makes no sense.
    #[serde(default)]
    pub more: bool,
}

/// The registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registry {
    /// [`REGISTRY`].
    pub schema: String,
    /// Where it was read.
    pub place: String,
    /// Why it told nothing.
    #[serde(default)]
    pub lack: Option<Lack>,
    /// Tenants.
    #[serde(default)]
    pub tenants: Vec<Tenant>,
    /// VRFs that exit nodes are told to give a way out; `None` = not read.
    #[serde(default)]
    pub egress: Option<Vec<Egress>>,
    /// Why they were not read.
    #[serde(default)]
    pub no_egress: Option<String>,
}

impl CheckIns {
    /// Why nothing can be said of workloads, where the source ought to have told.
    #[must_use]
    pub fn silent(&self) -> Option<&str> {
        self.lack.as_ref().filter(|lack| !lack.off).map(|lack| lack.why.as_str())
    }
}

fn document<T: serde::de::DeserializeOwned>(item: &Item, what: &str) -> Option<Result<T, Taken>> {
    let mine = matches!(&item.kind, Kind::Material(kind) if kind == what);
    mine.then(|| serde_json::from_str(&item.body).map_err(|why| Taken::Unreadable(why.to_string())))
}

fn other(schema: &str) -> Taken {
    Taken::Unreadable(format!("its form is not {schema}"))
}

fn checkins(item: &Item, facts: &mut Facts) -> Taken {
    let read: CheckIns = match document(item, OF_CHECKINS) {
        None => return Taken::NotMine,
        Some(Ok(read)) => read,
        Some(Err(taken)) => return taken,
    };
    if read.schema != CHECKINS {
        return other(CHECKINS);
    }
    let at = read.at.or(item.at);
    facts.checkins = Some(Sourced::new(CheckIns { at, ..read }, item));
    Taken::Read
}

fn registry(item: &Item, facts: &mut Facts) -> Taken {
    let read: Registry = match document(item, OF_REGISTRY) {
        None => return Taken::NotMine,
        Some(Ok(read)) => read,
        Some(Err(taken)) => return taken,
    };
    if read.schema != REGISTRY {
        return other(REGISTRY);
    }
    facts.registry = Some(Sourced::new(read, item));
    Taken::Read
}
