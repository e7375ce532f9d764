//! Who owns a tenant, and what the registry says of it (design §1).

use std::sync::Arc;

use crate::backends::registry;
use crate::inventory::source::{Gap, Seen};

/// Who owns a tenant: whoever owns it writes it.
#[derive(Debug, Clone, PartialEq)]
pub enum Owner {
    /// The site names no registry: tenants are this console's.
    Console,
    /// The registry lists it: shown and diagnosed here, never written.
    Registry(Arc<Registration>),
    /// There is a registry, and it does not list it.
    Unregistered,
    /// The registry could not be read.
    Unknown(Gap),
}

impl Owner {
    /// The word.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Console => "console",
            Self::Registry(_) => "registry",
            Self::Unregistered => "not in the registry",
            Self::Unknown(_) => "unknown",
        }
    }

    /// The registration, where there is one.
    #[must_use]
    pub fn registration(&self) -> Option<&Registration> {
        match self {
            Self::Registry(registration) => Some(registration),
            _ => None,
        }
    }
}

/// What the registry says of a tenant.
#[derive(Debug, Clone, PartialEq)]
pub struct Registration {
    /// Its entry, all text clean.
    pub entry: registry::Tenant,
    /// Whether the exit nodes are told to give it a way out.
    pub egress: Seen<bool>,
    /// What differs from what is derived from the index that the fabric shows.
    pub diffs: Vec<super::FieldDiff>,
    /// Whether it is in the registry alone: no zone on the fabric bears its name.
    pub only: bool,
}
