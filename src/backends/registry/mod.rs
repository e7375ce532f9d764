//! The platform's registry of tenants, read only (domain.md §4.6): who is registered, and whose VRF has a way out.
//!
//! Lists are lean: what an entry does not carry is not known, not absent.

mod client;
mod error;
mod model;
mod wire;

pub use client::{Client, EGRESS, TENANTS};
pub use error::Error;
pub use model::{Egress, Status, Step, Tenant};
