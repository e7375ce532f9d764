//! The exit node: helper script, transports, parsers and the reading they yield.

mod clean;
pub mod error;
pub mod frame;
pub mod helper;
pub mod model;
