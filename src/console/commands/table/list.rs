//! What acts on the list.

use super::super::availability as can;
use super::super::run::{lists, places};
use super::super::{ArgKind, Command, Group};
use super::{look, may};

/// The commands.
pub(super) const ALL: &[Command] = &[
    look(
        Group::List,
        "filter",
        "filter",
        "Narrows the list while you type: words are fuzzy and joined by \"and\", !word excludes, col:value binds a \
         column, \"several words\" are taken as they are. Esc clears it.",
        can::list,
        lists::filter,
    )
    .taking(&[may("TEXT", ArgKind::Text)]),
    look(
        Group::List,
        "sort",
        "sort",
        "Sorts by a column; the same column again turns the order around. Without a column it asks.",
        can::list,
        lists::sort,
    )
    .taking(&[may("COLUMN", ArgKind::Column)]),
    look(
        Group::List,
        "columns",
        "columns",
        "Shows or hides a column. Without a column it offers all of them.",
        can::list,
        lists::columns,
    )
    .taking(&[may("COLUMN", ArgKind::Column)]),
    look(
        Group::List,
        "mark",
        "mark",
        "Marks the selected row, or takes its mark away. Marks are held by identity; an action takes the marked rows.",
        can::row,
        lists::mark,
    ),
    look(Group::List, "unmark", "unmark all", "Takes all marks of the list away.", can::marks, lists::unmark),
    look(
        Group::List,
        "next-finding",
        "next finding",
        "Goes to the next row that differs, warns or fails; in the isolation table to the next cell that is not blocked.",
        can::finding,
        lists::next_finding,
    ),
    look(
        Group::List,
        "previous-finding",
        "previous finding",
        "Goes to the previous row that differs, warns or fails, or cell that is not blocked.",
        can::finding,
        lists::previous_finding,
    ),
    look(
        Group::List,
        "zoom",
        "zoom",
        "Shows the pane as a full-width list, and goes back again.",
        can::zoom,
        places::zoom,
    ),
    look(
        Group::List,
        "scope",
        "one tenant, all",
        "Switches the list between one tenant and all tenants; the cursor stays on its object.",
        can::scope,
        places::scope,
    ),
];
