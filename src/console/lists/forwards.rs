//! Forwards of the perimeter resolver, those that ought to be there included.

use super::super::list::{Align, Cell, Column, Cx, ListDef, ListId, SortKey};
use super::{by_class, diff_lines, fixed, maybe, none, number, or_none, word, words};
use crate::inventory::{ForwardRow, Inventory, ObjectId, SourceId};

/// Definition.
pub static DEF: ListDef = ListDef {
    id: ListId::Forwards,
    title: "Forwards",
    word: "forwards",
    sources: &[SourceId::Fw, SourceId::Pve],
    columns: &COLUMNS,
    sort: "order",
    len: |inv| inv.forwards.len(),
    id_of: |inv, i| inv.forwards.get(i).map(|f| ObjectId::Forward(f.uuid.as_ref().unwrap_or(&f.domain).clone())),
    tenant_of: |inv, i| inv.forwards.get(i).and_then(|f| f.tenant.as_deref()),
    cell,
    sort_key,
    gap: |inv| inv.forwards_gap.as_ref(),
    detail,
    empty: "The perimeter resolver forwards nothing.",
};

const COLUMNS: [Column; 8] = [
    Column { max: 0, ..fixed("order", "", 0, Align::Right, 0) },
    words("tenant", "TENANT", 8, 12, 80),
    words("domain", "DOMAIN", 20, 40, 255),
    fixed("server", "SERVER", 11, Align::Left, 150),
    fixed("type", "TYPE", 7, Align::Left, 140),
    fixed("enabled", "ON", 3, Align::Left, 130),
    fixed("state", "STATE", 11, Align::Left, 255),
    words("description", "DESCRIPTION", 24, 40, 20),
];

fn cell(cx: Cx<'_>, i: usize, key: &'static str) -> Cell {
    let Some(f) = cx.inv.forwards.get(i) else { return Cell::text("") };
    match key {
        "tenant" => f.tenant.as_deref().map_or_else(none, Cell::text),
        "domain" => Cell::text(&*f.domain),
        "server" => or_none(f.server.as_deref()),
        "type" => or_none(f.kind),
        "enabled" => or_none(f.enabled.map(yes)),
        "state" => Cell::state(f.class, &*f.word),
        "description" => Cell::muted(&*f.description),
        _ => Cell::text(""),
    }
}

const fn yes(on: bool) -> &'static str {
    if on { "yes" } else { "no" }
}

fn sort_key(inv: &Inventory, i: usize, key: &'static str) -> SortKey {
    let Some(f) = inv.forwards.get(i) else { return SortKey::None };
    match key {
        "order" => number(u32::try_from(i).unwrap_or(u32::MAX)),
        "tenant" => maybe(f.tenant.as_deref(), word),
        "domain" => word(&f.domain),
        "server" => maybe(f.server.as_deref(), word),
        "type" => maybe(f.kind, word),
        "enabled" => maybe(f.enabled, |on| number(u8::from(!on))),
        "state" => by_class(f.class),
        "description" => word(&f.description),
        _ => SortKey::None,
    }
}

fn detail(cx: Cx<'_>, i: usize) -> Vec<Vec<Cell>> {
    let Some(f) = cx.inv.forwards.get(i) else { return Vec::new() };
    let mut lines = vec![vec![Cell::state(f.class, &*f.word), Cell::text(&*f.domain), Cell::muted(where_to(f))]];
    lines.extend(diff_lines(&f.diffs));
    if !f.description.is_empty() {
        lines.push(vec![Cell::muted(format!("\"{}\"", f.description))]);
    }
    lines
}

/// Where it sends questions, in words.
pub fn where_to(f: &ForwardRow) -> String {
    match (&f.server, f.kind) {
        (Some(server), Some(kind)) => format!("to {server}, type {kind}"),
        _ => "no such forward at the perimeter".to_owned(),
    }
}
