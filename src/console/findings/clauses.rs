//! What is said of the clauses of the tenant contract.

use crate::console::widgets::format::plural;
use crate::diagnose::contract::{Command, Judged, State, count};
use crate::inventory::Class;

/// What `judged`, the clauses of one tenant, come to.
#[must_use]
pub fn contract(judged: &[Judged]) -> (Class, String) {
    let (kept, broken) = (count(judged, &State::Kept), count(judged, &State::Broken { by: Vec::new() }));
    let unknown = count(judged, &State::Unknown { missing: Vec::new() });
    let commands = judged.iter().filter(|one| one.not_run.is_some()).count();
    let class = match (broken, unknown) {
        (0, 0) => Class::Fine,
        (0, _) => Class::Unknown,
        _ => Class::Fault,
    };
    let whose = judged.first().map_or("", |first| first.tenant.as_str());
    let text = format!(
        "contract with {whose}: {kept} of {} kept · {broken} broken · {unknown} unknown · {} not run here",
        plural(judged.len(), "clause"),
        plural(commands, "command"),
    );
    (class, text)
}

/// The sign of a clause, and why it is not kept; nothing where it is.
#[must_use]
pub fn clause(one: &Judged) -> (Class, String) {
    match &one.state {
        State::Kept => (Class::Fine, String::new()),
        State::NotRun => (Class::NotRun, String::new()),
        State::Broken { by } => {
            let by: Vec<String> = by.iter().map(|(id, subject)| format!("{id} of {}", subject.name)).collect();
            (Class::Fault, format!("broken by {}", by.join(", ")))
        }
        State::Unknown { missing } => (Class::Unknown, format!("unknown: {}", missing.join(" · "))),
    }
}

/// Where a command is run, and what has to come.
#[must_use]
pub fn elsewhere(command: &Command) -> String {
    format!("not run here, {}: {}", command.place, command.expect)
}
