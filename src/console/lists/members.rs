//! Members of the fabric: the nodes of the cluster.

use super::super::list::{Align, Cell, Column, Cx, ListDef, ListId, SortKey};
use super::{by_class, fixed, maybe, none, or_none, seen, word, words};
use crate::console::widgets::format;
use crate::inventory::{Class, Inventory, Member, ObjectId, SourceId};

/// Definition.
pub static DEF: ListDef = ListDef {
    id: ListId::Members,
    title: "Members",
    word: "members",
    sources: &[SourceId::Pve],
    columns: &COLUMNS,
    sort: "node",
    len: |inv| inv.fabric.members.len(),
    id_of: |inv, i| inv.fabric.members.get(i).map(|m| ObjectId::Node(m.node.clone())),
    tenant_of: |_, _| None,
    cell,
    sort_key,
    gap: |_| None,
    detail,
    empty: "No node is known yet.",
};

const COLUMNS: [Column; 11] = [
    words("node", "NODE", 8, 20, 255),
    words("alias", "ALIAS", 4, 12, 60),
    fixed("role", "ROLE", 9, Align::Left, 100),
    fixed("management", "MANAGEMENT", 11, Align::Left, 90),
    fixed("vtep", "VTEP", 11, Align::Left, 120),
    words("underlay", "UNDERLAY", 8, 16, 50),
    fixed("zones", "ZONES", 5, Align::Right, 110),
    fixed("sdn", "SDN", 4, Align::Left, 40),
    fixed("frr", "FRR", 6, Align::Left, 30),
    fixed("pve", "PVE", 6, Align::Left, 20),
    fixed("state", "STATE", 9, Align::Left, 255),
];

fn role(m: &Member) -> Cell {
    match (m.exit_node, &m.in_fabric) {
        (true, _) => Cell::text("exit node"),
        (false, Ok(true)) => Cell::text("member"),
        (false, Ok(false)) => Cell::muted("no member"),
        (false, Err(gap)) => Cell::gap(gap),
    }
}

fn cell(cx: Cx<'_>, i: usize, key: &'static str) -> Cell {
    let Some(m) = cx.inv.fabric.members.get(i) else { return Cell::text("") };
    match key {
        "node" => Cell::text(&*m.node),
        "alias" => match cx.inv.site.short_name(&m.node) {
            alias if alias != &*m.node => Cell::text(alias),
            _ => none(),
        },
        "role" => role(m),
        "management" => or_none(m.management.as_deref()),
        "vtep" => or_none(m.vtep.as_deref()),
        "underlay" if m.underlay.is_empty() => none(),
        "underlay" => Cell::text(m.underlay.join(" ")),
        "zones" => seen(&m.zones, |(there, due)| match there == due {
            true => Cell::text(format!("{there}/{due}")),
            false => Cell::state(Class::Warning, format!("{there}/{due}")),
        }),
        "sdn" | "frr" if !m.exit_node => none(),
        "sdn" => seen(&m.sdn_version, |v| Cell::text(format!("v{v}"))),
        "frr" => seen(&m.frr, |v| Cell::text(v.clone())),
        "pve" => seen(&m.pve, |v| Cell::text(v.clone())),
        "state" => Cell::state(m.class, m.word.clone()),
        _ => Cell::text(""),
    }
}

fn sort_key(inv: &Inventory, i: usize, key: &'static str) -> SortKey {
    let Some(m) = inv.fabric.members.get(i) else { return SortKey::None };
    match key {
        "node" | "alias" => word(&m.node),
        "role" => word(&role(m).text),
        "management" => maybe(m.management.as_deref(), word),
        "vtep" => maybe(m.vtep.as_deref(), word),
        "underlay" => word(&m.underlay.join(" ")),
        "zones" => maybe(m.zones.as_ref().ok(), |(there, _)| super::number(*there)),
        "sdn" => maybe(m.sdn_version.as_ref().ok(), |v| super::big(*v)),
        "frr" => maybe(m.frr.as_ref().ok(), |v| word(v)),
        "pve" => maybe(m.pve.as_ref().ok(), |v| word(v)),
        "state" => by_class(m.class),
        _ => SortKey::None,
    }
}

fn detail(cx: Cx<'_>, i: usize) -> Vec<Vec<Cell>> {
    let Some(m) = cx.inv.fabric.members.get(i) else { return Vec::new() };
    let online = seen(&m.online, |on| match on {
        true => Cell::state(Class::Fine, "online"),
        false => Cell::state(Class::Fault, "offline"),
    });
    let staged = seen(&m.staged, |staged| match staged {
        true => Cell::state(Class::Warning, "staged: an SDN apply would activate them"),
        false => Cell::state(Class::Fine, "none staged"),
    });
    let cpu = m.cpu.map_or_else(|| "CPU ?".into(), |c| format!("CPU {}", format::percent(c)));
    let mem = m
        .mem
        .map_or_else(|| "MEM ?".into(), |(used, all)| format!("MEM {} of {}", format::size(used), format::size(all)));
    vec![
        vec![Cell::text(&*m.node), online, Cell::text(cpu), Cell::text(mem)],
        vec![Cell::muted("interface changes"), staged],
    ]
}
