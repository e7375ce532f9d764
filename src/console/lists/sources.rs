//! The sources with their errors.

use super::super::list::{Align, Cell, Column, Cx, ListDef, ListId, SortKey};
use super::{fixed, maybe, none, number, or_none, word, words};
use crate::console::theme::Role;
use crate::console::widgets::format;
use crate::inventory::{Class, Inventory, ObjectId, SourceHealth, SourceId, SourceStatus};

/// Definition.
pub static DEF: ListDef = ListDef {
    id: ListId::Sources,
    title: "Sources",
    word: "sources",
    sources: &[],
    columns: &COLUMNS,
    sort: "order",
    len: |_| SourceId::ALL.len(),
    id_of: |_, i| SourceId::ALL.get(i).map(|id| ObjectId::Source(*id)),
    tenant_of: |_, _| None,
    cell,
    sort_key,
    gap: |_| None,
    detail,
    empty: "No source.",
};

const COLUMNS: [Column; 7] = [
    Column { max: 0, ..fixed("order", "", 0, Align::Right, 0) },
    fixed("source", "SOURCE", 6, Align::Left, 255),
    words("what", "WHAT", 10, 24, 60),
    fixed("state", "STATE", 11, Align::Left, 255),
    fixed("read", "READ", 6, Align::Left, 200),
    words("error", "ERROR", 12, 90, 150),
    fixed("next", "NEXT TRY", 8, Align::Left, 40),
];

fn at(inv: &Inventory, i: usize) -> Option<(SourceId, &SourceHealth)> {
    SourceId::ALL.get(i).map(|id| (*id, inv.sources.get(*id)))
}

/// Status in glyph and word.
pub fn state(status: SourceStatus) -> Cell {
    match status {
        SourceStatus::Off => Cell::muted("○ off"),
        SourceStatus::Loading => Cell::state(Class::Progress, "loading"),
        SourceStatus::Fresh => Cell::state(Class::Fine, "fresh"),
        SourceStatus::Stale => Cell { role: Role::Stale, ..Cell::text("◐ stale") },
        SourceStatus::Denied => Cell { role: Role::Denied, ..Cell::text("⊘ denied") },
        SourceStatus::Failed => Cell::state(Class::Fault, "no answer"),
        SourceStatus::Unusable => Cell::state(Class::Fault, "cannot be asked"),
    }
}

fn cell(cx: Cx<'_>, i: usize, key: &'static str) -> Cell {
    let Some((id, health)) = at(cx.inv, i) else { return Cell::text("") };
    match key {
        "source" => Cell::text(id.label()),
        "what" => Cell::text(id.words()),
        "state" => state(health.status(cx.now)),
        "read" => or_none(health.observed_at.map(|at| format::when(at, cx.now))),
        "error" => match (&health.error, health.gaps.first()) {
            (Some(e), _) => Cell::text(&*e.text),
            (None, Some(gap)) => Cell::state(Class::Unknown, &*gap.why),
            (None, None) => none(),
        },
        "next" => or_none(health.error.as_ref().and(health.next_try).map(format::minute)),
        _ => Cell::text(""),
    }
}

fn sort_key(inv: &Inventory, i: usize, key: &'static str) -> SortKey {
    let Some((id, health)) = at(inv, i) else { return SortKey::None };
    let moment = |at: jiff::Timestamp| SortKey::Num(at.as_duration().as_secs_f64());
    match key {
        "order" => number(u32::try_from(i).unwrap_or(u32::MAX)),
        "source" => word(id.label()),
        "what" => word(id.words()),
        "state" | "error" => maybe(health.error.as_ref(), |e| word(&e.text)),
        "read" => maybe(health.observed_at, moment),
        "next" => maybe(health.next_try, moment),
        _ => SortKey::None,
    }
}

fn detail(cx: Cx<'_>, i: usize) -> Vec<Vec<Cell>> {
    let Some((id, health)) = at(cx.inv, i) else { return Vec::new() };
    if !health.configured {
        return vec![vec![Cell::muted(format!("{} is not set up for this site. That is not a fault.", id.words()))]];
    }
    let mut lines = Vec::new();
    if let Some(e) = &health.error {
        lines.push(vec![Cell::state(Class::Fault, &*e.text)]);
        lines.extend(e.help.as_deref().map(|help| vec![Cell::text(help)]));
    }
    lines.extend(health.gaps.iter().map(super::gap_line));
    let every = format!("asked every {}", format::duration(health.interval).trim_start_matches('<'));
    let deadline = format!("given up after {}", format::duration(health.deadline).trim_start_matches('<'));
    let since = health.error.as_ref().map(|e| Cell::muted(format!("since {}", format::moment(e.since, cx.now))));
    lines.push(since.into_iter().chain([Cell::muted(every), Cell::muted(deadline)]).collect());
    lines
}
