//! `init` as a program: with flags, and with somebody at a terminal.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test that cannot go on must fail, and says what it skips"
)]

#[path = "pty/mod.rs"]
mod pty;
#[path = "setup_common/mod.rs"]
mod setup_common;

#[path = "init/asked.rs"]
mod asked;
#[path = "init/flags.rs"]
mod flags;
