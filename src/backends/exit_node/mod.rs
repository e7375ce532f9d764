//! The exit node: helper script, transports, parsers and the reading they yield.
//!
//! [`Client::read`] runs one versioned script on the node, in one round trip for all tenants, and returns a typed
//! [`model::Reading`] in which every part is a value or the reason why it is not one.

mod assemble;
mod clean;
mod client;
pub mod egress;
pub mod error;
pub mod frame;
pub mod helper;
pub mod model;
pub mod parse;
mod probe;
mod probe_dig;
mod probe_path;
pub mod transport;

pub use assemble::reading;
pub use client::Client;
pub use probe::{MAX_QUESTIONS, VrfFailure, VrfQuestion};
pub use probe_path::{PathProbe, Ran, Show, What};
