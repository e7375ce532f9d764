//! What works in the command line.

use super::super::availability as can;
use super::super::run::system;
use super::super::{Command, Group};
use super::look;

/// The commands.
pub(super) const ALL: &[Command] = &[
    look(
        Group::Line,
        "complete",
        "next candidate",
        "Walks to the next candidate of the command line.",
        can::line,
        system::complete,
    ),
    look(
        Group::Line,
        "complete-back",
        "previous candidate",
        "Walks to the previous candidate of the command line.",
        can::line,
        system::complete_back,
    ),
];
