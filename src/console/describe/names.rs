//! Records and zones.

use serde_json::json;

use super::Sheet;
use crate::inventory::{Answer, Class, Inventory, RecordRow, ZoneRow};

pub(super) fn record(inv: &Inventory, r: &RecordRow) -> Sheet {
    let mut sheet = Sheet::new("record", &format!("{} {}", r.name, r.kind));
    sheet.state("state", "state", &r.word, r.class);
    sheet.maybe("tenant", "tenant", r.tenant.as_deref()).fact("zone", "zone", &*r.zone);
    if let Some(w) = r.workload.and_then(|vmid| inv.workloads.iter().find(|w| w.vmid == vmid)) {
        sheet.row("workload", &format!("{}/{}, VM {}", w.tenant, w.name, w.vmid), None);
    }
    sheet.data("vmid", json!(r.workload));
    sheet.head("Authority");
    match &r.gap {
        Some(gap) => sheet.gap("values", "contents", gap),
        None => {
            if r.values.is_empty() {
                sheet.row("contents", "no such record", None);
            }
            for (value, disabled) in &r.values {
                sheet.row("content", &format!("{value}{}", if *disabled { " (disabled)" } else { "" }), None);
            }
            let values = r.values.iter().map(|(v, disabled)| json!({ "content": v, "disabled": disabled }));
            sheet.data("values", values.collect());
            sheet.maybe("ttl", "TTL, seconds", r.ttl);
        }
    }
    sheet.head("Perimeter");
    sheet.seen("perimeter", "answer", &r.perimeter, |a| (words(a), answer(a)));
    if let Ok(a) = &r.perimeter {
        sheet.row("asked", &format!("{} at {}, {} ms", a.server, a.at.strftime("%H:%M:%SZ"), a.took.as_millis()), None);
        sheet.row("seconds left", &a.left.map_or_else(|| "–".to_owned(), |s| s.to_string()), None);
        if let Some((owner, serial)) = &a.soa {
            sheet.row("SOA seen", &format!("{owner}, serial {serial}"), None);
        }
    }
    let (servers, derived): (Vec<_>, Vec<_>) = r.diffs.iter().cloned().partition(|d| d.field == "perimeter");
    for d in &servers {
        let words = format!("the authority has {}, the perimeter says {}", d.expected, d.observed);
        sheet.row("differs", &words, Some(Class::Differs));
    }
    sheet.diffs(&derived);
    sheet
}

fn words(a: &Answer) -> String {
    if a.records.is_empty() { a.code.clone() } else { format!("{}: {}", a.code, a.records.join(", ")) }
}

fn answer(a: &Answer) -> serde_json::Value {
    json!({
        "server": a.server.to_string(),
        "at": a.at,
        "code": a.code,
        "authoritative": a.authoritative,
        "records": a.records,
        "left_s": a.left,
        "soa": a.soa.as_ref().map(|(owner, serial)| json!({ "owner": owner.as_str(), "serial": serial })),
    })
}

pub(super) fn zone(inv: &Inventory, z: &ZoneRow) -> Sheet {
    let mut sheet = Sheet::new("DNS zone", &z.zone);
    sheet.state("state", "state", &z.word, z.class);
    sheet.maybe("tenant", "tenant", z.tenant.as_deref());
    sheet.seen("exists", "exists", &z.exists, |yes| (if *yes { "yes" } else { "no" }.to_owned(), json!(yes)));
    sheet.seen("zone_kind", "kind", &z.kind, |kind| (kind.clone(), json!(kind)));
    let serial = |s: &Option<u32>| (s.map_or_else(|| "–".to_owned(), |s| s.to_string()), json!(s));
    sheet.seen("serial", "serial", &z.serial, serial);
    sheet.seen("perimeter_serial", "serial at the perimeter", &z.perimeter_serial, serial);
    let list = |all: &Vec<String>| (if all.is_empty() { "–".to_owned() } else { all.join(", ") }, json!(all));
    sheet.seen("nameservers", "NS", &z.nameservers, list);
    sheet.seen("rrsets", "RRsets", &z.rrsets, |n| (n.to_string(), json!(n)));
    sheet.head("Updates");
    sheet.seen("keys", "TSIG keys that may update", &z.keys, list);
    sheet.seen("unsigned_updates", "takes unsigned updates", &z.unsigned_updates, |yes| {
        (if *yes { "yes" } else { "no" }.to_owned(), json!(yes))
    });
    let records: Vec<&RecordRow> = inv.records.iter().filter(|r| r.zone == z.zone).collect();
    if !records.is_empty() {
        sheet.head("Records");
        for r in records.iter().take(ROWS) {
            let values: Vec<&str> = r.values.iter().map(|(value, _)| &**value).collect();
            let values = if values.is_empty() { "–".to_owned() } else { values.join(", ") };
            sheet.row(&format!("{} {}", r.label, r.kind), &format!("{values}, {}", r.word), Some(r.class));
        }
        if records.len() > ROWS {
            sheet.say(&format!("{} more: see the list of records.", records.len() - ROWS));
        }
    }
    sheet.diffs(&z.diffs);
    sheet
}

/// Records shown of a zone.
const ROWS: usize = 100;
