//! Printers: tables made of the same columns as the screens, JSON and YAML documents.

use std::io::Write;

use jiff::Timestamp;
use serde_json::Value;

use super::Failure;
use super::args::{Format, Kind};
use crate::console::list::{Align, Column, Cx, ListDef, ListId};
use crate::console::lists;
use crate::console::theme::{ASCII, Glyphs, UNICODE};
use crate::inventory::{GapKind, Inventory, Seen};
use crate::text;

/// One JSON or YAML document.
pub(super) fn document(out: &mut dyn Write, value: &Value, format: Format) -> Result<(), Failure> {
    if format == Format::Yaml {
        let text = serde_yaml_ng::to_string(value).map_err(|e| Failure::plain(format!("output: {e}")))?;
        out.write_all(text.as_bytes())?;
    } else {
        serde_json::to_writer_pretty(&mut *out, value).map_err(std::io::Error::from)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

const fn list_of(kind: Kind) -> ListId {
    match kind {
        Kind::Tenants => ListId::Tenants,
        Kind::Vrfs | Kind::Snat => ListId::Vrfs,
        Kind::Vnets => ListId::Vnets,
        Kind::Workloads => ListId::Workloads,
        Kind::Checkins => ListId::Checkins,
        Kind::Records => ListId::Records,
        Kind::Rules => ListId::Rules,
        Kind::Forwards => ListId::Forwards,
        Kind::Pending => ListId::Pending,
        Kind::Sources => ListId::Sources,
    }
}

/// Glyphs for stdout: ASCII where the locale is not UTF-8.
pub(super) fn glyphs() -> &'static Glyphs {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|k| std::env::var(k).ok().filter(|v| !v.is_empty()));
    let utf8 = locale.is_some_and(|l| l.to_ascii_uppercase().replace('-', "").contains("UTF8"));
    if utf8 { &UNICODE } else { &ASCII }
}

/// The rows of a kind as a table; on stderr, why there are none.
pub(super) fn table(
    out: &mut dyn Write,
    inv: &Inventory,
    kind: Kind,
    tenant: Option<&str>,
    known: &Seen<Vec<Value>>,
    now: Timestamp,
) -> Result<(), Failure> {
    let def = lists::def(list_of(kind));
    let columns: Vec<&Column> = def.columns.iter().filter(|c| c.max > 0 && !pane_only(def, c)).collect();
    if let Err(gap) = known {
        if gap.kind == GapKind::Off {
            super::open::note(&gap.why);
            return Ok(());
        }
        super::open::warn(&format!("{} are unknown: {}", kind.word(), gap.why));
        let mut errors = inv.sources.iter().filter_map(|(_, health)| health.error.as_ref());
        if let Some(help) = errors.find(|e| e.text == gap.why).and_then(|e| e.help.as_ref()) {
            super::open::note(&format!("  help: {help}"));
        }
        return Ok(());
    }
    let rows = rows(def, &columns, Cx { inv, now }, tenant);
    if rows.is_empty() {
        super::open::note(def.empty);
    }
    let widths: Vec<usize> = columns
        .iter()
        .enumerate()
        .map(|(i, c)| {
            let cells = rows.iter().filter_map(|r| r.get(i)).map(|c| text::width(c));
            cells.max().unwrap_or(0).max(text::width(c.title))
        })
        .collect();
    let head: Vec<String> = columns.iter().map(|c| c.title.to_owned()).collect();
    for row in std::iter::once(&head).chain(&rows) {
        line(out, &columns, &widths, row)?;
    }
    Ok(())
}

/// Whether a column only says in one what the list at full width tells apart.
fn pane_only(def: &ListDef, column: &Column) -> bool {
    def.id == ListId::Rules && lists::pane_only(column.key)
}

fn rows(def: &ListDef, columns: &[&Column], cx: Cx<'_>, tenant: Option<&str>) -> Vec<Vec<String>> {
    let glyphs = glyphs();
    (0..(def.len)(cx.inv))
        .filter(|i| tenant.is_none_or(|t| def.is_of(cx.inv, *i, t)))
        .map(|i| {
            columns
                .iter()
                .map(|c| {
                    let cell = (def.cell)(cx, i, c.key);
                    let glyph = cell.class.map(|c| glyphs.of(c)).unwrap_or_default();
                    let sep = if glyph.is_empty() || cell.text.is_empty() { "" } else { " " };
                    let all = format!("{glyph}{sep}{}", cell.text);
                    if glyphs.ascii { text::to_ascii(&all).into_owned() } else { all }
                })
                .collect()
        })
        .collect()
}

fn line(out: &mut dyn Write, columns: &[&Column], widths: &[usize], row: &[String]) -> Result<(), Failure> {
    let mut line = String::new();
    for ((cell, width), column) in row.iter().zip(widths).zip(columns) {
        let space = " ".repeat(width.saturating_sub(text::width(cell)));
        match column.align {
            Align::Left => line.extend([cell.as_str(), &space]),
            Align::Right => line.extend([&space, cell.as_str()]),
        }
        line.push_str("  ");
    }
    writeln!(out, "{}", line.trim_end())?;
    Ok(())
}
