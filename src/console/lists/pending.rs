//! SDN edits that wait for an apply.

use super::super::list::{Align, Cell, Column, Cx, ListDef, ListId, SortKey};
use super::{fixed, maybe, none, or_none, word, words};
use crate::backends::proxmox::model::Change;
use crate::inventory::{Class, Inventory, ObjectId, PendingEdit, SourceId};

/// Definition.
pub static DEF: ListDef = ListDef {
    id: ListId::Pending,
    title: "Pending SDN edits",
    word: "pending",
    sources: &[SourceId::Pve],
    columns: &COLUMNS,
    sort: "object",
    len: |inv| of(inv).len(),
    id_of: |inv, i| of(inv).get(i).map(|p| ObjectId::Pending(p.kind, p.id.clone())),
    tenant_of: |inv, i| of(inv).get(i).and_then(|p| p.tenant.as_deref()),
    cell,
    sort_key,
    gap: |inv| inv.fabric.pending.as_ref().err(),
    detail,
    empty: "No SDN edit waits: what is configured is applied.",
};

const COLUMNS: [Column; 5] = [
    words("object", "OBJECT", 12, 32, 255),
    words("tenant", "TENANT", 8, 12, 60),
    fixed("state", "STATE", 9, Align::Left, 255),
    words("what", "WHAT CHANGES", 16, 80, 200),
    words("by", "BY", 8, 24, 80),
];

fn of(inv: &Inventory) -> &[PendingEdit] {
    inv.fabric.pending.as_ref().map_or(&[], Vec::as_slice)
}

/// The word for a change that waits.
pub const fn change(change: Change) -> &'static str {
    match change {
        Change::None => "applied",
        Change::New => "new",
        Change::Changed => "changed",
        Change::Deleted => "deleted",
    }
}

fn cell(cx: Cx<'_>, i: usize, key: &'static str) -> Cell {
    let Some(p) = of(cx.inv).get(i) else { return Cell::text("") };
    match key {
        "object" => Cell::text(format!("{} {}", p.kind, p.id)),
        "tenant" => p.tenant.as_deref().map_or_else(none, Cell::text),
        "state" => Cell::state(Class::Pending, change(p.change)),
        "what" => Cell::text(p.what.clone()),
        "by" => or_none(p.by.as_deref()),
        _ => Cell::text(""),
    }
}

fn sort_key(inv: &Inventory, i: usize, key: &'static str) -> SortKey {
    let Some(p) = of(inv).get(i) else { return SortKey::None };
    match key {
        "object" => word(&format!("{} {}", p.kind, p.id)),
        "tenant" => maybe(p.tenant.as_deref(), word),
        "state" => word(change(p.change)),
        "what" => word(&p.what),
        "by" => maybe(p.by.as_deref(), word),
        _ => SortKey::None,
    }
}

fn detail(cx: Cx<'_>, i: usize) -> Vec<Vec<Cell>> {
    let Some(p) = of(cx.inv).get(i) else { return Vec::new() };
    let by = p.by.as_ref().map_or_else(
        || "Proxmox does not record who edited an SDN object".into(),
        |by| format!("by {by}, taken from the task log near that time"),
    );
    vec![vec![Cell::state(Class::Pending, format!("{} {}: {}", p.kind, p.id, p.what))], vec![Cell::muted(by)]]
}
