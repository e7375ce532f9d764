//! DNS records: what the authority has, and what the perimeter says beside it.

use std::sync::LazyLock;

use jiff::SignedDuration;

use super::super::list::{Align, Cell, Column, Cx, ListDef, ListId, SortKey};
use super::{diff_lines, fixed, gap_line, maybe, none, number, or_none, word, words};
use crate::console::widgets::format;
use crate::inventory::{Class, Gap, GapKind, Inventory, ObjectId, RecordRow, SourceId, SourceStatus};

/// Definition.
pub static DEF: ListDef = ListDef {
    id: ListId::Records,
    title: "DNS records",
    word: "records",
    sources: &[SourceId::Dns, SourceId::Pve],
    columns: &COLUMNS,
    sort: "state",
    len: |inv| inv.records.len(),
    id_of: |inv, i| inv.records.get(i).map(|r| ObjectId::Record(r.name.clone(), r.kind.clone())),
    tenant_of: |inv, i| inv.records.get(i).and_then(|r| r.tenant.as_deref()),
    cell,
    sort_key,
    gap,
    detail,
    empty: "No records yet.",
};

const COLUMNS: [Column; 8] = [
    words("tenant", "TENANT", 8, 12, 80),
    words("name", "NAME", 8, 32, 255),
    fixed("type", "TYPE", 4, Align::Left, 145),
    words("authoritative", "AUTHORITATIVE", 12, 40, 150),
    fixed("ttl", "TTL", 3, Align::Right, 20),
    words("perimeter", "PERIMETER", 12, 40, 140),
    fixed("left", "LEFT", 4, Align::Right, 60),
    fixed("state", "STATE", 9, Align::Left, 255),
];

/// Longest text of a TXT record that is shown whole, in characters.
const TEXT: usize = 24;

static OFF: LazyLock<Gap> =
    LazyLock::new(|| Gap::new(GapKind::Off, "DNS records are not set up for this site. That is not a fault."));

fn gap(inv: &Inventory) -> Option<&Gap> {
    if inv.sources.get(SourceId::Dns).configured { inv.records_gap.as_ref() } else { Some(&OFF) }
}

/// The name as people say it: within its zone; of a pointer, the address from back to front.
fn name(r: &RecordRow) -> &str {
    r.name.strip_suffix(".in-addr.arpa").unwrap_or(&r.label)
}

/// A content as it is read: names without the site's domain, long texts by their length.
pub fn content(inv: &Inventory, kind: &str, value: &str) -> String {
    match kind {
        "PTR" | "CNAME" | "NS" => {
            let name = value.strip_suffix('.').unwrap_or(value);
            let within = name.strip_suffix(inv.site.domain.as_str()).and_then(|head| head.strip_suffix('.'));
            within.filter(|head| !head.is_empty()).unwrap_or(name).to_owned()
        }
        "TXT" if value.chars().count() > TEXT => {
            let head: String = value.chars().take(5).collect();
            format!("{head}…\" {} characters", value.chars().count().saturating_sub(2))
        }
        _ => value.to_owned(),
    }
}

/// What the authority has.
pub fn authoritative(inv: &Inventory, r: &RecordRow) -> Cell {
    if let Some(gap) = &r.gap {
        return Cell::gap(gap);
    }
    let one = |(value, disabled): &(std::sync::Arc<str>, bool)| {
        format!("{}{}", content(inv, &r.kind, value), if *disabled { " (disabled)" } else { "" })
    };
    let all: Vec<String> = r.values.iter().map(one).collect();
    if all.is_empty() { none() } else { Cell::text(all.join(", ")) }
}

/// What the perimeter says.
pub fn perimeter(inv: &Inventory, r: &RecordRow) -> Cell {
    match &r.perimeter {
        Ok(answer) if answer.code != "NOERROR" => Cell::text(answer.code.clone()),
        Ok(answer) if answer.records.is_empty() => Cell::text("no record"),
        Ok(answer) => {
            let all: Vec<String> = answer.records.iter().map(|value| content(inv, &r.kind, value)).collect();
            Cell::text(all.join(", "))
        }
        Err(_) if inv.site.resolvers.is_none() => Cell::muted("off"),
        Err(gap) if matches!(gap.kind, GapKind::Off | GapKind::NotRead) => Cell::muted("not asked"),
        Err(gap) => Cell::gap(gap),
    }
}

/// How long the perimeter keeps its answer.
pub fn left(r: &RecordRow) -> Option<String> {
    let seconds = r.perimeter.as_ref().ok()?.left?;
    Some(format::duration(SignedDuration::from_secs(i64::from(seconds))))
}

/// Class and word; nothing is concluded from what is old.
pub fn state(cx: Cx<'_>, r: &RecordRow) -> Cell {
    if cx.inv.sources.get(SourceId::Dns).status(cx.now) == SourceStatus::Stale {
        return Cell::state(Class::Unknown, "unknown");
    }
    Cell::state(r.class, &*r.word)
}

fn cell(cx: Cx<'_>, i: usize, key: &'static str) -> Cell {
    let Some(r) = cx.inv.records.get(i) else { return Cell::text("") };
    match key {
        "tenant" => or_none(r.tenant.as_deref()),
        "name" => Cell::text(name(r)),
        "type" => Cell::text(&*r.kind),
        "authoritative" => authoritative(cx.inv, r),
        "ttl" => or_none(r.ttl),
        "perimeter" => perimeter(cx.inv, r),
        "left" => or_none(left(r)),
        "state" => state(cx, r),
        _ => Cell::text(""),
    }
}

/// Disagreements first; a tenant's own records, which nobody can judge, last.
fn rank(class: Class) -> SortKey {
    if class == Class::Info { number(10) } else { super::by_class(class) }
}

fn sort_key(inv: &Inventory, i: usize, key: &'static str) -> SortKey {
    let Some(r) = inv.records.get(i) else { return SortKey::None };
    match key {
        "tenant" => maybe(r.tenant.as_deref(), word),
        "name" => word(name(r)),
        "type" => word(&r.kind),
        "authoritative" => maybe(r.values.first(), |(value, _)| word(value)),
        "ttl" => maybe(r.ttl.and_then(|ttl| i32::try_from(ttl).ok()), number),
        "perimeter" => maybe(r.perimeter.as_ref().ok(), |a| word(a.records.first().unwrap_or(&a.code))),
        "left" => maybe(r.perimeter.as_ref().ok().and_then(|a| a.left), number),
        "state" => rank(r.class),
        _ => SortKey::None,
    }
}

fn detail(cx: Cx<'_>, i: usize) -> Vec<Vec<Cell>> {
    let Some(r) = cx.inv.records.get(i) else { return Vec::new() };
    let mut lines = vec![vec![Cell::text(format!("{} {} ", r.name, r.kind)), state(cx, r)]];
    lines.extend(r.gap.as_ref().map(gap_line));
    lines.extend(diff_lines(&r.diffs));
    lines.push(authority_line(cx, r));
    lines.push(match &r.perimeter {
        Ok(answer) => vec![
            Cell::muted(format!("{} says ", answer.server.ip())),
            Cell::text(answer.code.clone()),
            Cell::text(answer.records.join(", ")),
            Cell::muted(left(r).map_or_else(|| "not kept".to_owned(), |left| format!("{left} left"))),
        ],
        Err(gap) if gap.kind == GapKind::NoAnswer => gap_line(gap),
        Err(gap) => vec![Cell::muted("perimeter: "), Cell::muted(gap.why.to_string())],
    });
    lines
}

fn authority_line(cx: Cx<'_>, r: &RecordRow) -> Vec<Cell> {
    let all: Vec<&str> = r.values.iter().map(|(value, _)| &**value).collect();
    let holder = r.workload.and_then(|vmid| cx.inv.workloads.iter().find(|w| w.vmid == vmid));
    vec![
        Cell::muted("authority has "),
        if all.is_empty() { Cell::muted("no such record") } else { Cell::text(all.join(", ")) },
        Cell::muted(r.ttl.map_or_else(|| "no TTL".to_owned(), |ttl| format!("TTL {ttl} s"))),
        holder.map_or_else(
            || Cell::muted("of no workload"),
            |w| Cell::text(format!("name of {}/{}, VM {}", w.tenant, w.name, w.vmid)),
        ),
    ]
}
