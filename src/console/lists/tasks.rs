//! Recent tasks of Proxmox.

use super::super::list::{Align, Cell, Column, Cx, ListDef, ListId, SortKey};
use super::{fixed, maybe, none, word, words};
use crate::backends::proxmox::model::Task;
use crate::console::widgets::format;
use crate::inventory::{Class, Inventory, ObjectId, SourceId};

/// Definition.
pub static DEF: ListDef = ListDef {
    id: ListId::Tasks,
    title: "Tasks",
    word: "tasks",
    sources: &[SourceId::Pve],
    columns: &COLUMNS,
    sort: "order",
    len: |inv| of(inv).len(),
    id_of: |inv, i| of(inv).get(i).map(|t| ObjectId::Task(t.upid.as_str().into())),
    tenant_of: |_, _| None,
    cell,
    sort_key,
    gap: |inv| inv.tasks.as_ref().err(),
    detail,
    empty: "No task is on record.",
};

const COLUMNS: [Column; 8] = [
    Column { max: 0, ..fixed("order", "", 0, Align::Right, 0) },
    fixed("start", "START", 6, Align::Left, 255),
    fixed("took", "TOOK", 4, Align::Right, 60),
    words("task", "TASK", 10, 24, 255),
    words("object", "OBJECT", 6, 24, 150),
    words("user", "USER", 8, 24, 100),
    words("node", "NODE", 4, 16, 40),
    words("end", "END", 8, 60, 255),
];

fn of(inv: &Inventory) -> &[Task] {
    inv.tasks.as_ref().map_or(&[], Vec::as_slice)
}

/// How it ended. `OK` is what Proxmox says, not proof of anything on the nodes.
fn end(task: &Task) -> Cell {
    match task.status.as_deref() {
        None if task.ended.is_none() => Cell::state(Class::Progress, "running"),
        None => Cell::state(Class::Unknown, "unknown"),
        Some("OK") => Cell::state(Class::Fine, "OK"),
        Some(text) if text.starts_with("WARNINGS") => Cell::state(Class::Warning, text),
        Some(text) => Cell::state(Class::Fault, text),
    }
}

fn cell(cx: Cx<'_>, i: usize, key: &'static str) -> Cell {
    let Some(t) = of(cx.inv).get(i) else { return Cell::text("") };
    match key {
        "start" => t.started.map_or_else(none, |at| Cell::text(format::when(at, cx.now))),
        "took" => match (t.started, t.ended) {
            (Some(a), Some(b)) => Cell::text(format::duration(b.duration_since(a))),
            _ => none(),
        },
        "task" => Cell::text(t.kind.clone()),
        "object" if t.id.is_empty() => none(),
        "object" => Cell::text(t.id.clone()),
        "user" => Cell::text(t.user.clone()),
        "node" => Cell::text(cx.inv.site.short_name(&t.node)),
        "end" => end(t),
        _ => Cell::text(""),
    }
}

fn sort_key(inv: &Inventory, i: usize, key: &'static str) -> SortKey {
    let Some(t) = of(inv).get(i) else { return SortKey::None };
    match key {
        "order" => super::number(u32::try_from(i).unwrap_or(u32::MAX)),
        "start" => maybe(t.started, |at| SortKey::Num(at.as_duration().as_secs_f64())),
        "took" => maybe(t.started.zip(t.ended), |(a, b)| SortKey::Num(b.duration_since(a).as_secs_f64())),
        "task" => word(&t.kind),
        "object" => word(&t.id),
        "user" => word(&t.user),
        "node" => word(&t.node),
        "end" => word(&end(t).text),
        _ => SortKey::None,
    }
}

fn detail(cx: Cx<'_>, i: usize) -> Vec<Vec<Cell>> {
    let Some(t) = of(cx.inv).get(i) else { return Vec::new() };
    vec![
        vec![Cell::text(format!("{} {}", t.kind, t.id)), Cell::text(format!("by {}", t.user)), end(t)],
        vec![Cell::muted(t.upid.clone())],
    ]
}
