//! Check-ins against the workloads: states of domain.md §7.6, the letter B.
//!
//! Ages are counted on the source's own clock at its last reading, so that rows stand still while nothing happens.

mod events;
pub(crate) mod judge;
#[cfg(test)]
mod tests;
pub(crate) mod words;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::super::entities::{CheckInRow, CheckInState, LastReport, Layer, Mark, Origin, Workload};
use super::super::readings::{BootReading, PveReading};
use super::super::source::{Gap, GapKind, Seen, SourceId};
use super::super::{Class, Presence};
use super::{Cx, source_gap};
use crate::backends::bootstrap::Record;
use judge::{Case, Machine, Vm};

/// The reading with its records, or why there are none.
fn reading<'a>(cx: &Cx<'a>, what: &str) -> Seen<(&'a BootReading, &'a Arc<[Record]>)> {
    let reading = cx.readings.boot.as_deref().ok_or_else(|| unread_gap(cx, what))?;
    Ok((reading, reading.records.as_ref().map_err(Clone::clone)?))
}

/// Why nothing was read.
fn unread_gap(cx: &Cx<'_>, what: &str) -> Gap {
    let gap = source_gap(cx.readings, SourceId::Boot, what);
    match gap.kind {
        GapKind::Off => Gap::new(GapKind::Off, "Check-ins are not set up for this site. That is not a fault."),
        _ => gap,
    }
}

/// Why what the source said is old, when its last try failed.
fn stale(cx: &Cx<'_>) -> Option<Gap> {
    let e = cx.readings.sources.get(SourceId::Boot).error.as_ref()?;
    cx.readings.boot.as_ref().map(|_| Gap::new(e.kind, e.text.clone()))
}

/// Check-ins in tenant order, then by VMID; those without a VM after the others of their tenant.
pub(super) fn rows(cx: &Cx<'_>, workloads: &Seen<Vec<Workload>>) -> Seen<Vec<CheckInRow>> {
    let (reading, records) = reading(cx, "the check-ins")?;
    let vms = workloads.as_ref().map(Vec::as_slice).unwrap_or_default();
    let hidden = cx.pve.is_none_or(|p| p.guests_hidden.is_some() || p.zones_hidden.is_some() || nameless(p));
    let fresh = workloads.is_ok() && cx.pve_stale().is_none();
    let names: HashMap<(&str, &str), &Workload> = vms.iter().rev().map(|w| ((&*w.tenant, &*w.name), w)).collect();
    let vmids: HashMap<u32, &Workload> = vms.iter().map(|w| (w.vmid, w)).collect();
    let (mut told, mut unclaimed) = (HashSet::new(), HashSet::new());
    let mut rows = Vec::with_capacity(records.len().max(vms.len()));
    for record in records.iter() {
        let named = names.get(&(record.tenant.as_str(), record.workload.as_str())).copied();
        let vm = named.or_else(|| by_vmid(record, &vmids));
        told.extend(vm.map(|vm| vm.vmid));
        unclaimed.extend(vm.is_none().then_some(record.tenant.as_str()));
        let machine = Machine { vm: vm.map(Vm::from), fresh, whole: fresh && !hidden, read_at: cx.pve.map(|p| p.at) };
        rows.push(row(cx, &Case { record, machine, at: reading.service_at }));
    }
    let silent = vms.iter().filter(|w| matches!(w.origin, Origin::Ours) && !told.contains(&w.vmid));
    let hole =
        |w: &Workload| reading.holes.clone().or_else(|| unnamed(cx, w).filter(|_| unclaimed.contains(&*w.tenant)));
    rows.extend(silent.map(|w| undeclared(cx, w, hole(w))));
    if let Some(gap) = stale(cx) {
        rows.iter_mut().for_each(|row| forget(cx, row, &gap));
    }
    let place: HashMap<&str, usize> = cx.seeds.iter().enumerate().map(|(i, s)| (&*s.name, i)).collect();
    let order = |r: &CheckInRow| (place.get(&*r.tenant).copied().unwrap_or(usize::MAX), r.vmid.unwrap_or(u32::MAX));
    rows.sort_by(|a, b| (order(a), &a.tenant, &a.workload).cmp(&(order(b), &b.tenant, &b.workload)));
    Ok(rows)
}

/// Whether Proxmox names a guest by its number alone, as it does while the guest's node is out of reach: then no name is known
/// to be nobody's.
fn nameless(pve: &PveReading) -> bool {
    pve.resources.as_ref().is_ok_and(|all| all.vms.iter().any(|vm| vm.name.is_none()))
}

/// Why nobody can tell whose record a machine without a name has: while its node is out of reach, or while it is being made.
fn unnamed(cx: &Cx<'_>, w: &Workload) -> Option<Gap> {
    let none = w.vm_name.is_none();
    let node = cx.site.short_name(&w.node);
    none.then(|| match &*w.status {
        "unknown" => Gap::new(GapKind::NoAnswer, format!("its node {node} does not answer: its name is not known")),
        _ => Gap::new(GapKind::NotRead, format!("{node} tells no name of it: which record is its is not known")),
    })
}

/// The machine of a record whose name no machine bears: the same VMID of the same tenant, and the UUID of its token.
fn by_vmid<'a>(record: &Record, vmids: &HashMap<u32, &'a Workload>) -> Option<&'a Workload> {
    let vm = vmids.get(&record.vmid?).copied().filter(|w| *w.tenant == *record.tenant)?;
    let bound = record.token.as_ref()?.smbios_uuid.as_deref()?;
    let uuid = vm.uuid.as_ref().ok()?.as_deref()?;
    uuid.eq_ignore_ascii_case(bound).then_some(vm)
}

fn row(cx: &Cx<'_>, case: &Case<'_>) -> CheckInRow {
    let record = case.record;
    let state = case.state();
    let flag = case.flag(state);
    let tasks = cx.pve.and_then(|p| p.tasks.as_ref().ok()).map(Vec::as_slice).unwrap_or_default();
    let token = record.token.as_ref();
    let last = case.last_own();
    let since = match state {
        CheckInState::ReplayRefused => case.replay().map(|r| r.at),
        CheckInState::Foreign => case.foreign(),
        CheckInState::Failed => case.failed().map(|r| r.at),
        CheckInState::Expired => token.and_then(|t| t.expires_at),
        CheckInState::Delivered => token.and_then(|t| t.redeemed_at),
        CheckInState::Awaiting => token.map(|t| t.issued_at),
        CheckInState::Applied => case.applied().map(|r| r.at),
        CheckInState::Behind | CheckInState::None => None,
    };
    let uuid = token.and_then(|t| t.smbios_uuid.clone()).or_else(|| last.and_then(|r| r.smbios_uuid.clone()));
    CheckInRow {
        tenant: cx.text(&record.tenant),
        workload: cx.text(&record.workload),
        vmid: case.machine.vm.map(|vm| vm.vmid),
        state,
        class: words::class(state, flag),
        gap: (flag == Some(judge::Flag::Untold)).then(untold),
        word: cx.text(words::word(case, state, flag)),
        since,
        applied: case.applied().and_then(|r| r.generation),
        declared: record.declared.as_ref().map(|d| d.generation),
        kid: token.map(|t| cx.text(&t.kid)),
        token: token.map_or_else(|| cx.text("–"), |t| cx.text(words::token(t, case.at))),
        token_expires: token.filter(|t| t.redeemed_at.is_none()).and_then(|t| t.expires_at),
        instance: uuid.map(|uuid| cx.text(uuid)),
        last_report: last.map(|r| LastReport {
            at: r.at,
            phase: cx.text(&r.phase),
            error: (!r.ok).then(|| cx.text(if r.code.is_empty() { "error" } else { &r.code })),
            detail: cx.text(&r.detail),
            from: r.from.as_deref().map(|from| cx.text(from)),
        }),
        next: cx.text(words::next(case, state, flag)),
        events: events::of(case, tasks, cx.texts),
    }
}

/// Leaves of a row what the source said, and nothing that was concluded from it.
fn forget(cx: &Cx<'_>, row: &mut CheckInRow, gap: &Gap) {
    (row.state, row.class, row.word) = (CheckInState::None, Class::Unknown, cx.text("unknown"));
    (row.since, row.next, row.gap) = (None, cx.text(""), Some(gap.clone()));
}

fn untold() -> Gap {
    Gap::new(GapKind::Failed, "its report names neither a generation nor a digest that could be compared")
}

/// A machine of which the source says nothing: nothing is declared, unless the list has holes or a record may be its.
fn undeclared(cx: &Cx<'_>, w: &Workload, hole: Option<Gap>) -> CheckInRow {
    let (class, word) = if hole.is_some() { (Class::Unknown, "unknown") } else { (Class::Absent, "none declared") };
    CheckInRow {
        tenant: Arc::clone(&w.tenant),
        workload: Arc::clone(&w.name),
        vmid: Some(w.vmid),
        state: CheckInState::None,
        class,
        gap: hole,
        word: cx.text(word),
        since: None,
        applied: None,
        declared: None,
        kid: None,
        token: cx.text("–"),
        token_expires: None,
        instance: w.uuid.as_ref().ok().cloned().flatten(),
        last_report: None,
        next: cx.text(""),
        events: Vec::new(),
    }
}

/// Puts each workload's check-in beside it.
pub(super) fn mark(cx: &Cx<'_>, workloads: &mut Seen<Vec<Workload>>, rows: &Seen<Vec<CheckInRow>>) {
    let Ok(workloads) = workloads else { return };
    let by_vmid: HashMap<u32, &CheckInRow> = rows.iter().flatten().filter_map(|row| Some((row.vmid?, row))).collect();
    let stale = stale(cx);
    for w in workloads {
        w.checkin = match (rows, &stale, by_vmid.get(&w.vmid)) {
            (Err(gap), _, _) | (Ok(_), Some(gap), _) => Err(gap.clone()),
            (Ok(_), None, Some(row)) => Ok(short(cx, row)),
            (Ok(_), None, None) => Ok(cx.mark(Class::Absent, "none declared")),
        };
    }
}

/// A row as the workload's column has it, with the generations.
fn short(cx: &Cx<'_>, row: &CheckInRow) -> Mark {
    let generation = |g: Option<u64>| g.map_or_else(|| "?".to_owned(), |g| g.to_string());
    match row.state {
        CheckInState::Applied if row.applied.is_some() => {
            cx.mark(row.class, format!("{} g{}", row.word, generation(row.applied)))
        }
        CheckInState::Behind => {
            let (has, wants) = (generation(row.applied), generation(row.declared));
            cx.mark(row.class, format!("{} g{has} of g{wants}", row.word))
        }
        _ => Mark { class: row.class, word: Arc::clone(&row.word) },
    }
}

/// The letter B of a tenant: its worst check-in, and how many there are of those.
pub(super) fn layer(cx: &Cx<'_>, own: &[CheckInRow], gap: Option<&Gap>) -> Layer {
    if let Some(gap) = gap.cloned().or_else(|| stale(cx)) {
        return Layer::unknown(gap);
    }
    let declared = || own.iter().filter(|r| r.class != Class::Absent);
    let Some(worst) = declared().map(|r| (r.class, std::cmp::Reverse(r.state))).max() else {
        let words = if own.is_empty() { "none" } else { "none declared" };
        return Layer::known(Presence::Absent, Class::Absent, words);
    };
    let (class, std::cmp::Reverse(state)) = worst;
    let alike = declared().filter(|r| r.class == class && r.state == state).count();
    let words = format!("{alike} {}", kind(state, class));
    match class {
        Class::Unknown => {
            let why = own.iter().filter(|r| r.class == class && r.state == state).find_map(|r| r.gap.clone());
            let gap = why.unwrap_or_else(|| Gap::not_read("its check-ins"));
            Layer { words, ..Layer::unknown(gap) }
        }
        Class::Fine | Class::Info => Layer::known(Presence::Present, class, words),
        Class::Progress | Class::Pending => Layer::known(Presence::Pending, class, words),
        _ => Layer::known(Presence::Differs, class, words),
    }
}

/// One word for the rows that are alike.
const fn kind(state: CheckInState, class: Class) -> &'static str {
    match (state, class) {
        (CheckInState::ReplayRefused, _) => "refused",
        (CheckInState::Foreign, _) => "foreign",
        (CheckInState::Failed, _) => "failed",
        (CheckInState::Expired, _) => "expired",
        (CheckInState::Behind, _) => "behind",
        (CheckInState::Delivered, Class::Warning) => "stuck",
        (CheckInState::Delivered, _) => "delivered",
        (CheckInState::Awaiting, Class::Warning) => "late",
        (CheckInState::Awaiting, _) => "awaiting",
        (CheckInState::Applied, Class::Info) => "silent",
        (CheckInState::Applied, Class::Warning) => "without a VM",
        (CheckInState::Applied, _) => "applied",
        (CheckInState::None, _) => "unknown",
    }
}

/// A workload's check-in before any was joined.
pub(super) fn unread(cx: &Cx<'_>) -> Seen<Mark> {
    let gap = unread_gap(cx, "its check-in");
    Err(cx.gap(gap.kind, gap.why))
}
