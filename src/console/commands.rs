//! The table of commands. Keys, the `:` line, help, menus and `docs/keys.md` are made from it.

pub mod actions;
pub mod help;
pub mod hints;
pub mod table;

mod availability;
mod run;

use super::model::Model;
use super::msg::Effect;

pub use actions::{Action, Actions, actions};
pub use help::{Help, HelpRow, HelpSection, help};
pub use hints::hints;
pub(super) use run::evidence::look_for;
pub(super) use run::lists as run_lists;
pub(super) use run::moving::{Step, go as moving, in_list, rail_moved, text_end, text_height};
pub(super) use run::places::PLACES;
pub use table::all;

/// What running a command may touch (screens.md "Danger"): as far as a change that it leads to may reach.
pub use crate::provision::object::Danger;

/// Kinds of argument; each is completed from what it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgKind {
    /// A place `g` goes to.
    Place,
    /// A tenant's name.
    Tenant,
    /// A workload: `tenant/name` or VMID.
    Workload,
    /// A source, by its label.
    Source,
    /// A column of the focused list.
    Column,
    /// A theme.
    Theme,
    /// `row` or `table`.
    Extent,
    /// What a check looks at.
    Check,
    /// Type of a DNS record.
    RecordType,
    /// A plan that can be asked for.
    Plan,
    /// A digit, 1–9.
    Number,
    /// The number of a change.
    Change,
    /// One word, as it is.
    Word,
    /// The rest of the line, as it is.
    Text,
}

/// An argument of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arg {
    /// Name in usage lines, e.g. `TENANT`.
    pub name: &'static str,
    /// Kind.
    pub kind: ArgKind,
    /// Whether the command does without it.
    pub optional: bool,
}

/// Part of the help in which a command stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Acts on the selected row.
    Here,
    /// Acts on the list.
    List,
    /// Works everywhere.
    Everywhere,
    /// Plans, runs, the journal.
    Change,
    /// Moves the cursor.
    Move,
    /// Goes somewhere.
    Go,
    /// Works in the `:` line and in menus.
    Line,
}

impl Group {
    /// All, in the order of help.
    pub const ALL: [Self; 7] =
        [Self::Here, Self::List, Self::Everywhere, Self::Change, Self::Move, Self::Go, Self::Line];

    /// Heading.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Here => "Here",
            Self::List => "This list",
            Self::Everywhere => "Everywhere",
            Self::Change => "Changes",
            Self::Move => "Moving",
            Self::Go => "Places",
            Self::Line => "Lines and menus",
        }
    }
}

/// Whether a command can run now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// It can.
    Ready,
    /// It cannot, and why, in the operator's words.
    Disabled(String),
}

impl Availability {
    /// The reason, when it cannot run.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Ready => None,
            Self::Disabled(why) => Some(why),
        }
    }
}

/// A command as it was called.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The command.
    pub command: &'static Command,
    /// Words after its name.
    pub args: &'a [&'a str],
    /// Everything after its name, as typed.
    pub rest: &'a str,
}

/// One row of the table.
pub struct Command {
    /// Name on the `:` line and in keymaps.
    pub name: &'static str,
    /// A few words for menus and hints.
    pub title: &'static str,
    /// One sentence or two for help.
    pub doc: &'static str,
    /// Arguments.
    pub args: &'static [Arg],
    /// Danger.
    pub danger: Danger,
    /// Part of the help.
    pub group: Group,
    /// Whether it also runs over an overlay and in a terminal that is too small.
    pub always: bool,
    /// Whether it can run now.
    pub ready: fn(&Model) -> Availability,
    /// Runs it.
    pub run: fn(&mut Model, &Call<'_>) -> Vec<Effect>,
}

impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Command").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Command {
    /// Name and arguments, e.g. `refresh [SOURCE]`.
    #[must_use]
    pub fn usage(&self) -> String {
        let mut out = self.name.to_owned();
        for arg in self.args {
            out.push_str(&if arg.optional { format!(" [{}]", arg.name) } else { format!(" {}", arg.name) });
        }
        out
    }

    /// Whether it can run now.
    #[must_use]
    pub fn availability(&self, model: &Model) -> Availability {
        (self.ready)(model)
    }
}

/// The command called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static Command> {
    all().find(|c| c.name == name)
}

/// Splits a command line into the command and the rest.
///
/// # Errors
/// One sentence: which word is no command, and which one is near.
pub fn parse(line: &str) -> Result<(&'static Command, &str), String> {
    let line = line.trim();
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    find(name).map(|c| (c, rest.trim())).ok_or_else(|| {
        let near = super::file::did_you_mean(name, all().map(|c| c.name));
        let name: String = super::complete::clean_line(name).chars().take(40).collect();
        near.map_or_else(
            || format!("there is no command \"{name}\""),
            |n| format!("there is no command \"{name}\": {n}"),
        )
    })
}
