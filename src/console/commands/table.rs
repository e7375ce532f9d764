//! The table itself.

use super::Command;

/// Every command there is.
pub static COMMANDS: &[Command] = &[];
