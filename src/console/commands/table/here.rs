//! What acts on the selected row, or on what is on screen.

use super::super::availability as can;
use super::super::run::{evidence, probes, row};
use super::super::{ArgKind, Command, Group};
use super::{look, may, needs};

/// The commands.
pub(super) const ALL: &[Command] = &[
    look(
        Group::Here,
        "open",
        "open",
        "Opens the selected row: a tenant's board, the place where a finding can be dealt with, what was read for a leg or \
         a finding of a check, or the description of anything else. In a line or a menu it takes what is offered.",
        can::open,
        row::open,
    ),
    look(
        Group::Here,
        "describe",
        "describe",
        "Shows everything known about the selected object, with what was expected where that differs, and why the \
         unknown is unknown.",
        can::describe,
        row::describe,
    ),
    look(
        Group::Here,
        "data",
        "YAML or JSON",
        "Shows the selected object as YAML, then as JSON; what a check found as JSON. Secrets are not in it.",
        can::data,
        row::data,
    ),
    look(
        Group::Here,
        "edit",
        "in $EDITOR",
        "Opens the selected object as text in $EDITOR. Changes to it are thrown away: this console only reads.",
        can::object,
        row::edit,
    ),
    look(
        Group::Here,
        "copy",
        "copy",
        "Copies the selected row, or the marked ones, or with \"table\" the whole list as Markdown, to your own \
         clipboard, over SSH too (OSC 52).",
        can::copy,
        row::copy,
    )
    .taking(&[may("EXTENT", ArgKind::Extent)]),
    look(
        Group::Here,
        "resolve-row",
        "resolve its name",
        "Asks every vantage point for the name of the selected row: a workload's address, a record, the SOA of a zone, of \
         a forward or of a tenant.",
        can::resolve,
        row::resolve,
    ),
    look(
        Group::Here,
        "explain",
        "explain",
        "Checks what is under the cursor: the egress of the row's tenant, the fabric for what no tenant owns; shows the path \
         leg by leg as the answers come, and every finding. Esc gives up what has not come.",
        can::explain,
        row::explain,
    ),
    look(
        Group::Here,
        "paste",
        "paste a result",
        "Opens a field for the output of ping, nc, curl or tcpdump that somebody ran where it cannot be run from here: for a \
         cell of the isolation table, or for legs of a tenant's path. It shows how the text is read before it counts.",
        can::paste,
        probes::paste,
    ),
    look(
        Group::Here,
        "unpaste",
        "take pasted results away",
        "Takes away what was pasted for the cell under the cursor.",
        can::pasted,
        probes::unpaste,
    ),
    look(
        Group::Here,
        "actions",
        "all actions",
        "Lists everything that can be done with the selected row or the marked ones, with the reason where something \
         cannot be done.",
        can::object,
        row::actions,
    ),
    look(
        Group::Here,
        "step",
        "take a numbered step",
        "Takes the numbered next step that the screen offers: its command is copied, to be run by you; of a change that did not \
         come to its end, a plan is shown.",
        can::step,
        evidence::step,
    )
    .taking(&[needs("NUMBER", ArgKind::Number)]),
    look(
        Group::Here,
        "save-bundle",
        "save evidence or plan",
        "Keeps everything that the check read in a directory that is only yours to read, secrets taken out; \"explain DIR\" \
         finds the same there, without a network. Without a directory it asks. A plan is kept as a file in the site's state \
         directory.",
        can::bundle,
        evidence::save,
    )
    .taking(&[may("DIR", ArgKind::Text)]),
    look(
        Group::Here,
        "flows",
        "tracked flows",
        "Lists connections that the exit nodes track for the tenant whose path is on screen, with their state, where they are \
         translated to, and whether an answer came.",
        can::flows,
        evidence::flows,
    ),
    look(
        Group::Here,
        "search",
        "search",
        "Goes to the next line of the text that holds what is typed; capitals do not count.",
        can::search,
        evidence::search,
    )
    .taking(&[may("TEXT", ArgKind::Text)]),
    look(
        Group::Here,
        "next-match",
        "next match",
        "Goes to the next line that holds what was searched for, around the end.",
        can::matched,
        evidence::next_match,
    ),
    look(
        Group::Here,
        "previous-match",
        "previous match",
        "Goes to the previous line that holds what was searched for.",
        can::matched,
        evidence::previous_match,
    ),
];
