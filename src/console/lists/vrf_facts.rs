//! The facts of VRFs, one row a fact: the board's pane of one tenant, or all.

use super::super::list::{Align, Cell, Column, Cx, ListDef, ListId, SortKey};
use super::{by_class, diff_lines, fixed, gap_line, number, word, words};
use crate::inventory::{Fact, Inventory, ObjectId, SourceId, Vrf};

/// Definition.
pub static DEF: ListDef = ListDef {
    id: ListId::VrfFacts,
    title: "VRF & egress",
    word: "vrf-facts",
    sources: &[SourceId::Exit, SourceId::Pve],
    columns: &COLUMNS,
    sort: "order",
    len: |inv| inv.vrfs.iter().map(|v| v.facts.len()).sum(),
    id_of: |inv, i| at(inv, i).map(|(v, f)| ObjectId::VrfFact(v.tenant.clone(), v.node.clone(), f.label)),
    tenant_of: |inv, i| at(inv, i).map(|(v, _)| &*v.tenant),
    cell,
    sort_key,
    gap: |inv| inv.tenants_gap.as_ref(),
    detail,
    empty: "No VRF is known for this tenant.",
};

const COLUMNS: [Column; 6] = [
    Column { max: 0, ..fixed("order", "", 0, Align::Right, 0) },
    words("tenant", "TENANT", 8, 12, 255),
    words("node", "NODE", 4, 14, 180),
    words("fact", "FACT", 8, 14, 200),
    words("value", "VALUE", 8, 60, 150),
    fixed("state", "STATE", 5, Align::Left, 255),
];

/// Row `i` of all facts of all VRFs.
fn at(inv: &Inventory, mut i: usize) -> Option<(&Vrf, &Fact)> {
    for vrf in &inv.vrfs {
        if let Some(fact) = vrf.facts.get(i) {
            return Some((vrf, fact));
        }
        i -= vrf.facts.len();
    }
    None
}

fn cell(cx: Cx<'_>, i: usize, key: &'static str) -> Cell {
    let Some((vrf, fact)) = at(cx.inv, i) else { return Cell::text("") };
    match key {
        "tenant" => Cell::text(vrf.tenant.to_string()),
        "node" => Cell::muted(cx.inv.site.short_name(&vrf.node)),
        "fact" => Cell::muted(fact.label),
        "value" => Cell::text(fact.value.clone()),
        "state" => Cell::state(fact.class, fact.word.clone()),
        _ => Cell::text(""),
    }
}

fn sort_key(inv: &Inventory, i: usize, key: &'static str) -> SortKey {
    let Some((vrf, fact)) = at(inv, i) else { return SortKey::None };
    match key {
        "tenant" => word(&vrf.tenant),
        "node" => word(&vrf.node),
        "order" => number(u32::try_from(i).unwrap_or(u32::MAX)),
        "fact" => word(fact.label),
        "value" => word(&fact.value),
        "state" => by_class(fact.class),
        _ => SortKey::None,
    }
}

fn detail(cx: Cx<'_>, i: usize) -> Vec<Vec<Cell>> {
    let Some((vrf, fact)) = at(cx.inv, i) else { return Vec::new() };
    let node = cx.inv.site.short_name(&vrf.node).to_owned();
    let mut lines = vec![vec![
        Cell::muted(format!("{} on {node}", vrf.device)),
        Cell::text(format!("{} {}", fact.label, fact.value)),
        Cell::state(fact.class, fact.word.clone()),
    ]];
    lines.extend(fact.gap.as_ref().map(gap_line));
    lines.extend(diff_lines(&vrf.diffs));
    lines
}
