//! What needs a human now: one row a cause, worst first, then widest.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::entities::{Attention, Inventory, ObjectId, Origin};
use super::super::source::GapKind;
use super::super::{Class, Readings, SourceId, Vrf};
use crate::backends::proxmox::model::LockState;

/// Builds the rows from the joined picture.
///
/// A source whose last try failed is one row; nothing is concluded from what it said before.
pub(super) fn rows(inv: &Inventory, readings: &Readings) -> Vec<Attention> {
    let mut out = Vec::new();
    sources(inv, &mut out);
    vrfs(inv, readings, &mut out);
    if inv.sources.get(SourceId::Pve).error.is_none() {
        cluster(inv, &mut out);
        fabric(inv, &mut out);
        workloads(inv, &mut out);
        pending(inv, &mut out);
    }
    out.sort_by(|a, b| {
        (b.class, b.affects.len(), &a.place, &a.what).cmp(&(a.class, a.affects.len(), &b.place, &b.what))
    });
    out
}

fn row(
    class: Class,
    kind: &'static str,
    place: impl Into<String>,
    what: impl Into<String>,
    target: ObjectId,
) -> Attention {
    Attention { class, kind, place: place.into(), what: what.into(), affects: Vec::new(), since: None, target }
}

fn sources(inv: &Inventory, out: &mut Vec<Attention>) {
    for (id, health) in inv.sources.iter() {
        if let Some(e) = &health.error {
            let mut r = row(Class::Unknown, "source", id.label(), e.text.to_string(), ObjectId::Source(id));
            r.since = Some(e.since);
            out.push(r);
        } else if let Some(gap) = health.gaps.iter().find(|g| g.kind == GapKind::Denied) {
            out.push(row(Class::Unknown, "source", id.label(), gap.why.to_string(), ObjectId::Source(id)));
        }
    }
}

fn cluster(inv: &Inventory, out: &mut Vec<Attention>) {
    if let Ok(Some(false)) = inv.fabric.quorate {
        let what = "the cluster has no quorum: nothing can be created or started";
        out.push(row(Class::Fault, "fault", "cluster", what, ObjectId::Source(SourceId::Pve)));
    }
    for m in &inv.fabric.members {
        if m.class >= Class::Warning {
            let place = inv.site.short_name(&m.node).to_owned();
            let kind = if m.class == Class::Fault { "fault" } else { "warning" };
            out.push(row(m.class, kind, place, format!("node {}", m.word), ObjectId::Node(Arc::clone(&m.node))));
        }
        if m.staged == Ok(true) {
            let place = inv.site.short_name(&m.node).to_owned();
            let what = "staged interface changes ride along with the next SDN apply";
            out.push(row(Class::Warning, "warning", place, what, ObjectId::Node(Arc::clone(&m.node))));
        }
    }
    if let LockState::Held { seen_at } = inv.fabric.lock {
        let mut r =
            row(Class::Warning, "warning", "SDN", "the SDN lock is held by somebody", ObjectId::Source(SourceId::Pve));
        r.since = Some(seen_at);
        out.push(r);
    }
}

/// Facts that are the node's, not the tenant's: the same text at every tenant.
fn is_node_wide(label: &str, word: &str) -> bool {
    matches!((label, word), ("forwarding", "off" | "no interface") | ("FRR", "down"))
}

fn sentence(label: &str, value: &str, word: &str) -> String {
    match (label, word) {
        ("forwarding", "off") => format!("does not forward: {value}; replies to tenants are dropped"),
        ("FRR", "down") => format!("FRR is down ({value}): defaults and null routes are lost or stale"),
        ("SNAT", "absent") => format!("no SNAT rule: {value}"),
        ("default", "absent") => format!("no default route: {value}"),
        ("null routes", "open") => format!("tenants are not separated: {value}"),
        (_, _) => format!("{label} {word}: {value}"),
    }
}

/// One row for a fact that several tenants of a node share, one each for the rest.
fn vrfs(inv: &Inventory, readings: &Readings, out: &mut Vec<Attention>) {
    type Cause = (Arc<str>, &'static str, String);
    let mut shared: BTreeMap<Cause, (Class, String, Vec<Arc<str>>)> = BTreeMap::new();
    for v in inv.vrfs.iter().filter(|v| !readings.stale_exits.contains_key(&*v.node)) {
        for f in v.facts.iter().filter(|f| f.class >= Class::Differs) {
            let key = if is_node_wide(f.label, &f.word) {
                (Arc::clone(&v.node), f.label, String::new())
            } else {
                (Arc::clone(&v.node), f.label, v.tenant.to_string())
            };
            let entry =
                shared.entry(key).or_insert_with(|| (f.class, sentence(f.label, &f.value, &f.word), Vec::new()));
            entry.2.push(Arc::clone(&v.tenant));
        }
    }
    for ((node, label, tenant), (class, what, affects)) in shared {
        let short = inv.site.short_name(&node);
        let (place, target) = match affects.first() {
            Some(name) if !tenant.is_empty() => {
                let place = if several_exits(&inv.vrfs) { format!("{tenant} on {short}") } else { tenant };
                (place, ObjectId::VrfFact(Arc::clone(name), node, label))
            }
            _ => (short.to_owned(), ObjectId::Node(node)),
        };
        let kind = match class {
            Class::Fault => "fault",
            Class::Warning => "warning",
            _ => "differs",
        };
        let mut r = row(class, kind, place, what, target);
        r.affects = affects;
        out.push(r);
    }
}

fn several_exits(vrfs: &[Vrf]) -> bool {
    vrfs.first().is_some_and(|first| vrfs.iter().any(|v| v.node != first.node))
}

fn fabric(inv: &Inventory, out: &mut Vec<Attention>) {
    for t in &inv.tenants {
        let layer = &t.layers.fabric;
        if layer.class < Class::Differs {
            continue;
        }
        let what = layer.diffs.first().map_or_else(
            || layer.words.clone(),
            |d| format!("{}: {} is {}, derived {}", d.object, d.field, d.observed, d.expected),
        );
        let kind = if layer.class == Class::Fault { "fault" } else { "differs" };
        let mut r = row(layer.class, kind, &*t.name, what, ObjectId::Tenant(Arc::clone(&t.name)));
        r.affects = vec![Arc::clone(&t.name)];
        out.push(r);
    }
}

fn workloads(inv: &Inventory, out: &mut Vec<Attention>) {
    for w in &inv.workloads {
        let place = format!("{}/{}", w.tenant, w.name);
        let target = ObjectId::Workload(w.vmid);
        if let Origin::Foreign(how) = &w.origin {
            out.push(row(Class::Differs, "foreign", place.clone(), how.clone(), target.clone()));
        }
        if let Some(d) = w.diffs.first() {
            let what = format!("{} is {}, derived {}", d.field, d.observed, d.expected);
            let mut r = row(Class::Differs, "differs", place.clone(), what, target.clone());
            r.affects = vec![Arc::clone(&w.tenant)];
            out.push(r);
        }
        if w.class == Class::Absent && matches!(w.origin, Origin::Ours) {
            out.push(row(Class::Warning, "warning", place, format!("VM {} is stopped", w.vmid), target));
        }
    }
}

/// Pending edits, one row a tenant or foreign zone.
fn pending(inv: &Inventory, out: &mut Vec<Attention>) {
    let Ok(edits) = &inv.fabric.pending else { return };
    let mut groups: BTreeMap<String, Vec<&super::super::entities::PendingEdit>> = BTreeMap::new();
    for e in edits {
        groups.entry(e.tenant.as_ref().map_or_else(|| "SDN".to_owned(), ToString::to_string)).or_default().push(e);
    }
    for (place, group) in groups {
        let Some(first) = group.first() else { continue };
        let more = if group.len() > 1 { format!(" and {} more", group.len() - 1) } else { String::new() };
        let what = format!("{} {}{more}, not applied", first.kind, first.id);
        out.push(row(Class::Pending, "pending", place, what, ObjectId::Pending(first.kind, Arc::clone(&first.id))));
    }
}
