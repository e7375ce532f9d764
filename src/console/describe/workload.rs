//! Workloads.

use jiff::Timestamp;
use serde_json::json;

use super::Sheet;
use crate::console::widgets::format;
use crate::inventory::{Inventory, Mark, Origin, Seen, Workload};

pub(super) fn workload(inv: &Inventory, w: &Workload, now: Timestamp) -> Sheet {
    let mut sheet = Sheet::new("workload", &format!("{}/{}", w.tenant, w.name));
    sheet.state("state", "state", &w.status, w.class);
    sheet.fact("vmid", "VMID", w.vmid).fact("tenant", "tenant", &*w.tenant);
    sheet.maybe("vm_name", "VM name", w.vm_name.as_deref());
    sheet.fact("node", "node", inv.site.short_name(&w.node));
    match &w.origin {
        Origin::Ours => sheet.fact("origin", "origin", "made by this platform"),
        Origin::Foreign(how) => sheet.fact("origin", "origin", format!("not made by this platform: {how}")),
    };
    sheet.maybe("ordinal", "ordinal", w.ordinal);
    sheet.maybe("lock", "lock", w.lock.as_deref());
    sheet.head("Derived");
    sheet.maybe("derived_address", "address", w.derived_address);
    sheet.head("Configured");
    sheet.text("address", "address", &w.address).text("mac", "MAC", &w.mac).text("bridge", "bridge", &w.bridge);
    sheet.text("nameserver", "resolver", &w.nameserver).text("uuid", "UUID", &w.uuid);
    sheet.seen("agent", "guest agent", &w.agent, |on| (if *on { "on" } else { "off" }.to_owned(), json!(on)));
    sheet.seen("pending", "at a cold start", &w.pending, |all| {
        (if all.is_empty() { "–".to_owned() } else { all.join(", ") }, json!(all))
    });
    sheet.seen("checkin", "check-in", &w.checkin, |m| (m.word.to_string(), json!(m.word)));
    sheet.head("Names at the authority");
    name(&mut sheet, "name_a", "A", &w.names.a);
    name(&mut sheet, "name_ptr", "PTR", &w.names.ptr);
    sheet.head("Use, when last read");
    sheet.row("CPU", &cpu(w), None).row("memory", &of(w.mem, w.maxmem), None);
    sheet.row("disk", &w.maxdisk.map_or_else(|| "–".to_owned(), format::size), None);
    let started = w.started_at.map_or_else(|| "–".to_owned(), |at| format::moment(at, now));
    sheet.row("started", &started, None);
    let use_ = json!({ "cpu": w.cpu, "cpus": w.cpus, "mem": w.mem, "maxmem": w.maxmem, "maxdisk": w.maxdisk,
                       "started_at": w.started_at });
    sheet.data("use", use_);
    sheet.diffs(&w.diffs);
    sheet
}

fn name(sheet: &mut Sheet, key: &str, label: &str, mark: &Seen<Mark>) {
    match mark {
        Ok(mark) => {
            sheet.state(key, label, &mark.word, mark.class);
        }
        Err(gap) => sheet.gap(key, label, gap),
    }
}

fn cpu(w: &Workload) -> String {
    let cores = w.cpus.map_or_else(|| "? cores".to_owned(), |n| format::plural(n as usize, "core"));
    format!("{} of {cores}", w.cpu.map_or_else(|| "–".to_owned(), format::percent))
}

fn of(part: Option<u64>, all: Option<u64>) -> String {
    let size = |v: Option<u64>| v.map_or_else(|| "–".to_owned(), format::size);
    format!("{} of {}", size(part), size(all))
}
