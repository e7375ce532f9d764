//! Workloads: the VMs of the tenants.

use std::cmp::Ordering;

use super::super::list::{Align, Cell, Column, Cx, ListDef, ListId, SortKey};
use super::{big, by_class, diff_lines, fixed, gap_line, maybe, none, number, or_none, seen, word, words};
use crate::console::widgets::format;
use crate::inventory::{Class, GapKind, Inventory, Mark, ObjectId, Origin, Seen, SourceId, Workload};

/// Definition.
pub static DEF: ListDef = ListDef {
    id: ListId::Workloads,
    title: "Workloads",
    word: "workloads",
    sources: &[SourceId::Pve],
    columns: &COLUMNS,
    sort: "vmid",
    len: |inv| inv.workloads.len(),
    id_of: |inv, i| inv.workloads.get(i).map(|w| ObjectId::Workload(w.vmid)),
    tenant_of: |inv, i| inv.workloads.get(i).map(|w| &*w.tenant),
    cell,
    sort_key,
    gap: |inv| inv.workloads_gap.as_ref(),
    detail,
    empty: "No workloads yet.",
};

const COLUMNS: [Column; 13] = [
    words("tenant", "TENANT", 8, 12, 90),
    words("name", "NAME", 8, 24, 255),
    fixed("vmid", "VMID", 4, Align::Right, 200),
    words("node", "NODE", 4, 16, 40),
    fixed("state", "STATE", 9, Align::Left, 255),
    fixed("address", "ADDRESS", 12, Align::Left, 255),
    fixed("a", "A", 1, Align::Left, 60),
    fixed("ptr", "PTR", 3, Align::Left, 45),
    words("origin", "ORIGIN", 9, 40, 50),
    words("checkin", "CHECK-IN", 16, 22, 120),
    fixed("cpu", "CPU", 4, Align::Right, 30),
    fixed("mem", "MEM", 5, Align::Right, 20),
    fixed("up", "UP", 3, Align::Right, 10),
];

/// What Proxmox locks a VM for (facts/proxmox.md §10); other words are data and no state.
const LOCKS: [&str; 9] =
    ["backup", "clone", "create", "migrate", "rollback", "snapshot", "snapshot-delete", "suspending", "suspended"];

fn cell(cx: Cx<'_>, i: usize, key: &'static str) -> Cell {
    let Some(w) = cx.inv.workloads.get(i) else { return Cell::text("") };
    match key {
        "tenant" => Cell::text(&*w.tenant),
        "name" => Cell::text(&*w.name),
        "vmid" => Cell::text(w.vmid.to_string()),
        "node" => Cell::text(cx.inv.site.short_name(&w.node)),
        "state" => Cell::state(w.class, state(w)),
        "address" => address(w),
        "a" => mark(&w.names.a),
        "ptr" => mark(&w.names.ptr),
        "origin" => match &w.origin {
            Origin::Ours if w.diffs.is_empty() => Cell::state(Class::Fine, "derived"),
            Origin::Ours => Cell::state(Class::Differs, "differs"),
            Origin::Foreign(how) => Cell::state(Class::Info, how.clone()),
        },
        "checkin" => seen(&w.checkin, |m| Cell::state(m.class, &*m.word)),
        "cpu" => or_none(w.cpu.map(format::percent)),
        "mem" => or_none(w.mem.map(format::size)),
        "up" => or_none(up(cx.inv, w).map(format::duration)),
        _ => Cell::text(""),
    }
}

/// What Proxmox is doing with the VM, while it holds a lock on it; else its status.
fn state(w: &Workload) -> String {
    match w.lock.as_deref() {
        Some(lock) if LOCKS.contains(&lock) => lock.to_owned(),
        Some(_) => "locked".to_owned(),
        None => w.status.to_string(),
    }
}

/// Says of a lock what it means. A VM that migrates is its source's until the task has ended.
fn lock(cx: Cx<'_>, w: &Workload) -> Option<Cell> {
    let words = match w.lock.as_deref()? {
        "migrate" => {
            format!(
                "migrating from {}; it appears on the target when its task has ended",
                cx.inv.site.short_name(&w.node)
            )
        }
        other => format!("locked: {other}"),
    };
    Some(Cell::state(w.class, words))
}

/// The configured address without its prefix length; the derived one, marked, while nothing was read.
fn address(w: &Workload) -> Cell {
    match (&w.address, w.derived_address) {
        (Ok(Some(text)), derived) => {
            let bare = text.split('/').next().unwrap_or(text);
            match derived {
                Some(d) if d.to_string() != bare => Cell::state(Class::Differs, bare),
                _ => Cell::text(bare),
            }
        }
        (Ok(None), _) => none(),
        (Err(_), Some(derived)) => Cell::state(Class::Unknown, derived.to_string()),
        (Err(gap), None) => Cell::gap(gap),
    }
}

/// A glyph under its head; its word is among the details.
fn mark(mark: &Seen<Mark>) -> Cell {
    match mark {
        Ok(mark) => Cell::state(mark.class, ""),
        Err(gap) if gap.kind == GapKind::Off => none(),
        Err(_) => Cell::state(Class::Unknown, ""),
    }
}

fn mark_key(mark: &Seen<Mark>) -> SortKey {
    by_class(mark.as_ref().map_or(Class::Unknown, |mark| mark.class))
}

/// Its names in words.
fn names(w: &Workload) -> Vec<Cell> {
    let word = |mark: &Seen<Mark>| match mark {
        Ok(mark) => Cell::state(mark.class, &*mark.word),
        Err(gap) => Cell::gap(gap),
    };
    vec![Cell::muted("A "), word(&w.names.a), Cell::muted("PTR"), word(&w.names.ptr)]
}

/// Uptime at the time of the reading: rows do not count up between readings.
fn up(inv: &Inventory, w: &Workload) -> Option<jiff::SignedDuration> {
    let read = inv.sources.get(SourceId::Pve).observed_at?;
    Some(read.duration_since(w.started_at?))
}

fn sort_key(inv: &Inventory, i: usize, key: &'static str) -> SortKey {
    let Some(w) = inv.workloads.get(i) else { return SortKey::None };
    match key {
        "tenant" => word(&w.tenant),
        "name" => word(&w.name),
        "vmid" => number(w.vmid),
        "node" => word(&w.node),
        "state" => word(&state(w)),
        "address" => maybe(w.derived_address, |a| number(u32::from(a))),
        "a" => mark_key(&w.names.a),
        "ptr" => mark_key(&w.names.ptr),
        "origin" => match (&w.origin, w.diffs.len().cmp(&0)) {
            (Origin::Foreign(_), _) => by_class(Class::Info),
            (Origin::Ours, Ordering::Greater) => by_class(Class::Differs),
            (Origin::Ours, _) => by_class(Class::Fine),
        },
        "checkin" => maybe(w.checkin.as_ref().ok(), |m| by_class(m.class)),
        "cpu" => maybe(w.cpu, SortKey::Num),
        "mem" => maybe(w.mem, big),
        "up" => maybe(up(inv, w), |d| SortKey::Num(d.as_secs_f64())),
        _ => SortKey::None,
    }
}

fn detail(cx: Cx<'_>, i: usize) -> Vec<Vec<Cell>> {
    let Some(w) = cx.inv.workloads.get(i) else { return Vec::new() };
    let mut lines = vec![identity(cx, w), network(cx, w), names(w), resources(cx, w)];
    lines.extend(checkin(cx, w));
    if let Err(gap) = &w.address {
        lines.insert(0, gap_line(gap));
    }
    if let Origin::Foreign(how) = &w.origin {
        lines.insert(0, vec![Cell::state(Class::Info, format!("not made by this platform: {how}"))]);
    }
    let at = 1.min(lines.len());
    lines.splice(at..at, diff_lines(&w.diffs));
    lines
}

fn identity(cx: Cx<'_>, w: &Workload) -> Vec<Cell> {
    let name = w.vm_name.as_deref().unwrap_or("without a name");
    vec![
        Cell::text(format!("VM {name} on {}", cx.inv.site.short_name(&w.node))),
        labelled("bridge", &w.bridge),
        labelled("MAC", &w.mac),
        labelled("UUID", &w.uuid),
    ]
}

/// The check-in with its token, where there is something to be said of it.
fn checkin(cx: Cx<'_>, w: &Workload) -> Option<Vec<Cell>> {
    let row = cx.inv.checkins.iter().find(|c| c.vmid == Some(w.vmid)).filter(|_| w.checkin.is_ok())?;
    let state = Cell::state(row.class, format!("check-in {}", row.word));
    let mut line = vec![state, Cell::text(format!("token {}", row.token))];
    line.extend((!row.next.is_empty()).then(|| Cell::text(format!("next: {}", row.next))));
    (row.class > Class::NotRun).then_some(line)
}

fn labelled(label: &str, value: &crate::inventory::Seen<Option<std::sync::Arc<str>>>) -> Cell {
    match value {
        Ok(Some(v)) => Cell::text(format!("{label} {v}")),
        Ok(None) => Cell::muted(format!("no {label}")),
        Err(gap) => Cell::muted(format!("{label} ? {}", gap.word())),
    }
}

fn network(cx: Cx<'_>, w: &Workload) -> Vec<Cell> {
    let pending = match &w.pending {
        Ok(all) if all.is_empty() => Cell::muted("no pending VM settings"),
        Ok(all) => Cell::state(Class::Pending, format!("after a cold start: {}", all.join(", "))),
        Err(gap) => Cell::muted(format!("pending settings ? {}", gap.word())),
    };
    let agent = match &w.agent {
        Ok(true) => Cell::text("guest agent on"),
        Ok(false) => Cell::muted("guest agent off"),
        Err(gap) => Cell::muted(format!("guest agent ? {}", gap.word())),
    };
    let mut line = vec![labelled("resolver", &w.nameserver), pending, agent];
    let known = w.lock.as_deref().is_some_and(|lock| LOCKS.contains(&lock));
    // What takes a moment comes first; a word of unknown length last.
    let at = if known { 0 } else { line.len() };
    line.splice(at..at, lock(cx, w));
    line
}

fn resources(cx: Cx<'_>, w: &Workload) -> Vec<Cell> {
    let cores = w.cpus.map_or_else(|| "? cores".into(), |n| format::plural(n as usize, "core"));
    let cpu = w.cpu.map_or_else(|| "–".into(), format::percent);
    let size = |v: Option<u64>| v.map_or_else(|| "–".into(), format::size);
    let started = w.started_at.map(|at| Cell::muted(format!("started {}", format::moment(at, cx.now))));
    let mut line = vec![
        Cell::text(format!("CPU {cpu} of {cores}")),
        Cell::text(format!("MEM {} of {}", size(w.mem), size(w.maxmem))),
        Cell::text(format!("disk {}", size(w.maxdisk))),
    ];
    line.extend(started);
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_leave_in_the_documented_order() {
        let mut leaving: Vec<_> = COLUMNS.iter().filter(|c| c.keep < 255).collect();
        leaving.sort_by_key(|c| c.keep);
        let keys: Vec<_> = leaving.iter().map(|c| c.key).collect();
        assert_eq!(keys.get(..5), Some(["up", "mem", "cpu", "node", "ptr"].as_slice()));
        for key in ["name", "state", "address"] {
            assert!(COLUMNS.iter().any(|c| c.key == key && c.keep == 255), "{key} must never leave");
        }
    }
}
