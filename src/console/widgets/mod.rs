//! What screens are made of.

pub mod format;
