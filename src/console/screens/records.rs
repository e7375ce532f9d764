//! DNS records at full width: below them, in fixed rows, the zones and forwards of the tenant, and the selected record
//! as the authority and the perimeter have it.

use ratatui::layout::Rect;

use super::list::{self, Options};
use crate::console::list::{Cell, ListId, Scope};
use crate::console::lists::records as cells;
use crate::console::view::ctx::Ctx;
use crate::console::widgets::canvas::{Bit, Canvas};
use crate::console::widgets::frame::{Titles, rule};
use crate::inventory::{Answer, Class, ForwardRow, Gap, RecordRow, Seen, Tenant, ZoneRow};
use crate::site::model::PowerDnsMode;

/// Rows of the zones' part, its rule included.
const ZONES: u16 = 4;

/// Draws the screen into `area`.
pub fn draw(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, scope: &Scope) {
    let detail = if area.height >= 28 { 10 } else { 4.min(area.height / 5) };
    let zones = if area.height >= 16 { ZONES } else { 0 };
    let options = Options { below: Some(zones + detail), ..Options::default() };
    let rest = list::draw(canvas, ctx, area, (ListId::Records, scope), options);
    let rows = ctx.rows(ListId::Records, scope);
    let row = rows.selected().and_then(|i| ctx.inv().records.get(i));
    let name = match scope {
        Scope::Tenant(name) => Some(name),
        Scope::All => row.and_then(|r| r.tenant.as_ref()),
    };
    if let Some(tenant) = name.and_then(|name| ctx.inv().tenant(name)) {
        of_tenant(canvas, ctx, Rect { height: zones, ..rest }, tenant);
    }
    if let (Some(row), true) = (row, ctx.saying(canvas, &rows).body.is_empty()) {
        let at = Rect { y: rest.y + zones, height: rest.height.saturating_sub(zones), ..rest };
        of_record(canvas, ctx, at, row);
    }
}

/// One line a zone, one for the forwards.
fn of_tenant(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, tenant: &Tenant) {
    if area.height == 0 {
        return;
    }
    rule(canvas, Rect { height: 1, ..area }, &Titles::new(format!("zones and forwards of {}", tenant.name)));
    let zones = ctx.inv().zones_of(tenant);
    let mut lines: Vec<Vec<Bit>> = zones.iter().map(|zone| of_zone(canvas, zone)).collect();
    if let (true, Some(gap)) = (lines.is_empty(), &ctx.inv().records_gap) {
        let mut line = vec![Bit::muted("zones ")];
        line.extend(unknown(canvas, gap));
        lines.push(line);
    }
    lines.push(of_forwards(canvas, ctx, tenant));
    for (y, line) in (area.y + 1..area.bottom()).zip(lines) {
        canvas.bits((area.x + 2, y), area.width.saturating_sub(3), &line);
    }
}

fn unknown(canvas: &Canvas<'_>, gap: &Gap) -> Vec<Bit> {
    canvas.cell_bits(&Cell::gap(gap))
}

fn of_zone(canvas: &Canvas<'_>, zone: &ZoneRow) -> Vec<Bit> {
    let mut out = vec![Bit::text(zone.zone.to_string()), Bit::text("  ")];
    match &zone.exists {
        Ok(false) => {
            out.extend(canvas.cell_bits(&Cell::state(Class::Fault, "does not exist")));
            return out;
        }
        Err(gap) => {
            out.extend(unknown(canvas, gap));
            return out;
        }
        Ok(true) => {}
    }
    // Whether it differs comes before what it is: the line is cut at its end.
    if zone.class != Class::Fine {
        out.extend(canvas.cell_bits(&Cell::state(zone.class, &*zone.word)));
        out.push(Bit::text("  "));
    }
    if let Ok(kind) = &zone.kind {
        out.push(Bit::text(format!("{kind}  ")));
    }
    let serial = zone.serial.as_ref().ok().and_then(|s| *s);
    out.push(Bit::text(serial.map_or_else(|| "no serial".to_owned(), |s| format!("serial {s}"))));
    if let Ok(Some(seen)) = &zone.perimeter_serial {
        let same = Some(*seen) == serial;
        out.push(Bit::muted(if same { ", perimeter same".to_owned() } else { format!(", perimeter {seen}") }));
    }
    out.push(Bit::muted("  NS "));
    out.extend(right_or(canvas, zone, &["NS"], &zone.nameservers));
    out.push(Bit::muted("  key "));
    match &zone.keys {
        Ok(keys) if zone.class == Class::Unknown => out.push(Bit::text(keys.join(", "))),
        Ok(keys) if !zone.diffs.iter().any(|d| d.field.contains("TSIG")) => {
            out.extend(canvas.cell_bits(&Cell::state(Class::Fine, keys.join(", "))));
        }
        keys => out.extend(right_or(canvas, zone, &["TSIG-ALLOW-DNSUPDATE", "TSIG key"], keys)),
    }
    out
}

/// What was seen, with the glyph that says whether it is as derived.
fn right_or(canvas: &Canvas<'_>, zone: &ZoneRow, fields: &[&str], seen: &Seen<Vec<String>>) -> Vec<Bit> {
    match (seen, zone.diffs.iter().find(|d| fields.contains(&d.field.as_str()))) {
        (Err(gap), _) => unknown(canvas, gap),
        // Nothing is concluded from what is old.
        (Ok(seen), None) if zone.class == Class::Unknown => vec![Bit::text(seen.join(", "))],
        (Ok(_), None) => canvas.cell_bits(&Cell::state(Class::Fine, "right")),
        (Ok(_), Some(d)) => canvas.cell_bits(&Cell::state(Class::Differs, d.observed.clone())),
    }
}

fn of_forwards(canvas: &Canvas<'_>, ctx: &Ctx<'_>, tenant: &Tenant) -> Vec<Bit> {
    if let Some(gap) = &ctx.inv().forwards_gap {
        let mut out = vec![Bit::muted("forwards ")];
        out.extend(unknown(canvas, gap));
        return out;
    }
    let forwards = ctx.inv().forwards_of(tenant);
    let mut out = Vec::new();
    for forward in forwards {
        out.extend(of_forward(canvas, tenant, forward));
    }
    if out.is_empty() { vec![Bit::muted("no forwards")] } else { out }
}

fn of_forward(canvas: &Canvas<'_>, tenant: &Tenant, forward: &ForwardRow) -> Vec<Bit> {
    let what = if *forward.domain == *tenant.reverse_zone { "reverse" } else { "forward" };
    let to = forward.server.as_ref().map_or_else(|| "nowhere".to_owned(), ToString::to_string);
    let mut out = vec![Bit::muted(format!("{what} → ")), Bit::text(format!("{to} "))];
    out.extend(canvas.cell_bits(&Cell::state(forward.class, &*forward.word)));
    out.push(Bit::text("   "));
    out
}

/// A record as both servers have it, one line a property.
fn of_record(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, row: &RecordRow) {
    if area.height == 0 {
        return;
    }
    let right = canvas.cell_bits(&cells::state(ctx.cx, row));
    rule(canvas, Rect { height: 1, ..area }, &Titles { right, ..Titles::new(format!("{} {}", row.name, row.kind)) });
    let inside = Rect { y: area.y + 1, height: area.height - 1, x: area.x + 1, width: area.width.saturating_sub(2) };
    let mut y = inside.y;
    let mut line = |canvas: &mut Canvas<'_>, bits: &[Bit]| {
        if y < inside.bottom() {
            canvas.bits((inside.x, y), inside.width, bits);
            y += 1;
        }
    };
    line(canvas, &[Bit::text(sentence(ctx, row))]);
    if inside.height > 6 {
        line(canvas, &[]);
    }
    let half = inside.width.saturating_sub(11) / 2;
    for (label, authority, perimeter) in table(ctx, row) {
        let room = usize::from(half.saturating_sub(1));
        let cut = |text: &str| crate::text::pad(text, room, crate::text::Charset::Unicode).into_owned();
        line(
            canvas,
            &[
                Bit::muted(format!("{label:<11}")),
                Bit::text(format!("{} ", cut(&authority))),
                Bit::text(cut(&perimeter)),
            ],
        );
    }
}

/// One sentence on how they stand to each other; why is a diagnosis and not said here.
fn sentence(ctx: &Ctx<'_>, row: &RecordRow) -> String {
    if let Some(gap) = &row.gap {
        return gap.why.to_string();
    }
    if let Some(d) = row.diffs.first() {
        return if d.field == "perimeter" {
            format!("The authority has {}, the perimeter says {}.", d.expected, d.observed)
        } else {
            format!("The authority has {}; derived from the workload is {}.", d.observed, d.expected)
        };
    }
    match (&row.perimeter, row.workload) {
        (Err(gap), _) if ctx.inv().site.resolvers.is_some() => gap.why.to_string(),
        (_, Some(vmid)) => format!("As derived from VM {vmid}."),
        (_, None) => "Written by the tenant: nothing is derived to compare it with.".to_owned(),
    }
}

fn table(ctx: &Ctx<'_>, row: &RecordRow) -> Vec<(&'static str, String, String)> {
    let site = &ctx.inv().site;
    let authority = site.powerdns.as_ref().map_or_else(String::new, |p| format!("AUTHORITATIVE {}", p.dns.ip()));
    let perimeter =
        site.resolvers.as_ref().map_or_else(|| "PERIMETER".to_owned(), |r| format!("PERIMETER {}", r.perimeter));
    // The API tells contents, not codes.
    let by_queries = site.powerdns.as_ref().is_some_and(|p| p.mode == PowerDnsMode::DnsOnly);
    let how = if by_queries { "asked by query" } else { "read from the API" };
    let said = |show: fn(&Answer) -> String| row.perimeter.as_ref().map_or_else(|_| "–".to_owned(), |a| show(a));
    let zone = ctx.inv().zones.iter().find(|z| z.zone == row.zone);
    let serial = zone.and_then(|z| z.serial.clone().ok().flatten());
    let soa = |a: &Answer| {
        a.soa.as_ref().map_or_else(|| "–".to_owned(), |(owner, serial)| format!("{owner} serial {serial}"))
    };
    let ttl = row.ttl.map_or_else(|| "–".to_owned(), |ttl| format!("{ttl}s"));
    vec![
        ("", authority, perimeter),
        ("answer", cells::authoritative(ctx.inv(), row).text, cells::perimeter(ctx.inv(), row).text),
        ("code", how.to_owned(), said(|a| a.code.clone())),
        ("SOA seen", serial.map_or_else(|| "–".to_owned(), |s| format!("{} serial {s}", row.zone)), said(soa)),
        ("left", ttl, said(|a| a.left.map_or_else(|| "–".to_owned(), |s| format!("{s}s")))),
        ("took", "–".to_owned(), said(|a| format!("{} ms", a.took.as_millis()))),
    ]
}
