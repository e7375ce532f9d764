//! Perimeter rules, in the order of evaluation. They are the site's: a tenant's are those that touch its traffic.

use super::super::list::{Align, Cell, Column, Cx, ListDef, ListId, SortKey};
use super::super::theme::Role;
use super::{big, by_class, fixed, gap_line, none, number, seen, word, words};
use crate::backends::opnsense::model::{Action, Direction, RuleKind};
use crate::console::widgets::format;
use crate::inventory::{Class, GapKind, Inventory, ObjectId, RuleRow, SourceId, Touch};

/// Definition.
pub static DEF: ListDef = ListDef {
    id: ListId::Rules,
    title: "Perimeter rules",
    word: "rules",
    sources: &[SourceId::Fw],
    columns: &COLUMNS,
    sort: "place",
    len: |inv| inv.rules.len(),
    id_of: |inv, i| inv.rules.get(i).map(|r| ObjectId::Rule(r.uuid.clone())),
    tenant_of: |_, _| None,
    cell,
    sort_key,
    gap: |inv| inv.rules_gap.as_ref(),
    detail,
    empty: "No rule of the perimeter touches this.",
};

const COLUMNS: [Column; 13] = [
    fixed("place", "#", 2, Align::Right, 90),
    fixed("action", "ACT", 4, Align::Left, 80),
    words("rule", "FROM → TO", 16, 48, 255),
    words("interface", "INTERFACE", 8, 18, 250),
    fixed("proto", "PROTO", 3, Align::Left, 20),
    words("source", "SOURCE", 8, 24, 150),
    words("destination", "DESTINATION", 8, 24, 200),
    words("flow", "SOURCE → DESTINATION", 24, 40, 200),
    fixed("port", "PORT", 3, Align::Left, 140),
    fixed("service", "PORT", 3, Align::Left, 140),
    fixed("hits", "HITS", 6, Align::Right, 60),
    fixed("loaded", "LOADED", 6, Align::Left, 50),
    fixed("state", "STATE", 11, Align::Left, 255),
];

/// Columns of the board's pane, and of narrow lists, that the full list tells apart.
pub fn pane_only(key: &str) -> bool {
    matches!(key, "rule" | "service" | "flow")
}

/// Whether a column is left out: of the board's pane, of a list on a compact screen, of the full list.
pub fn left_out(key: &str, pane: bool, compact: bool) -> bool {
    match (pane, compact) {
        (true, _) => list_only(key) || key == "flow",
        (false, true) => matches!(key, "place" | "proto" | "source" | "destination" | "loaded" | "rule" | "port"),
        (false, false) => pane_only(key),
    }
}

/// Columns of the full list that the board's pane has no room for.
fn list_only(key: &str) -> bool {
    matches!(key, "place" | "action" | "interface" | "proto" | "source" | "port" | "loaded")
}

/// Whether row `i` touches `tenant`. Rules that OPNsense makes itself stand in the full list only; one of which it could
/// not be said stays in sight.
pub fn touches(inv: &Inventory, i: usize, tenant: &str) -> bool {
    let Some(r) = inv.rules.get(i) else { return false };
    r.kind != RuleKind::Automatic
        && match &r.touches {
            Ok(touch) => touch.meets(tenant),
            Err(gap) => gap.kind != GapKind::NotRead,
        }
}

/// What a rule does, in pf's word.
pub fn action(action: &Action) -> &str {
    match action {
        Action::Pass => "pass",
        Action::Block => "block",
        Action::Reject => "reject",
        Action::Unstated => "?",
        Action::Other(word) => word,
    }
}

/// Which way, in words.
pub const fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::In => "in",
        Direction::Out => "out",
        Direction::Any => "in and out",
    }
}

/// Who made it, in words.
pub const fn kind(kind: RuleKind) -> &'static str {
    match kind {
        RuleKind::Managed => "managed",
        RuleKind::Legacy => "legacy",
        RuleKind::Automatic => "automatic",
    }
}

/// Text that is muted where the rule is switched off.
fn told(r: &RuleRow, text: impl Into<String>) -> Cell {
    Cell { role: if r.enabled { Role::Text } else { Role::Muted }, ..Cell::text(text) }
}

fn cell(cx: Cx<'_>, i: usize, key: &'static str) -> Cell {
    let Some(r) = cx.inv.rules.get(i) else { return Cell::text("") };
    match key {
        "place" => Cell::muted(r.place.to_string()),
        "action" => told(r, crate::text::clean(action(&r.action))),
        "rule" => told(r, r.purpose()),
        "interface" => told(r, &*r.interfaces),
        "proto" => told(r, &*r.protocol),
        "source" => told(r, &*r.source),
        "destination" => told(r, &*r.destination),
        "flow" => told(r, format!("{} → {}", r.source, r.destination)),
        "port" => told(r, &*r.port),
        "service" => told(r, r.service()),
        "hits" => seen(&r.hits, |hits| hits.map_or_else(none, |h| told(r, format::count(h.packets)))),
        "loaded" => seen(&r.loaded, |loaded| match loaded {
            true => Cell::state(Class::Fine, "yes"),
            false => Cell::state(if r.enabled { Class::Warning } else { Class::Absent }, "no"),
        }),
        "state" => Cell::state(r.class, &*r.word),
        _ => Cell::text(""),
    }
}

fn sort_key(inv: &Inventory, i: usize, key: &'static str) -> SortKey {
    let Some(r) = inv.rules.get(i) else { return SortKey::None };
    match key {
        "place" => number(r.place),
        "action" => word(action(&r.action)),
        "rule" => word(&r.purpose()),
        "interface" => word(&r.interfaces),
        "proto" => word(&r.protocol),
        "source" => word(&r.source),
        "destination" => word(&r.destination),
        "flow" => word(&r.source),
        "port" | "service" => r.port.parse::<u16>().map_or_else(|_| word(&r.port), number),
        "hits" => r.hits.as_ref().ok().copied().flatten().map_or(SortKey::None, |h| big(h.packets)),
        "loaded" => r.loaded.as_ref().map_or(SortKey::None, |loaded| number(u8::from(!loaded))),
        "state" => by_class(r.class),
        _ => SortKey::None,
    }
}

fn detail(cx: Cx<'_>, i: usize) -> Vec<Vec<Cell>> {
    let Some(r) = cx.inv.rules.get(i) else { return Vec::new() };
    let mut lines = Vec::new();
    if let Some(why) = &r.must_not_exist {
        lines.push(vec![Cell::state(Class::Fault, format!("{why}: \"{}\"", r.description))]);
    }
    let kind = kind(r.kind);
    let quick = if r.quick { "quick" } else { "last match" };
    let enabled = if r.enabled { "enabled" } else { "disabled" };
    let mut head = vec![Cell::state(r.class, &*r.word)];
    head.extend([
        Cell::text(r.purpose()),
        Cell::muted(format!("{kind}, {enabled}, {quick}, {}", direction(r.direction))),
    ]);
    lines.push(head);
    lines.push(vec![
        Cell::text(crate::text::clean(action(&r.action))),
        Cell::text(r.service()),
        Cell::text(format!("{} → {}", r.source, r.destination)),
        Cell::muted(format!("on {}", r.interfaces)),
    ]);
    let mut facts = vec![touch(r)];
    match &r.hits {
        Ok(Some(h)) => facts.push(Cell::muted(format!(
            "{} packets since it was loaded, {} states now",
            format::count(h.packets),
            format::count(h.states)
        ))),
        Ok(None) => {}
        Err(gap) => facts.push(Cell::state(Class::Unknown, gap.why.to_string())),
    }
    if r.protected {
        facts.push(Cell::state(Class::Info, "protected: the operators' own way in"));
    }
    lines.push(facts);
    lines.extend(r.loaded.as_ref().err().filter(|_| r.hits.is_ok()).map(gap_line));
    lines
}

/// Whose traffic it touches.
fn touch(r: &RuleRow) -> Cell {
    match &r.touches {
        Ok(Touch::No) => Cell::muted("touches no tenant"),
        Ok(Touch::Every) => Cell::text("touches every tenant"),
        Ok(Touch::Some(names)) if names.is_empty() => Cell::text("touches a part of the overlay that is nobody's"),
        Ok(Touch::Some(names)) => Cell::text(format!("touches {}", names.join(", "))),
        Err(gap) => Cell::state(Class::Unknown, format!("whom it touches: {}", gap.why)),
    }
}
