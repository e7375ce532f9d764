//! OPNsense 24.7–26.7: the client and what it returns.
//!
//! ```text
//! endpoints  the table of every request this client can make
//! client     origin, key, version, counters, the bound of one request in flight, the gaps between requests and polls
//! version    which version answers, and what differs
//! system, filter, pf, nat, alias, routing, resolver    the methods, by area
//! forward    forwards of the resolver written, each call with a permit
//! wire       values as OPNsense sends them, option maps, errors that name the field
//! error      what OPNsense refuses, typed; answer: from its answers to those types, acknowledgements of writes
//! ```
//!
//! HTTP 200 proves nothing: refusals come with it. A list with one row that cannot be understood is an error naming row
//! and field: leaving the row out would turn "unknown" into "absent".

mod alias;
mod answer;
mod client;
pub mod endpoints;
mod error;
mod filter;
mod forward;
pub mod model;
mod nat;
mod pf;
mod resolver;
mod routing;
mod system;
mod version;
mod wire;

pub use answer::{Ack, Asked, acknowledgement, error_without_answer, value_of};
pub use client::{Client, Pace, RequestCounts};
pub use error::Error;
pub use forward::{BadForward, NewForward};
pub use pf::MOST_STATES;
pub use version::{Evidence, OLDEST, Release, Version};
pub use wire::Unreadable;
