//! Forwards of the perimeter resolver against the tenants' zones: the letter R.

#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::sync::Arc;

use super::super::entities::{ForwardRow, Layer};
use super::super::source::{Gap, Seen};
use super::super::{Class, FieldDiff, Presence};
use super::{Cx, Seed, diff, fabric};
use crate::backends::opnsense::model::{Forward, ForwardKind};
use crate::site::numbering::TenantIndex;
use crate::text::clean;

/// A zone that ought to be forwarded.
struct Wanted<'a> {
    seed: &'a Seed,
    zone: String,
    reverse: bool,
}

/// Forwards in tenant order, those of nobody last.
pub(super) fn rows(cx: &Cx<'_>) -> Seen<Vec<ForwardRow>> {
    let all = cx.fw("the forwards")?.forwards.as_ref().map_err(Clone::clone)?;
    let server = server(cx);
    let mut rows = Vec::new();
    let mut taken = vec![false; all.len()];
    for wanted in cx.seeds.iter().flat_map(|seed| zones(cx, seed)) {
        let own: Vec<&Forward> = all
            .iter()
            .zip(&mut taken)
            .filter(|(f, _)| f.domain == wanted.zone)
            .map(|(f, taken)| {
                *taken = true;
                f
            })
            .collect();
        if own.is_empty() {
            rows.push(absent(cx, &wanted));
        }
        let right = own.iter().filter(|f| differences(&wanted.zone, f, server).is_empty()).count();
        rows.extend(own.iter().map(|f| tenants(cx, &wanted, f, server, right)));
    }
    let left = all.iter().zip(taken).filter(|(_, taken)| !taken).map(|(f, _)| f);
    rows.extend(left.map(|f| nobodys(cx, f)));
    Ok(rows)
}

/// The two zones of a tenant.
fn zones<'a>(cx: &Cx<'_>, seed: &'a Seed) -> [Wanted<'a>; 2] {
    let forward = format!("{}.{}", seed.name, cx.site.domain).to_ascii_lowercase();
    let reverse = cx.site.numbering.reverse_zone(seed.index).to_ascii_lowercase();
    [Wanted { seed, zone: forward, reverse: false }, Wanted { seed, zone: reverse, reverse: true }]
}

/// Where the perimeter must send questions. An address of this host's own loopback says nothing about that.
fn server(cx: &Cx<'_>) -> Option<SocketAddr> {
    cx.site.powerdns.as_ref().map(|p| p.dns).filter(|dns| !dns.ip().is_loopback())
}

/// Whether the tenant is there already, so that its forwards ought to be.
fn is_due(cx: &Cx<'_>, seed: &Seed) -> bool {
    let layer = fabric::layer(cx, seed);
    let leaving = cx.sdn().is_ok_and(|sdn| fabric::is_leaving(sdn, &seed.name));
    !leaving && !matches!(layer.presence, Presence::Pending | Presence::Absent)
}

fn absent(cx: &Cx<'_>, wanted: &Wanted<'_>) -> ForwardRow {
    ForwardRow {
        uuid: None,
        tenant: Some(Arc::clone(&wanted.seed.name)),
        domain: wanted.zone.as_str().into(),
        server: None,
        kind: None,
        enabled: None,
        description: Arc::from(""),
        diffs: Vec::new(),
        class: if is_due(cx, wanted.seed) { Class::Fault } else { Class::Absent },
        word: Arc::from("absent"),
    }
}

fn seen(f: &Forward) -> ForwardRow {
    let server = match f.port {
        Some(port) => format!("{}:{port}", clean(&f.server)),
        None => clean(&f.server).into_owned(),
    };
    let domain = if f.domain.is_empty() { "." } else { f.domain.as_str() };
    ForwardRow {
        uuid: Some(Arc::from(clean(&f.uuid))),
        tenant: None,
        domain: Arc::from(clean(domain)),
        server: Some(server.into()),
        kind: Some(kind(f.kind)),
        enabled: Some(f.enabled),
        description: Arc::from(clean(&f.description)),
        diffs: Vec::new(),
        class: Class::Info,
        word: Arc::from("no tenant's"),
    }
}

const fn kind(kind: ForwardKind) -> &'static str {
    match kind {
        ForwardKind::Forward => "forward",
        ForwardKind::Dot => "dot",
    }
}

fn tenants(cx: &Cx<'_>, wanted: &Wanted<'_>, f: &Forward, server: Option<SocketAddr>, right: usize) -> ForwardRow {
    let mut row = ForwardRow { tenant: Some(Arc::clone(&wanted.seed.name)), ..seen(f) };
    row.diffs = differences(&wanted.zone, f, server);
    let word = match row.diffs.first().map(|d| d.field.as_str()) {
        // A copy that is switched off beside one that works takes no part.
        Some("enabled") if right > 0 => return ForwardRow { class: Class::Info, word: "disabled copy".into(), ..row },
        Some("type") => "wrong type",
        Some("enabled") => "disabled",
        Some("domain") => "final dot",
        Some("port") => "wrong port",
        Some(_) => "wrong server",
        None if right > 1 => {
            return ForwardRow { class: Class::Warning, word: "twice".into(), ..row };
        }
        None => return ForwardRow { class: Class::Fine, word: "present".into(), ..row },
    };
    let class = if is_due(cx, wanted.seed) { Class::Differs } else { Class::Info };
    ForwardRow { class, word: word.into(), ..row }
}

/// What makes a forward another than the one derived, what matters most first: only an enabled one of type `forward`
/// exempts its domain from rebind protection (domain.md §4.4).
fn differences(zone: &str, f: &Forward, server: Option<SocketAddr>) -> Vec<FieldDiff> {
    let mut out = Vec::new();
    let object = || format!("forward {zone}");
    let mut check = |field: &str, expected: &str, observed: &str| {
        if expected != observed {
            out.push(diff(object(), field, expected, clean(observed)));
        }
    };
    check("enabled", "1", if f.enabled { "1" } else { "0" });
    check("type", "forward", kind(f.kind));
    if f.final_dot {
        check("domain", zone, &format!("{zone}."));
    }
    if let Some(server) = server {
        let observed = f.server.parse().map_or_else(|_| f.server.clone(), |ip: std::net::IpAddr| ip.to_string());
        check("server", &server.ip().to_string(), &observed);
        check("port", &server.port().to_string(), &f.port.unwrap_or(53).to_string());
    }
    out
}

/// A forward of no tenant: left over where its name could be one's.
fn nobodys(cx: &Cx<'_>, f: &Forward) -> ForwardRow {
    let row = seen(f);
    let below = f.domain.strip_suffix(&cx.site.domain.to_ascii_lowercase()).is_some_and(|label| label.ends_with('.'));
    let reverse = (1..=63)
        .filter_map(|n| TenantIndex::new(n).ok())
        .any(|index| cx.site.numbering.reverse_zone(index).eq_ignore_ascii_case(&f.domain));
    if !below && !reverse {
        return row;
    }
    match cx.sdn() {
        Err(_) => ForwardRow { class: Class::Unknown, word: "whose is unknown".into(), ..row },
        Ok(_) if cx.seeds.iter().any(|s| f.domain.ends_with(&format!(".{}.{}", s.name, cx.site.domain))) => row,
        Ok(_) => ForwardRow { word: format!("left over: no {}", cx.anybody()).into(), ..row },
    }
}

/// The letter R of a tenant, from its rows.
pub(super) fn layer(cx: &Cx<'_>, seed: &Seed, rows: &[ForwardRow], gap: Option<&Gap>) -> Layer {
    if let Some(gap) = gap {
        return Layer::unknown(gap.clone());
    }
    if let Some(stale) = cx.fw_stale() {
        return Layer::unknown(stale);
    }
    let missing: Vec<bool> = zones(cx, seed)
        .into_iter()
        .filter(|w| !rows.iter().any(|r| r.uuid.is_some() && *r.domain == *w.zone))
        .map(|w| w.reverse)
        .collect();
    let due = is_due(cx, seed);
    let class = if due { Class::Fault } else { Class::Absent };
    match missing.as_slice() {
        [] => {}
        [_, _, ..] => return Layer::known(Presence::Absent, class, "absent"),
        [reverse] => {
            let (word, zone) = if *reverse { ("no reverse forward", 1) } else { ("no forward", 0) };
            let zone = zones(cx, seed).into_iter().nth(zone).map(|w| w.zone).unwrap_or_default();
            let diffs = vec![diff(format!("forward {zone}"), "forward", "present", "–")];
            return Layer { diffs, ..Layer::known(Presence::Differs, class, word) };
        }
    }
    let diffs: Vec<FieldDiff> =
        rows.iter().filter(|r| r.class == Class::Differs).flat_map(|r| r.diffs.iter().cloned()).collect();
    let word = |class: Class| rows.iter().find(|r| r.class == class).map(|r| &r.word);
    match (word(Class::Differs), word(Class::Warning)) {
        (Some(word), _) => Layer { diffs, ..Layer::known(Presence::Differs, Class::Differs, word.to_string()) },
        (None, Some(word)) => Layer::known(Presence::Present, Class::Warning, format!("forwarded {word}")),
        (None, None) => Layer::known(Presence::Present, Class::Fine, "present"),
    }
}
