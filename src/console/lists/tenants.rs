//! Tenants: rail, and screen of its own below 100 columns.

use super::super::list::{Align, Cell, Column, Cx, ListDef, ListId, SortKey};
use super::{by_class, fixed, maybe, number, word, words};
use crate::console::widgets::format::{self, plural};
use crate::inventory::{Class, Inventory, Layer, ObjectId, Owner, SourceId, SourceStatus, Tenant, TenantStatus};

/// Definition.
pub static DEF: ListDef = ListDef {
    id: ListId::Tenants,
    title: "Tenants",
    word: "tenants",
    sources: &[SourceId::Pve],
    columns: &COLUMNS,
    sort: "n",
    len: |inv| inv.tenants.len(),
    id_of: |inv, i| inv.tenants.get(i).map(|t| ObjectId::Tenant(t.name.clone())),
    tenant_of: |inv, i| inv.tenants.get(i).map(|t| &*t.name),
    cell,
    sort_key,
    gap: |inv| inv.tenants_gap.as_ref(),
    detail,
    empty: "No tenant yet: no EVPN zone carries a VRF VNI of this site's band.",
};

const COLUMNS: [Column; 12] = [
    fixed("n", "N", 2, Align::Right, 255),
    words("name", "NAME", 8, 12, 255),
    fixed("status", "STATUS", 12, Align::Left, 90),
    fixed("subnet", "SUBNET", 14, Align::Left, 60),
    fixed("f", "F", 1, Align::Left, 200),
    fixed("n2", "N", 1, Align::Left, 200),
    fixed("d", "D", 1, Align::Left, 200),
    fixed("r", "R", 1, Align::Left, 200),
    fixed("w", "W", 1, Align::Left, 200),
    fixed("b", "B", 1, Align::Left, 200),
    fixed("vms", "VMS", 3, Align::Right, 50),
    words("worst", "WORST", 10, 40, 40),
];

fn cell(cx: Cx<'_>, i: usize, key: &'static str) -> Cell {
    let Some(t) = cx.inv.tenants.get(i) else { return Cell::text("") };
    match key {
        "n" => Cell::text(t.index.to_string()),
        "name" => Cell::text(&*t.name),
        "status" => status(status_now(cx, t)),
        "subnet" => Cell::text(t.subnet.to_string()),
        "vms" => Cell::text(vms(cx.inv, t)),
        "worst" => worst(cx, t),
        key => letter(t, key).map_or_else(
            || Cell::text(""),
            |(c, layer)| {
                let shown = layer_cell(cx, c, layer);
                let text = if shown.class.is_none() { "○" } else { "" };
                Cell { text: text.into(), ..shown }
            },
        ),
    }
}

fn sort_key(inv: &Inventory, i: usize, key: &'static str) -> SortKey {
    let Some(t) = inv.tenants.get(i) else { return SortKey::None };
    match key {
        "n" => number(t.index),
        "name" => word(&t.name),
        "status" => word(&status(t.status).text),
        "subnet" => number(u32::from(t.subnet.network())),
        "vms" => number(t.workloads.end.saturating_sub(t.workloads.start)),
        "worst" => by_class(worst_layer(t).map_or(Class::Fine, |(_, _, layer)| layer.class)),
        key => maybe(letter(t, key), |(_, layer)| by_class(layer.class)),
    }
}

/// The layer behind a column, with its letter.
fn letter<'a>(t: &'a Tenant, key: &str) -> Option<(char, &'a Layer)> {
    let keys = ["f", "n2", "d", "r", "w", "b"];
    let at = keys.iter().position(|k| *k == key)?;
    t.layers.all().into_iter().nth(at).map(|(letter, _, layer)| (letter, layer))
}

/// The source that a layer, by its letter, is read from.
const fn source_of(letter: char) -> SourceId {
    match letter {
        'N' => SourceId::Exit,
        'D' => SourceId::Dns,
        'R' => SourceId::Fw,
        'B' => SourceId::Boot,
        _ => SourceId::Pve,
    }
}

/// A layer in glyph and words. While its source is old or refused nothing is claimed: the layer reads as unknown.
pub fn layer_cell(cx: Cx<'_>, letter: char, layer: &Layer) -> Cell {
    if layer.is_off() {
        return Cell::muted("○ off");
    }
    let health = cx.inv.sources.get(source_of(letter));
    let late = || health.age(cx.now).map(format::late_age).unwrap_or_default();
    match health.status(cx.now) {
        SourceStatus::Stale => Cell::state(Class::Unknown, format!("stale {}", late())),
        SourceStatus::Denied if layer.gap.is_none() => Cell::state(Class::Unknown, "denied"),
        _ => Cell::state(layer.class, layer.words.clone()),
    }
}

/// The status of a tenant; unknown while what it is concluded from is old.
pub fn status_now(cx: Cx<'_>, t: &Tenant) -> TenantStatus {
    let old = |id| cx.inv.sources.get(id).status(cx.now) == SourceStatus::Stale;
    if old(SourceId::Pve) || old(SourceId::Exit) { TenantStatus::Unknown } else { t.status }
}

/// Status in glyph and word.
pub fn status(status: TenantStatus) -> Cell {
    match status {
        TenantStatus::Ready => Cell::state(Class::Fine, "ready"),
        TenantStatus::Provisioning => Cell::state(Class::Pending, "provisioning"),
        TenantStatus::Deleting => Cell::state(Class::Pending, "deleting"),
        TenantStatus::Unknown => Cell::state(Class::Unknown, "unknown"),
    }
}

/// Running of known VMs; `?` when the guest list is not known.
fn vms(inv: &Inventory, t: &Tenant) -> String {
    if inv.workloads_gap.is_some() {
        return "?".into();
    }
    let all = inv.workloads_of(t);
    format!("{}/{}", all.iter().filter(|w| &*w.status == "running").count(), all.len())
}

/// The worst layer, unless every layer is fine, absent without harm, off or not run.
fn worst_layer(t: &Tenant) -> Option<(char, &'static str, &Layer)> {
    // Of several that are equally bad the first: what is below the fabric follows from it.
    t.layers
        .all()
        .into_iter()
        .rev()
        .filter(|(_, _, layer)| layer.class >= Class::Unknown && !layer.is_off())
        .max_by_key(|(_, _, layer)| layer.class)
}

/// The worst of what is claimed, in words.
fn worst(cx: Cx<'_>, t: &Tenant) -> Cell {
    let named = |(letter, name, layer): (char, &str, &Layer)| {
        let cell = layer_cell(cx, letter, layer);
        Cell { text: format!("{name}: {}", cell.text), ..cell }
    };
    let unknown = || t.layers.all().into_iter().map(named).find(|cell| cell.class == Some(Class::Unknown));
    worst_layer(t).map(named).or_else(unknown).unwrap_or_else(|| Cell::state(Class::Fine, "fine"))
}

fn detail(cx: Cx<'_>, i: usize) -> Vec<Vec<Cell>> {
    let Some(t) = cx.inv.tenants.get(i) else { return Vec::new() };
    let layers = |range: std::ops::Range<usize>| -> Vec<Cell> {
        t.layers
            .all()
            .into_iter()
            .skip(range.start)
            .take(range.len())
            .flat_map(|(letter, name, layer)| {
                let cell = layer_cell(cx, letter, layer);
                match cell.class {
                    Some(_) => vec![Cell::muted(name), cell],
                    None => vec![Cell::muted(format!("{name} {}", cell.text))],
                }
            })
            .collect()
    };
    let mut lines = vec![layers(0..4), layers(4..6)];
    if let Some(line) = lines.get_mut(1) {
        line.extend(numbers(t));
        line.extend(owner(t));
    }
    lines.extend(t.layers.all().into_iter().flat_map(|(_, _, layer)| super::diff_lines(&layer.diffs)));
    lines
}

/// Who owns it, where the site has a registry.
fn owner(t: &Tenant) -> Option<Cell> {
    match &t.owner {
        Owner::Console => None,
        Owner::Registry(_) => Some(Cell::muted("owner: registry")),
        Owner::Unregistered => Some(Cell::state(Class::Info, "not in the registry")),
        Owner::Unknown(gap) => Some(Cell::state(Class::Unknown, format!("owner {}", gap.word()))),
    }
}

fn numbers(t: &Tenant) -> [Cell; 2] {
    let drill = if t.drill { ", for drills only" } else { "" };
    [
        Cell::muted(format!("VRF {}", t.vrf_vni)),
        Cell::muted(format!("{}{drill}", plural(t.vnets.end.saturating_sub(t.vnets.start) as usize, "VNet"))),
    ]
}
