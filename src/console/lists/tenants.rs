//! Tenants: rail, and screen of its own below 100 columns.

use super::super::list::{Align, Cell, Column, Cx, ListDef, ListId, SortKey};
use super::{by_class, fixed, maybe, number, word, words};
use crate::console::widgets::format::plural;
use crate::inventory::{Class, Inventory, Layer, ObjectId, SourceId, Tenant, TenantStatus};

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
        "status" => status(t.status),
        "subnet" => Cell::text(t.subnet.to_string()),
        "vms" => Cell::text(vms(cx.inv, t)),
        "worst" => worst(t).map_or_else(
            || Cell::state(Class::Fine, "fine"),
            |(name, layer)| Cell::state(layer.class, format!("{name}: {}", layer.words)),
        ),
        key => match letter(t, key) {
            Some(layer) if layer.is_off() => Cell::muted("○"),
            Some(layer) => Cell::state(layer.class, ""),
            None => Cell::text(""),
        },
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
        "worst" => by_class(worst(t).map_or(Class::Fine, |(_, layer)| layer.class)),
        key => maybe(letter(t, key), |layer| by_class(layer.class)),
    }
}

fn letter<'a>(t: &'a Tenant, key: &str) -> Option<&'a Layer> {
    let l = &t.layers;
    match key {
        "f" => Some(&l.fabric),
        "n2" => Some(&l.node),
        "d" => Some(&l.dns),
        "r" => Some(&l.resolver),
        "w" => Some(&l.workloads),
        "b" => Some(&l.bootstrap),
        _ => None,
    }
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
    format!("{}/{}", all.iter().filter(|w| w.status == "running").count(), all.len())
}

/// The worst layer, unless every layer is fine, absent without harm, or not run.
fn worst(t: &Tenant) -> Option<(&'static str, &Layer)> {
    t.layers
        .all()
        .into_iter()
        .map(|(_, name, layer)| (name, layer))
        .filter(|(_, layer)| layer.class > Class::Unknown || (layer.class == Class::Unknown && !layer.is_off()))
        .max_by_key(|(_, layer)| layer.class)
}

fn detail(cx: Cx<'_>, i: usize) -> Vec<Vec<Cell>> {
    let Some(t) = cx.inv.tenants.get(i) else { return Vec::new() };
    let layers = |range: std::ops::Range<usize>| -> Vec<Cell> {
        t.layers
            .all()
            .into_iter()
            .skip(range.start)
            .take(range.len())
            .flat_map(|(_, name, layer)| match layer.is_off() {
                true => vec![Cell::muted(format!("{name} ○ off"))],
                false => vec![Cell::muted(name), Cell::state(layer.class, layer.words.clone())],
            })
            .collect()
    };
    let mut lines = vec![layers(0..4), layers(4..6)];
    if let Some(line) = lines.get_mut(1) {
        line.extend(numbers(t));
    }
    lines.extend(t.layers.all().into_iter().flat_map(|(_, _, layer)| super::diff_lines(&layer.diffs)));
    lines
}

fn numbers(t: &Tenant) -> [Cell; 2] {
    let drill = if t.drill { ", for drills only" } else { "" };
    [
        Cell::muted(format!("VRF {}", t.vrf_vni)),
        Cell::muted(format!("{}{drill}", plural(t.vnets.end.saturating_sub(t.vnets.start) as usize, "VNet"))),
    ]
}
