//! What needs a human now: one row a cause.

use std::sync::LazyLock;

use super::super::list::{Align, Cell, Column, Cx, ListDef, ListId, SortKey};
use super::{by_class, fixed, maybe, none, number, word, words};
use crate::console::widgets::format;
use crate::inventory::{Attention, Gap, GapKind, Inventory, ObjectId, SourceId};

/// Definition.
pub static DEF: ListDef = ListDef {
    id: ListId::Attention,
    title: "Needs a human now",
    word: "attention",
    sources: &[],
    columns: &COLUMNS,
    sort: "order",
    len: |inv| inv.attention.len(),
    id_of: |inv, i| inv.attention.get(i).map(id),
    tenant_of: |inv, i| inv.attention.get(i).and_then(|a| a.affects.first()).map(|t| &**t),
    cell,
    sort_key,
    gap: nothing_read,
    detail,
    empty: "Nothing needs a human in what was read.",
};

static UNREAD: LazyLock<Gap> = LazyLock::new(|| {
    Gap::new(GapKind::NotRead, "What needs a human is not known yet: Proxmox VE has not answered so far.")
});

/// An empty list before the first answer is no all-clear.
fn nothing_read(inv: &Inventory) -> Option<&Gap> {
    let awaited = inv.sources.get(SourceId::Pve).observed_at.is_none();
    (awaited && inv.attention.is_empty()).then(|| &*UNREAD)
}

const COLUMNS: [Column; 6] = [
    Column { max: 0, ..fixed("order", "", 0, Align::Right, 0) },
    fixed("kind", "KIND", 8, Align::Left, 255),
    words("where", "WHERE", 10, 28, 200),
    words("what", "WHAT", 20, 100, 255),
    fixed("reach", "REACH", 5, Align::Right, 30),
    fixed("since", "SINCE", 6, Align::Left, 40),
];

fn id(a: &Attention) -> ObjectId {
    ObjectId::Attention(format!("{} {}: {}", a.kind, a.place, a.what).into())
}

fn cell(cx: Cx<'_>, i: usize, key: &'static str) -> Cell {
    let Some(a) = cx.inv.attention.get(i) else { return Cell::text("") };
    match key {
        "kind" => Cell::state(a.class, a.kind),
        "where" => Cell::text(a.place.clone()),
        "what" => Cell::text(a.what.clone()),
        "reach" => match a.affects.len() {
            0 => none(),
            n => Cell::text(n.to_string()),
        },
        "since" => a.since.map_or_else(none, |at| Cell::text(format::when(at, cx.now))),
        _ => Cell::text(""),
    }
}

fn sort_key(inv: &Inventory, i: usize, key: &'static str) -> SortKey {
    let Some(a) = inv.attention.get(i) else { return SortKey::None };
    match key {
        "order" => number(u32::try_from(i).unwrap_or(u32::MAX)),
        "kind" => by_class(a.class),
        "where" => word(&a.place),
        "what" => word(&a.what),
        "reach" => super::big(a.affects.len() as u64),
        "since" => maybe(a.since, |at| SortKey::Num(at.as_duration().as_secs_f64())),
        _ => SortKey::None,
    }
}

/// The sentence whole, then whom it reaches.
fn detail(cx: Cx<'_>, i: usize) -> Vec<Vec<Cell>> {
    let Some(a) = cx.inv.attention.get(i) else { return Vec::new() };
    let mut lines = vec![vec![Cell::state(a.class, format!("{}: {}", a.place, a.what))]];
    if !a.affects.is_empty() {
        lines.push(vec![Cell::muted(format!("affects {}", a.affects.join(", ")))]);
    }
    lines
}
