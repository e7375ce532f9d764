//! `site check` as a program: against a whole lab, and against servers that are wrong in one way each.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test that cannot go on must fail, and says what it skips"
)]

#[path = "setup_common/mod.rs"]
mod setup_common;

#[path = "site_check/lab.rs"]
mod lab;
#[path = "site_check/servers.rs"]
mod servers;
