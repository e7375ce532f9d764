//! DNS as a tool of diagnosis: one question to one server, with everything visible.
//!
//! [`ask`] uses sockets of its own, so that flags, sections, extended errors and the way a question failed stay apart
//! (a library's resolver folds them, `facts/hickory.md`). [`system::SystemResolver`] asks the way programs on this host
//! do. [`ask_signed`] sends what is signed with a TSIG key: questions, and updates that can change nothing. Every question
//! here is a probe: it changes nothing, and it is sent each time. [`update()`] is what changes something.

mod ask;
mod error;
mod model;
mod name;
mod record;
mod signed;
pub mod system;
mod update;
mod wire;

pub use ask::{ACCESS, Clock, Edns, Query, Transport, ask};
pub use error::{Failure, Strays};
pub use model::{Answer, Data, ExtendedError, Flags, Rcode, Record, RecordType, Soa, Via, text_of_bytes};
pub use name::{DnsName, NameError};
pub use record::{HostRecord, LONGEST_TTL, RecordData, RecordFault, RecordSet, Text};
pub use signed::{Ask, FUDGE, KeyError, Signature, SignedAnswer, SignedQuery, UpdateKey, WIDEST_FUDGE, ask_signed};
pub use update::{
    Applied, Changes, Edit, MOST_RECORDS, Prerequisite, UPDATE_ACCESS, Unmet, Update, UpdateError, update,
};
