//! The joined, immutable picture of a site, and the workers that keep it fresh.
//!
//! Readings (one per source, possibly old, possibly missing) go in; [`Inventory`] comes out. What is expected is derived
//! from the tenant index; what is observed is what a source said; where a source said nothing the answer is a [`Gap`]
//! with its reason, never a default.

pub mod entities;
pub mod feed;
mod flows;
mod hosts;
pub mod join;
pub mod readings;
pub mod source;
#[cfg(test)]
pub mod testing;
mod texts;

pub use entities::*;
pub(crate) use join::checkins as deliveries;
pub use join::{barred_to_tenants, join, join_with, kept_from_tenants};
pub use readings::{Answer, Demand, FwReading, PveReading, Readings};
pub use source::{Gap, GapKind, Seen, SourceError, SourceHealth, SourceId, SourceStatus, Sources};
pub use texts::Texts;
