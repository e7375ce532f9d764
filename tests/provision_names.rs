//! A tenant's names by plan: from nothing to whole, whatever happens to the requests, and back. Against the lab, and against a
//! real PowerDNS with writers that have no key.

#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "helpers of a test: a panic is its verdict; a skip is said aloud"
)]

mod change_common;
mod powerdns_common;

#[path = "provision_names/lab.rs"]
mod lab;
#[path = "change_common/names.rs"]
mod names;
#[path = "provision_names/real.rs"]
mod real;
#[path = "provision_names/resolver.rs"]
mod resolver;
