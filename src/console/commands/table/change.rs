//! Plans, runs, the journal.

use super::super::availability as can;
use super::super::availability::changing as may_change;
use super::super::run::changes;
use super::super::{ArgKind, Command, Danger, Group};
use super::{OF_TENANT, look, may, needs};

/// The commands.
pub(super) const ALL: &[Command] = &[
    look(
        Group::Change,
        "onboard",
        "onboard a tenant",
        "Asks for a new tenant's name and index, checks both while you type, and makes the plan of its network. Nothing is \
         changed before the plan was shown and approved.",
        can::picture,
        changes::onboard,
    )
    .taking(&[may("NAME", ArgKind::Word)])
    .reaching(Danger::Shared),
    look(
        Group::Change,
        "plan",
        "plan by name",
        "Makes any plan there is by its name and its words, and shows it: what the other commands of changes do with fewer words.",
        can::always,
        changes::plan,
    )
    .taking(&[needs("PLAN", ArgKind::Plan), may("WORDS", ArgKind::Text)])
    .reaching(Danger::Final),
    look(
        Group::Change,
        "apply",
        "apply the plan",
        "Runs the plan on screen, in write mode. How far it reaches decides what is asked: nothing where it only looks; y for one \
         object or one tenant; where others notice its key is the answer, and nothing more is asked; the name typed back \
         where there is no undo or edits of others go along. Enter never says yes.",
        may_change::apply,
        changes::apply,
    )
    .reaching(Danger::Final),
    look(
        Group::Change,
        "stop",
        "stop after this step",
        "No further step of the running change begins; the one that is under way is awaited, and what is held is given back.",
        may_change::stop,
        changes::stop,
    ),
    look(
        Group::Change,
        "run",
        "the running change",
        "Shows the change that runs, or ran last.",
        may_change::run,
        changes::run,
    ),
    look(
        Group::Change,
        "undo",
        "undo a change",
        "Makes the plan that takes a change back, last step first: the one named, e.g. C-0042, or the one on screen.",
        can::always,
        changes::undo,
    )
    .taking(&[may("CHANGE", ArgKind::Change)])
    .reaching(Danger::Final),
    look(
        Group::Change,
        "resume",
        "go on with a change",
        "Shows a change that did not come to its end, with what is there now, and the ways on.",
        may_change::resume,
        changes::resume,
    )
    .taking(&[may("CHANGE", ArgKind::Change)])
    .reaching(Danger::Final),
    look(
        Group::Change,
        "handover",
        "hand over",
        "Shows what a tenant's people need: numbers, zones, key, how names are updated, workloads, what the perimeter lets \
         through. It can be copied or saved. The secret of the key is fetched by a key of its own, into a new file that only \
         you can read or onto your clipboard, and is never shown.",
        may_change::hand_over,
        changes::hand_over,
    )
    .taking(OF_TENANT),
    look(
        Group::Change,
        "journal",
        "journal of changes",
        "Lists every change of this site that the journal knows: how it stands, who began it, when.",
        can::always,
        changes::journal,
    ),
];
