//! PowerDNS Authoritative 4.7 to 5.1: the reading client of its HTTP API and what it returns.
//!
//! ```text
//! endpoints  the table of every request this client can make
//! client     origin, key, counters, the bound on requests in flight, and the calls
//! tunnel     the API through the operator's ssh: a private socket here, the API's address at the far end
//! reach      what each mode of a site (api, tunnel, dns-only) can know, and why not the rest
//! model      zones, RRsets, metadata, key names; name: domain names as compared and shown
//! wire       from JSON to the model, leniently, naming the field that cannot be read
//! error      what goes wrong, typed, with the remedy; message: from an answer that says no to those types
//! ```
//!
//! Keys come from the list, which leaves their secrets out (facts/dns.md §4). One call fetches one secret, for the proof
//! that the key writes no other tenant's zone: it is made on request alone, recorded by nobody, and what it brings is wiped.

mod client;
pub mod endpoints;
mod error;
mod message;
pub mod model;
mod name;
mod reach;
mod tunnel;
mod wire;

pub use client::{Client, RequestCounts, ZoneListing};
pub use error::Error;
pub use name::Name;
pub use reach::{Knowledge, Part, Reach};
pub use tunnel::Tunnel;
pub use wire::Unreadable;
