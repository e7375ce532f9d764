//! VRF & egress, one row a tenant and exit node.

use super::super::list::{Align, Cell, Column, Cx, ListDef, ListId, SortKey};
use super::{big, by_class, diff_lines, fixed, gap_line, maybe, number, seen, word, words};
use crate::console::widgets::format;
use crate::inventory::{Class, Fact, Flow, GapKind, Inventory, ObjectId, SourceId, Vrf};

/// Definition.
pub static DEF: ListDef = ListDef {
    id: ListId::Vrfs,
    title: "VRF & egress",
    word: "vrfs",
    sources: &[SourceId::Exit, SourceId::Pve],
    columns: &COLUMNS,
    sort: "vni",
    len: |inv| inv.vrfs.len(),
    id_of: |inv, i| inv.vrfs.get(i).map(|v| ObjectId::Vrf(v.tenant.clone(), v.node.clone())),
    tenant_of: |inv, i| inv.vrfs.get(i).map(|v| &*v.tenant),
    cell,
    sort_key,
    gap: |inv| inv.tenants_gap.as_ref(),
    detail,
    empty: "No VRF: this site has no tenant yet.",
};

const COLUMNS: [Column; 11] = [
    words("tenant", "TENANT", 8, 12, 255),
    words("node", "NODE", 6, 16, 30),
    fixed("vrf", "VRF", 8, Align::Left, 70),
    fixed("vni", "VNI", 5, Align::Right, 90),
    fixed("link", "LINK", 4, Align::Left, 255),
    words("default", "DEFAULT", 17, 40, 80),
    fixed("rules", "RULES", 3, Align::Right, 60),
    fixed("conns", "NEW CONNS", 9, Align::Right, 50),
    fixed("rate", "NEW/S", 5, Align::Right, 55),
    fixed("bytes", "VNET B/S", 8, Align::Right, 20),
    fixed("trend", "TREND", 10, Align::Left, 10),
];

/// The fact labelled `label`, whatever the case.
pub fn fact<'a>(vrf: &'a Vrf, label: &str) -> Option<&'a Fact> {
    vrf.facts.iter().find(|f| f.label.eq_ignore_ascii_case(label))
}

fn cell(cx: Cx<'_>, i: usize, key: &'static str) -> Cell {
    let Some(v) = cx.inv.vrfs.get(i) else { return Cell::text("") };
    match key {
        "tenant" => Cell::text(&*v.tenant),
        "node" => Cell::text(cx.inv.site.short_name(&v.node)),
        "vrf" => Cell::text(v.device.clone()),
        "vni" => Cell::text(v.vni.to_string()),
        "link" => v.facts.first().map_or_else(super::none, |f| Cell::state(f.class, f.word.clone())),
        "default" => fact(v, "default").map_or_else(super::none, |f| {
            let text = if f.gap.is_some() || f.value.is_empty() { f.word.clone() } else { f.value.clone() };
            Cell::state(f.class, text)
        }),
        "rules" => seen(&v.snat, |rules| match rules.len() {
            1 => Cell::text("1"),
            0 => Cell::state(fact(v, "SNAT").map_or(Class::Absent, |f| f.class), "0"),
            n => Cell::state(Class::Warning, n.to_string()),
        }),
        "conns" => seen(&v.flow, |flow| Cell::text(format::count_narrow(flow.total))),
        "rate" => seen(&v.flow, rate_cell),
        // A rate needs two samples, like the one beside it.
        "bytes" if v.flow.is_ok() && v.vnet_bytes_s.as_ref().is_err_and(|g| g.kind == GapKind::NotRead) => {
            super::none()
        }
        "bytes" => seen(&v.vnet_bytes_s, |b| Cell::text(format::byte_rate(*b))),
        "trend" => seen(&v.flow, |flow| Cell::text(format::trend(&flow.history))),
        _ => Cell::text(""),
    }
}

fn rate_cell(flow: &Flow) -> Cell {
    match (flow.per_second, flow.reset_at) {
        (Some(rate), _) => Cell::text(format::rate(rate)),
        (None, Some(at)) => Cell::muted(format!("reset {}", format::minute(at))),
        (None, None) => super::none(),
    }
}

fn sort_key(inv: &Inventory, i: usize, key: &'static str) -> SortKey {
    let Some(v) = inv.vrfs.get(i) else { return SortKey::None };
    let flow = v.flow.as_ref().ok();
    match key {
        "tenant" => word(&v.tenant),
        "node" => word(&v.node),
        "vrf" => word(&v.device),
        "vni" => number(v.vni),
        "link" => maybe(v.facts.first(), |f| by_class(f.class)),
        "default" => maybe(fact(v, "default"), |f| by_class(f.class)),
        "rules" => maybe(v.snat.as_ref().ok(), |r| big(r.len() as u64)),
        "conns" => maybe(flow, |f| big(f.total)),
        "rate" | "trend" => maybe(flow.and_then(|f| f.per_second), SortKey::Num),
        "bytes" => maybe(v.vnet_bytes_s.as_ref().ok(), |b| SortKey::Num(*b)),
        _ => SortKey::None,
    }
}

/// The rules, then the facts in words, then what differs.
fn detail(cx: Cx<'_>, i: usize) -> Vec<Vec<Cell>> {
    let Some(v) = cx.inv.vrfs.get(i) else { return Vec::new() };
    let mut lines = translation(cx, v);
    lines.extend(
        v.facts
            .iter()
            .filter(|f| !f.label.eq_ignore_ascii_case("SNAT"))
            .map(|f| vec![label(f.label), Cell::text(f.value.clone()), Cell::state(f.class, f.word.clone())]),
    );
    lines.extend(diff_lines(&v.diffs));
    lines
}

fn label(text: &str) -> Cell {
    Cell::muted(format!("{text:<13}"))
}

/// Each translation rule with what it counted, or why the rules are not known.
fn translation(cx: Cx<'_>, v: &Vrf) -> Vec<Vec<Cell>> {
    let rules = match &v.snat {
        Ok(rules) => rules,
        Err(gap) => return vec![gap_line(gap)],
    };
    let state = fact(v, "SNAT").map_or_else(super::none, |f| Cell::state(f.class, f.word.clone()));
    if rules.is_empty() {
        return vec![vec![label("SNAT"), Cell::text("no rule"), state]];
    }
    rules
        .iter()
        .map(|rule| {
            let source = rule.source.map_or_else(|| "anything".into(), |s| s.to_string());
            let out = rule.out_interface.as_deref().unwrap_or("any interface");
            let to = rule.to_source.map_or_else(|| "the interface's own address".into(), |a| a.to_string());
            let mut line = vec![
                label("SNAT"),
                Cell::text(format!("{source} out {out} to {to}")),
                state.clone(),
                Cell::text(format!("{} new connections", format::count(rule.new_connections))),
            ];
            if let Some(since) = v.flow.as_ref().ok().and_then(|f| f.reset_at.or(f.since)) {
                line.push(Cell::muted(format!("since {}", format::moment(since, cx.now))));
            }
            line
        })
        .collect()
}
