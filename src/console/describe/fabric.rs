//! What no tenant owns: members, foreign zones, pending edits, sources, tasks, findings.

use jiff::Timestamp;
use serde_json::json;

use super::Sheet;
use crate::backends::proxmox::model::{Change, Task};
use crate::console::nav;
use crate::console::widgets::format;
use crate::inventory::{Attention, Class, ForeignZone, Inventory, Member, PendingEdit, SourceId, SourceStatus};

pub(super) const fn change(change: Change) -> &'static str {
    match change {
        Change::None => "as applied",
        Change::New => "new, not applied",
        Change::Changed => "changed, not applied",
        Change::Deleted => "deleted, not applied",
    }
}

fn yes(on: &bool) -> (String, serde_json::Value) {
    (if *on { "yes" } else { "no" }.to_owned(), json!(on))
}

pub(super) fn member(inv: &Inventory, m: &Member) -> Sheet {
    let mut sheet = Sheet::new("node", inv.site.short_name(&m.node));
    sheet.state("state", "state", &m.word, m.class);
    sheet.fact("node", "node", &*m.node).fact("exit_node", "exit node", m.exit_node);
    sheet.seen("in_fabric", "in the fabric", &m.in_fabric, yes).seen("online", "online", &m.online, yes);
    sheet.maybe("management", "management", m.management.as_deref()).maybe("vtep", "VTEP", m.vtep.as_deref());
    sheet.row("underlay", &m.underlay.join(", "), None).data("underlay", json!(m.underlay));
    sheet.head("SDN");
    sheet.seen("zones", "zones realised", &m.zones, |(have, want)| {
        (format!("{have} of {want}"), json!({ "realised": have, "expected": want }))
    });
    sheet.seen("sdn_version", "SDN version", &m.sdn_version, |v| (v.to_string(), json!(v)));
    sheet.seen("staged", "staged changes", &m.staged, yes);
    sheet.head("Versions");
    sheet.seen("pve", "Proxmox VE", &m.pve, |v| (v.clone(), json!(v)));
    sheet.seen("frr", "FRR", &m.frr, |v| (v.clone(), json!(v)));
    sheet.head("Use, when last read");
    sheet.row("CPU", &m.cpu.map_or_else(|| "–".to_owned(), format::percent), None).data("cpu", json!(m.cpu));
    let mem =
        m.mem.map_or_else(|| "–".to_owned(), |(used, all)| format!("{} of {}", format::size(used), format::size(all)));
    sheet.row("memory", &mem, None).data("mem", json!(m.mem));
    sheet
}

pub(super) fn zone(z: &ForeignZone) -> Sheet {
    let mut sheet = Sheet::new("zone", &z.zone);
    sheet.fact("type", "kind", z.kind.as_str()).maybe("vrf_vni", "VRF VNI", z.vrf_vni);
    sheet.fact("change", "state", change(z.change)).fact("why", "no tenant because", z.why.as_str());
    sheet
}

pub(super) fn pending(p: &PendingEdit) -> Sheet {
    let mut sheet = Sheet::new("pending edit", &format!("{} {}", p.kind, p.id));
    sheet.state("state", "state", change(p.change), Class::Pending);
    sheet.maybe("tenant", "tenant", p.tenant.as_deref()).fact("what", "what changes", p.what.as_str());
    sheet.maybe("by", "by", p.by.as_deref());
    sheet.say("Proxmox records no author: a name with ? is taken from the task log near that time.");
    sheet.say("An SDN apply takes every pending edit, whoever made it.");
    sheet
}

pub(super) fn source(inv: &Inventory, id: SourceId, now: Timestamp) -> Sheet {
    let health = inv.sources.get(id);
    let mut sheet = Sheet::new("source", id.label());
    let status = health.status(now);
    let (class, word) = match status {
        SourceStatus::Off => (Class::Absent, "off: not set up for this site, which is not a fault"),
        SourceStatus::Loading => (Class::Progress, "first answer awaited"),
        SourceStatus::Fresh => (Class::Fine, "fresh"),
        SourceStatus::Stale => (Class::Warning, "stale: the last good data is shown"),
        SourceStatus::Denied => (Class::Unknown, "denied"),
        SourceStatus::Failed => (Class::Fault, "no answer yet"),
        SourceStatus::Unusable => (Class::Fault, "cannot be asked"),
    };
    sheet.state("state", "state", word, class).fact("what", "what", id.words());
    let moment = |at: Option<Timestamp>| at.map(|at| format::moment(at, now));
    sheet.maybe("observed", "read at", moment(health.observed_at));
    sheet.maybe("next_try", "next try", moment(health.next_try));
    sheet.row("read every", &format!("{}s", health.interval.as_secs()), None);
    sheet.row("given up after", &format!("{}s", health.deadline.as_secs()), None);
    sheet.data("observed_at", json!(health.observed_at)).data("next_try_at", json!(health.next_try));
    if let Some(error) = &health.error {
        sheet.head("Error");
        sheet.state("error", "error", &error.text, class);
        sheet.row("since", &format::moment(error.since, now), None);
        if let Some(help) = &error.help {
            sheet.say(help);
        }
    }
    if !health.gaps.is_empty() {
        sheet.head("Not read, although it answered");
        for gap in &health.gaps {
            sheet.row(gap.word(), &gap.why, Some(Class::Unknown));
        }
    }
    let gaps = health.gaps.iter().map(|g| json!({ "kind": g.kind, "why": &*g.why }));
    sheet.data("gaps", gaps.collect());
    sheet
}

pub(super) fn task(inv: &Inventory, t: &Task, now: Timestamp) -> Sheet {
    let mut sheet = Sheet::new("task", &t.kind);
    let (class, word) = match t.status.as_deref() {
        None => (Class::Progress, "running"),
        Some("OK") => (Class::Fine, "OK"),
        Some(other) if other.starts_with("WARNINGS") => (Class::Warning, other),
        Some(other) => (Class::Fault, other),
    };
    sheet.state("state", "state", word, class).fact("node", "node", inv.site.short_name(&t.node));
    sheet.fact("object", "object", t.id.as_str()).fact("user", "user", t.user.as_str());
    let moment = |at: Option<Timestamp>| at.map(|at| format::moment(at, now));
    sheet.maybe("started", "started", moment(t.started)).maybe("ended", "ended", moment(t.ended));
    sheet.fact("upid", "UPID", t.upid.as_str());
    sheet
}

pub(super) fn attention(inv: &Inventory, a: &Attention, now: Timestamp) -> Sheet {
    let mut sheet = Sheet::new(a.kind, &a.place);
    sheet.state("what", "what", &a.what, a.class);
    sheet.maybe("since", "since", a.since.map(|at| format::moment(at, now)));
    sheet.row("affects", &if a.affects.is_empty() { "–".to_owned() } else { a.affects.join(", ") }, None);
    sheet.data("affects", json!(a.affects.iter().map(|t| &**t).collect::<Vec<_>>()));
    sheet.fact("target", "dealt with at", nav::name_of(inv, &a.target));
    sheet
}
