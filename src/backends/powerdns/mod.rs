//! PowerDNS Authoritative 4.7 to 5.1: the client of its HTTP API and what it returns.
//!
//! ```text
//! endpoints  the table of every request this client can make
//! client     origin, key, counters, the bound on requests in flight, and the calls
//! tunnel     the API through the operator's ssh: a private socket here, the API's address at the far end
//! reach      what each mode of a site (api, tunnel, dns-only) can know, and why not the rest
//! change     what can be written, as data; write: the calls that write it, each with a permit
//! order      requests in the order in which no update passes that should not: new zones, hand-over, rotation of keys
//! guarded    record sets replaced only while they are as they were read
//! model      zones, RRsets, metadata, key names; name: domain names as compared and shown
//! wire       from JSON to the model, leniently, naming the field that cannot be read
//! error      what goes wrong, typed, with the remedy; message: from an answer that says no to those types
//! ```
//!
//! Keys come from the list, which leaves their secrets out (facts/dns.md §4). One call fetches one secret, for the proof
//! that the key writes no other tenant's zone, and one makes a key: both are made on request alone, recorded by nobody, and
//! what they bring is wiped.

mod change;
mod client;
pub mod endpoints;
mod error;
mod guarded;
mod message;
pub mod model;
mod name;
pub mod order;
mod reach;
mod refusal;
mod tunnel;
mod wire;
mod write;

pub use change::{
    Apex, BadChange, Change, LARGEST_BODY, LiveKind, Metadata, NOBODY, UPDATE_KEYS, UPDATE_NETWORKS, Write, emptying,
};
pub use client::{Client, RequestCounts, ZoneListing};
pub use error::Error;
pub use guarded::{Guarded, Replaced};
pub use name::Name;
pub use reach::{Knowledge, Part, Reach};
pub use refusal::Refusal;
pub use tunnel::Tunnel;
pub use wire::Unreadable;
pub use write::{Done, MadeKey, fresh_secret};
