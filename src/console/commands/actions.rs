//! The actions menu: what can be done with the selected row or the marked ones.

use super::{Command, Danger, Group, all, availability, hints};
use crate::console::lists::def;
use crate::console::model::{Model, Overlay};
use crate::console::nav;
use crate::console::query::fold;

/// What the actions menu shows.
#[derive(Debug, Clone)]
pub struct Actions {
    /// e.g. `eds/services`, or `2 workloads` when rows are marked.
    pub title: String,
    /// Candidates, harmless first.
    pub rows: Vec<Action>,
}

/// One action.
#[derive(Debug, Clone)]
pub struct Action {
    /// Key in force; empty = by `:` only.
    pub key: String,
    /// The command.
    pub command: &'static Command,
    /// Danger.
    pub danger: Danger,
    /// Why it cannot run now, when it cannot.
    pub disabled: Option<String>,
}

/// The actions of the selected row, narrowed by the overlay's search text; what cannot be done stays, with its reason.
#[must_use]
pub fn actions(model: &Model) -> Actions {
    let search = match &model.overlay {
        Overlay::Actions { search, .. } => fold(search.value().trim()),
        _ => String::new(),
    };
    let of_rows = |c: &&Command| c.group == Group::Here && !matches!(c.name, "actions" | "step");
    let mut rows: Vec<Action> = all()
        .filter(of_rows)
        .filter(|c| search.is_empty() || fold(c.title).contains(&search) || fold(c.name).contains(&search))
        .map(|command| Action {
            key: hints::key_for(model, command.name).unwrap_or_default(),
            command,
            danger: command.danger,
            disabled: availability::beneath(model, command).reason().map(str::to_owned),
        })
        .collect();
    rows.sort_by_key(|a| a.danger);
    Actions { title: title(model), rows }
}

fn title(model: &Model) -> String {
    let marked = model.focused_state().map_or(0, |s| s.marks.len());
    match (marked, model.focused(), model.selected(), model.picture()) {
        (1.., Some((list, _)), _, _) => format!("{marked} {}", def(list).title.to_lowercase()),
        (_, _, Some(id), Some(inv)) => nav::name_of(inv, id),
        _ => String::new(),
    }
}
