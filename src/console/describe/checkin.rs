//! Check-ins.

use jiff::Timestamp;
use serde_json::json;

use super::Sheet;
use crate::console::lists;
use crate::console::widgets::format;
use crate::inventory::{CheckInRow, Inventory};

pub(super) fn checkin(inv: &Inventory, c: &CheckInRow, now: Timestamp) -> Sheet {
    let mut sheet = Sheet::new("check-in", &format!("{}/{}", c.tenant, c.workload));
    sheet.state("state", "state", &c.word, c.class).data("state_id", json!(c.state));
    sheet.say(&lists::meaning(c));
    sheet.maybe("since", "since", c.since.map(|at| format::moment(at, now)));
    sheet.maybe("next", "next", (!c.next.is_empty()).then_some(&*c.next));
    sheet.maybe("not_tested", "not tested", lists::not_tested(c));
    sheet.head("Generation");
    sheet.maybe("declared", "declared", c.declared).maybe("applied", "applied", c.applied);
    sheet.head("Token");
    sheet.maybe("kid", "key id", c.kid.as_deref()).fact("token", "state", &*c.token);
    sheet.maybe("token_expires", "ends", c.token_expires.map(|at| format::moment(at, now)));
    sheet.head("Machine");
    sheet.maybe("vmid", "VMID", c.vmid).maybe("instance", "token's UUID", c.instance.as_deref());
    if let Some(vm) = inv.workloads.iter().find(|w| Some(w.vmid) == c.vmid) {
        sheet.text("uuid", "VM's UUID", &vm.uuid);
    }
    if let Some(last) = &c.last_report {
        sheet.head("Last report");
        sheet.row("at", &format::stamp(last.at, now), None).row("phase", &last.phase, None);
        sheet.row("status", last.error.as_deref().unwrap_or("ok"), None);
        sheet.row("detail", if last.detail.is_empty() { "–" } else { &last.detail }, None);
        let from = last.from.as_deref().map_or_else(|| "–".to_owned(), |f| format!("{f}, the exit node: no identity"));
        sheet.row("from", &from, None);
        let value = json!({ "at": last.at.to_string(), "phase": last.phase, "code": last.error, "detail": last.detail,
                            "from": last.from });
        sheet.data("last_report", value);
    }
    sheet.head("Story");
    for event in &c.events {
        let text = format!("{}: {}", event.what, event.text);
        sheet.row(&format::stamp(event.at, now), &text, Some(event.class));
    }
    let events = c.events.iter();
    let events = events.map(|e| json!({ "at": e.at.to_string(), "what": e.what, "state": e.class, "text": e.text }));
    sheet.data("events", events.collect());
    sheet
}
