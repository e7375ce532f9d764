//! What needs a human now: one row a cause, worst first, then widest.

mod perimeter;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::entities::{
    Attention, CheckInRow, CheckInState, Fact, Inventory, ObjectId, Origin, RecordRow, Tenant, ZoneRow,
};
use super::super::source::{Gap, GapKind};
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
        // Where zones are hidden, a VM of an index without a zone in sight is no finding.
        workloads(inv, readings.pve.as_ref().is_some_and(|p| p.zones_hidden.is_some()), &mut out);
        pending(inv, &mut out);
    }
    if inv.sources.get(SourceId::Pve).error.is_none() && inv.sources.get(SourceId::Registry).error.is_none() {
        for (tenant, what) in super::registry::disagreements(inv, readings.registry.as_deref()) {
            let mut r = row(Class::Differs, "differs", &*tenant, what, ObjectId::Tenant(Arc::clone(&tenant)));
            r.affects = vec![tenant];
            out.push(r);
        }
    }
    if inv.sources.get(SourceId::Boot).error.is_none() {
        checkins(inv, &mut out);
    }
    if inv.sources.get(SourceId::Dns).error.is_none() {
        names(inv, &mut out);
    }
    if inv.sources.get(SourceId::Fw).error.is_none() {
        perimeter::rows(inv, &mut out);
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
        if let Some(e) = health.error.as_ref().filter(|e| e.kind != GapKind::NotRead) {
            let mut r = row(Class::Unknown, "source", id.label(), e.text.to_string(), ObjectId::Source(id));
            r.since = Some(e.since);
            out.push(r);
        } else if let Some(gap) = to_tell(id, &health.gaps) {
            out.push(row(Class::Unknown, "source", id.label(), gap.why.to_string(), ObjectId::Source(id)));
        }
    }
}

/// The gap of a source that answered which somebody has to know of: what is denied comes first. Servers of names that do not
/// answer and records that make no sense leave holes; what an exit node or the perimeter could not say stands where it is
/// missing.
fn to_tell(id: SourceId, gaps: &[Gap]) -> Option<&Gap> {
    let denied = gaps.iter().find(|g| g.kind == GapKind::Denied);
    denied.or_else(|| {
        gaps.iter().find(|g| match id {
            SourceId::Dns => g.kind == GapKind::NoAnswer,
            SourceId::Boot | SourceId::Registry => g.kind == GapKind::Failed,
            SourceId::Pve | SourceId::Fw | SourceId::Exit => false,
        })
    })
}

fn cluster(inv: &Inventory, out: &mut Vec<Attention>) {
    if let Ok(Some(false)) = inv.fabric.quorate {
        let what = "the cluster has no quorum: nothing can be created or started";
        let offline = inv.fabric.members.iter().find(|m| m.online == Ok(false)).or(inv.fabric.members.first());
        let target = offline.map_or(ObjectId::Source(SourceId::Pve), |m| ObjectId::Node(Arc::clone(&m.node)));
        out.push(row(Class::Fault, "fault", "cluster", what, target));
    }
    // A zone that a node does not carry is told at its tenant.
    let told = inv.tenants.iter().any(|t| t.layers.fabric.class == Class::Fault);
    for m in &inv.fabric.members {
        if m.class == Class::Fault || m.class == Class::Warning && !told {
            let place = inv.site.short_name(&m.node).to_owned();
            let kind = if m.class == Class::Fault { "fault" } else { "warning" };
            let mut r = row(m.class, kind, place, format!("node {}", m.word), ObjectId::Node(Arc::clone(&m.node)));
            if m.exit_node && m.class == Class::Fault {
                r.affects = inv.tenants.iter().map(|t| Arc::clone(&t.name)).collect();
            }
            out.push(r);
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
    matches!(
        (label, word),
        ("forwarding", "off" | "no interface" | "table full" | "firewall drops")
            | ("FRR", "down")
            | ("default", "no gateway")
    )
}

fn sentence(label: &str, value: &str, word: &str) -> String {
    match (label, word) {
        ("forwarding", "off") => format!("does not forward: {value}; replies to tenants are dropped"),
        ("forwarding", "table full") => format!("drops new connections: {value}"),
        ("forwarding", "firewall drops") => format!("drops what it should forward: {value}"),
        ("forwarding", "no way back") => format!("replies find no way back: {value}"),
        ("FRR", "down") => format!("FRR is down ({value}): defaults and null routes are lost or stale"),
        ("SNAT", "absent") => value.replacen("no rule", "no SNAT rule", 1),
        ("default", "absent" | "no gateway") => value.to_owned(),
        ("null routes", "open") => format!("tenants are not separated: {value}"),
        (_, _) => format!("{label} {word}: {value}"),
    }
}

/// Whether a fact is the consequence of another one that has a row of its own: a cause is one row.
fn follows(inv: &Inventory, v: &Vrf, f: &Fact) -> bool {
    let word = |label: &str| v.facts.iter().find(|f| f.label == label).map_or("", |f| &f.word);
    let fabric = inv.tenant(&v.tenant).map(|t| &t.layers.fabric);
    let broken = fabric.is_some_and(|l| l.class == Class::Fault || l.diffs.iter().any(|d| d.field == "exitnodes"));
    match f.label {
        "default" | "null routes" if word("FRR") == "down" && f.word != "no gateway" => true,
        "SNAT" | "null routes" | "link" => broken,
        "forwarding" if f.word == "no way back" => broken,
        "FRR" => f.class == Class::Warning && word("default") == "absent",
        _ => false,
    }
}

/// The sentence of a fact, with what explains it where that has no row of its own.
fn told(v: &Vrf, f: &Fact) -> String {
    let frr = v.facts.iter().find(|f| f.label == "FRR" && f.class == Class::Warning);
    match (f.label, &*f.word, frr) {
        ("default", "absent", Some(frr)) => format!("{}: {}", f.value, frr.value),
        _ => sentence(f.label, &f.value, &f.word),
    }
}

/// A row about VRFs while it is put together.
struct Cause {
    class: Class,
    what: String,
    affects: Vec<Arc<str>>,
}

/// One row for a fact that is the node's or that several tenants share, one each for the rest.
fn vrfs(inv: &Inventory, readings: &Readings, out: &mut Vec<Attention>) {
    type Key = (Arc<str>, &'static str, String);
    let mut causes: BTreeMap<Key, Cause> = BTreeMap::new();
    let fresh = || inv.vrfs.iter().filter(|v| !readings.stale_exits.contains_key(&*v.node));
    let told_of = |v: &Vrf, f: &Fact| f.class >= Class::Differs && !follows(inv, v, f);
    let shared = |node: &str, word: &str| {
        let same = |v: &&Vrf| {
            *v.node == *node && v.facts.iter().any(|f| f.label == "null routes" && f.word == word && told_of(v, f))
        };
        fresh().filter(same).count() > 1
    };
    for v in fresh() {
        for f in v.facts.iter().filter(|f| told_of(v, f)) {
            let apart = f.label == "null routes" && shared(&v.node, &f.word);
            let (tenant, what) = match (apart, &*f.word) {
                (true, "open") => {
                    (String::new(), "tenants are not separated: routes lead from one to another".to_owned())
                }
                (true, word) => {
                    (String::new(), format!("null routes {word}: tenants reach each other by way of the default"))
                }
                _ if is_node_wide(f.label, &f.word) => (String::new(), sentence(f.label, &f.value, &f.word)),
                _ => (v.tenant.to_string(), told(v, f)),
            };
            let new = || Cause { class: f.class, what, affects: Vec::new() };
            let cause = causes.entry((Arc::clone(&v.node), f.label, tenant)).or_insert_with(new);
            cause.class = cause.class.max(f.class);
            cause.affects.push(Arc::clone(&v.tenant));
        }
    }
    for ((node, label, tenant), cause) in causes {
        let short = inv.site.short_name(&node);
        let (place, target) = match cause.affects.first() {
            Some(name) if !tenant.is_empty() => {
                let place = if several_exits(&inv.vrfs) { format!("{tenant} on {short}") } else { tenant };
                (place, ObjectId::VrfFact(Arc::clone(name), node, label))
            }
            _ => (short.to_owned(), ObjectId::Node(node)),
        };
        let kind = match cause.class {
            Class::Fault => "fault",
            Class::Warning => "warning",
            _ => "differs",
        };
        let mut r = row(cause.class, kind, place, cause.what, target);
        r.affects = cause.affects;
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
        let broken = inv.vnets.iter().find(|v| v.tenant.as_ref() == Some(&t.name) && v.class == Class::Fault);
        let what = match (layer.diffs.first(), broken) {
            (Some(d), _) => format!("{}: {} is {}, derived {}", d.object, d.field, d.observed, d.expected),
            (None, Some(v)) => format!("VNet {}: {}", v.vnet, v.word),
            (None, None) => format!("zone {}: {}", t.name, layer.words),
        };
        let kind = if layer.class == Class::Fault { "fault" } else { "differs" };
        let target = match (layer.diffs.first(), broken) {
            (None, Some(v)) => ObjectId::Vnet(Arc::clone(&v.vnet)),
            _ => ObjectId::Tenant(Arc::clone(&t.name)),
        };
        let mut r = row(layer.class, kind, &*t.name, what, target);
        r.affects = vec![Arc::clone(&t.name)];
        out.push(r);
    }
}

fn workloads(inv: &Inventory, zones_hidden: bool, out: &mut Vec<Attention>) {
    for w in inv.workloads.iter().filter(|w| !zones_hidden || inv.tenant(&w.tenant).is_some()) {
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
            let mut r = row(Class::Warning, "warning", place, format!("VM {} is stopped", w.vmid), target);
            r.affects = vec![Arc::clone(&w.tenant)];
            out.push(r);
        }
    }
}

/// Deliveries that need a hand: one row each, failures with the same reason together.
fn checkins(inv: &Inventory, out: &mut Vec<Attention>) {
    let mut failed: BTreeMap<String, Vec<&CheckInRow>> = BTreeMap::new();
    for c in inv.checkins.iter().filter(|c| c.class >= Class::Warning) {
        let what = match c.state {
            CheckInState::Failed => {
                failed.entry(format!("bootstrap {}: {}", c.word, c.next)).or_default().push(c);
                continue;
            }
            CheckInState::ReplayRefused => "replay refused: two holders of one token".to_owned(),
            CheckInState::Foreign => "another machine reports in its name".to_owned(),
            CheckInState::Awaiting if c.next.is_empty() => continue,
            CheckInState::Awaiting => format!("check-in {}, token {}: {}", c.word, c.token, c.next),
            _ => format!("check-in {}: {}", c.word, c.next),
        };
        out.push(checkin_row(c, what));
    }
    for (what, group) in failed {
        let Some(first) = group.first() else { continue };
        let mut r = checkin_row(first, what);
        if group.len() > 1 {
            r.place = format!("{} workloads", group.len());
            r.since = group.iter().filter_map(|c| c.since).min();
            r.affects = group.iter().map(|c| Arc::clone(&c.tenant)).collect();
            r.affects.sort();
            r.affects.dedup();
        }
        out.push(r);
    }
}

fn checkin_row(c: &CheckInRow, what: String) -> Attention {
    let kind = if c.class == Class::Fault { "fault" } else { "warning" };
    let target = ObjectId::CheckIn(Arc::clone(&c.tenant), Arc::clone(&c.workload));
    let mut r = row(c.class, kind, format!("{}/{}", c.tenant, c.workload), what, target);
    r.since = c.since;
    r.affects = vec![Arc::clone(&c.tenant)];
    r
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
        let mut r = row(Class::Pending, "pending", place, what, ObjectId::Pending(first.kind, Arc::clone(&first.id)));
        r.affects = first.tenant.iter().cloned().collect();
        out.push(r);
    }
}

/// Zones and records that are not as derived: one row a tenant and cause. What a zone lacks is told of both at once.
fn names(inv: &Inventory, out: &mut Vec<Attention>) {
    // Names follow from the index: where two tenants hold one, that is the cause.
    let alone = |t: &&Tenant| inv.tenants.iter().filter(|other| other.index == t.index).count() == 1;
    for t in inv.tenants.iter().filter(|t| t.layers.dns.class >= Class::Differs).filter(alone) {
        let mut causes: BTreeMap<&str, (Class, String, Vec<&ZoneRow>)> = BTreeMap::new();
        for zone in inv.zones_of(t).iter().filter(|z| z.class >= Class::Differs) {
            let told = zone_sentence(zone);
            causes.entry(&*zone.word).or_insert_with(|| (zone.class, told, Vec::new())).2.push(zone);
        }
        for (class, what, zones) in causes.into_values() {
            let Some(first) = zones.first() else { continue };
            let what = match zones.as_slice() {
                [_] => format!("{}: {what}", first.zone),
                _ => format!("both zones: {what}"),
            };
            out.push(of_names(t, class, what, ObjectId::DnsZone(Arc::clone(&first.zone))));
        }
        let gone = |zone: &str| inv.zones_of(t).iter().any(|z| *z.zone == *zone && z.exists == Ok(false));
        let wrong = |r: &&RecordRow| super::names::is_wrong(r) && !gone(&r.zone);
        let wrong: Vec<&RecordRow> = inv.records_of(t).iter().filter(wrong).collect();
        let Some(first) = wrong.iter().max_by_key(|r| r.class) else { continue };
        let more = if wrong.len() > 1 { format!(", and {} more records", wrong.len() - 1) } else { String::new() };
        let seen =
            first.diffs.first().map_or_else(String::new, |d| format!(" is {}, derived {}", d.observed, d.expected));
        let what = format!("{} {}{seen}{more}", first.name, first.kind);
        let target = ObjectId::Record(Arc::clone(&first.name), Arc::clone(&first.kind));
        out.push(of_names(t, first.class, what, target));
    }
}

fn of_names(t: &Tenant, class: Class, what: String, target: ObjectId) -> Attention {
    let kind = if class == Class::Fault { "fault" } else { "differs" };
    let mut r = row(class, kind, &*t.name, what, target);
    r.affects = vec![Arc::clone(&t.name)];
    r
}

fn zone_sentence(zone: &ZoneRow) -> String {
    let Some(d) = zone.diffs.first() else { return zone.word.to_string() };
    match &*zone.word {
        "zone missing" => "it does not exist".to_owned(),
        "unsigned updates" => "updates need no signature: any tenant may write".to_owned(),
        "foreign key" => format!("keys that may write are {}, derived {}", d.observed, d.expected),
        _ => format!("{} is {}, derived {}", d.field, d.observed, d.expected),
    }
}
