//! The table itself, a file a group.

mod change;
mod everywhere;
mod go;
mod here;
mod line;
mod list;

use super::{Arg, ArgKind, Call, Command, Danger, Group};
use crate::console::model::Model;
use crate::console::msg::Effect;

type Run = fn(&mut Model, &Call<'_>) -> Vec<Effect>;
type Ready = fn(&Model) -> super::Availability;

/// A command that only looks.
const fn look(
    group: Group,
    name: &'static str,
    title: &'static str,
    doc: &'static str,
    ready: Ready,
    run: Run,
) -> Command {
    Command { name, title, doc, args: &[], danger: Danger::Look, group, always: false, ready, run }
}

impl Command {
    const fn taking(self, args: &'static [Arg]) -> Self {
        Self { args, ..self }
    }

    const fn reaching(self, danger: Danger) -> Self {
        Self { danger, ..self }
    }

    const fn always(self) -> Self {
        Self { always: true, ..self }
    }
}

const fn needs(name: &'static str, kind: ArgKind) -> Arg {
    Arg { name, kind, optional: false }
}

const fn may(name: &'static str, kind: ArgKind) -> Arg {
    Arg { name, kind, optional: true }
}

const OF_TENANT: &[Arg] = &[may("TENANT", ArgKind::Tenant)];

/// The commands, in the order in which they are offered.
static GROUPS: [&[Command]; 8] =
    [here::ALL, list::ALL, everywhere::ALL, go::MOVES, go::PLACES, change::ALL, go::LISTS, line::ALL];

/// Every command there is.
pub fn all() -> impl Iterator<Item = &'static Command> {
    GROUPS.into_iter().flatten()
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
