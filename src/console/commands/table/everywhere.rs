//! What works on every screen.

use super::super::availability as can;
use super::super::availability::changing as may_change;
use super::super::run::{changes, places, system};
use super::super::{ArgKind, Command, Group};
use super::{look, may};

/// The commands.
pub(super) const ALL: &[Command] = &[
    look(
        Group::Everywhere,
        "command",
        "command line",
        "Opens the command line. Tab walks through what fits, right takes it, up and down go through the history.",
        can::always,
        system::command,
    ),
    look(
        Group::Everywhere,
        "help",
        "help",
        "Shows the keys in force and every command, what has the focus first. Typing searches.",
        can::always,
        system::help,
    ),
    look(
        Group::Everywhere,
        "back",
        "back",
        "Closes what is open, clears the filter, takes marks away, leaves the pane, or goes back a screen: the first of \
         these that there is.",
        can::always,
        places::back,
    ),
    look(
        Group::Everywhere,
        "next-pane",
        "next pane",
        "Moves the focus to the next pane.",
        can::panes,
        places::next_pane,
    ),
    look(
        Group::Everywhere,
        "previous-pane",
        "previous pane",
        "Moves the focus to the previous pane.",
        can::panes,
        places::previous_pane,
    ),
    look(
        Group::Everywhere,
        "refresh",
        "refresh",
        "Reads all sources, or the one named, again now.",
        can::always,
        system::refresh,
    )
    .taking(&[may("SOURCE", ArgKind::Source)]),
    look(
        Group::Everywhere,
        "freeze",
        "freeze",
        "Holds the picture still, so that it can be read or copied; reading goes on behind it. Again lets it go.",
        can::picture,
        system::freeze,
    ),
    look(
        Group::Everywhere,
        "write",
        "write mode",
        "Lets plans be applied for half an hour; again takes it back. Each plan is shown even then, and how far it reaches \
         decides what :apply asks.",
        may_change::write,
        changes::write,
    ),
    look(
        Group::Everywhere,
        "theme",
        "theme",
        "Takes another theme for this session; without a name the next one.",
        can::theme,
        system::theme,
    )
    .taking(&[may("THEME", ArgKind::Theme)]),
    look(Group::Everywhere, "redraw", "redraw", "Draws the screen anew.", can::always, system::redraw).always(),
    look(Group::Everywhere, "suspend", "suspend", "Goes to the shell; fg comes back.", can::always, system::suspend)
        .always(),
    look(Group::Everywhere, "quit", "quit", "Leaves the console.", can::always, system::quit).always(),
];
