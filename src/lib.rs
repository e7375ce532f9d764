//! The library behind `deevnet-console` and `deevnet-agent`.
//!
//! Data flows one way: back ends → [`inventory`] → the console's model → a pure view; keys → commands → update →
//! effects. Modules depend downwards only; `docs/architecture.md` has the map and the invariants, and
//! `tests/tidy.rs` checks them.

#[cfg(feature = "console")]
pub mod backends;
#[cfg(feature = "console")]
pub mod cli;
#[cfg(feature = "console")]
pub mod console;
#[cfg(feature = "console")]
pub mod diagnose;
#[cfg(feature = "console")]
pub mod inventory;
#[cfg(feature = "console")]
pub mod lab;
#[cfg(feature = "console")]
pub mod provision;
#[cfg(feature = "console")]
pub mod runtime;
#[cfg(feature = "console")]
pub mod site;
#[cfg(feature = "console")]
pub mod terminal;
#[cfg(feature = "console")]
pub mod text;
