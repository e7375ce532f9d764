//! The exit node: helper script, transports, parsers and the reading they yield.

pub mod model;
