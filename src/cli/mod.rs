//! Headless verbs: arguments → engine → printer.

pub mod numbering;
