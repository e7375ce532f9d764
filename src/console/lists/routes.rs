//! Routes of the VRFs, with the reason for each.

use super::super::list::{Align, Cell, Column, Cx, ListDef, ListId, SortKey};
use super::{by_class, fixed, number, or_none, word, words};
use crate::backends::exit_node::model::{Route, RouteKind};
use crate::inventory::{Inventory, ObjectId, RouteWhy, SourceId, Vrf};

/// Definition.
pub static DEF: ListDef = ListDef {
    id: ListId::Routes,
    title: "Routes",
    word: "routes",
    sources: &[SourceId::Exit, SourceId::Pve],
    columns: &COLUMNS,
    sort: "prefix",
    len: |inv| inv.vrfs.iter().map(|v| of(v).len()).sum(),
    id_of: |inv, i| {
        let (vrf, (route, _)) = at(inv, i)?;
        let key = format!("{} {} {}", route.dst, kind(route), route.metric.unwrap_or(0));
        Some(ObjectId::Route(vrf.tenant.clone(), vrf.node.clone(), key.into()))
    },
    tenant_of: |inv, i| at(inv, i).map(|(v, _)| &*v.tenant),
    cell,
    sort_key,
    gap: |inv| inv.tenants_gap.as_ref(),
    detail: |cx, i| {
        let Some((vrf, (route, why))) = at(cx.inv, i) else { return Vec::new() };
        let flags = if route.flags.is_empty() { "no flags".into() } else { route.flags.join(" ") };
        let metric = route.metric.map_or_else(|| "no metric".into(), |m| format!("metric {m}"));
        vec![
            vec![Cell::state(why.class, &*why.words)],
            vec![Cell::muted(vrf.device.clone()), Cell::text(metric), Cell::text(flags)],
        ]
    },
    empty: "No route was seen in this VRF.",
};

const COLUMNS: [Column; 7] = [
    words("tenant", "TENANT", 8, 12, 20),
    fixed("prefix", "PREFIX", 12, Align::Left, 255),
    fixed("kind", "KIND", 6, Align::Left, 200),
    fixed("via", "VIA", 10, Align::Left, 150),
    fixed("dev", "DEV", 6, Align::Left, 140),
    fixed("state", "STATE", 7, Align::Left, 255),
    words("why", "WHY IT IS HERE", 14, 60, 100),
];

fn of(vrf: &Vrf) -> &[(Route, RouteWhy)] {
    vrf.routes.as_ref().map_or(&[], Vec::as_slice)
}

fn at(inv: &Inventory, mut i: usize) -> Option<(&Vrf, &(Route, RouteWhy))> {
    for vrf in &inv.vrfs {
        let routes = of(vrf);
        if let Some(row) = routes.get(i) {
            return Some((vrf, row));
        }
        i -= routes.len();
    }
    None
}

/// `static`, `connected`, `blackhole`: the protocol for what delivers, else the kind.
fn kind(route: &Route) -> String {
    match (&route.kind, route.protocol.as_deref()) {
        (RouteKind::Unicast, Some("kernel")) => "connected".into(),
        (RouteKind::Unicast, Some(protocol)) => protocol.into(),
        (RouteKind::Unicast, None) => "unicast".into(),
        (RouteKind::Blackhole, _) => "blackhole".into(),
        (RouteKind::Unreachable, _) => "unreachable".into(),
        (RouteKind::Other(word), _) => word.clone(),
    }
}

const fn state(why: &RouteWhy) -> &'static str {
    use crate::inventory::Class;
    match why.class {
        Class::Fine => "right",
        Class::Info => "known",
        Class::Unknown => "unknown",
        Class::Differs => "differs",
        Class::Warning => "look",
        Class::Fault => "wrong",
        Class::Absent => "absent",
        Class::Pending => "pending",
        Class::Progress => "changing",
        Class::NotRun => "not run",
    }
}

fn cell(cx: Cx<'_>, i: usize, key: &'static str) -> Cell {
    let Some((vrf, (route, why))) = at(cx.inv, i) else { return Cell::text("") };
    match key {
        "tenant" => Cell::text(&*vrf.tenant),
        "prefix" => Cell::text(route.dst.to_string()),
        "kind" => Cell::text(kind(route)),
        "via" => or_none(route.gateway),
        "dev" => or_none(route.dev.as_deref()),
        "state" => Cell::state(why.class, state(why)),
        "why" => Cell::text(&*why.words),
        _ => Cell::text(""),
    }
}

fn sort_key(inv: &Inventory, i: usize, key: &'static str) -> SortKey {
    let Some((vrf, (route, why))) = at(inv, i) else { return SortKey::None };
    match key {
        "tenant" => word(&vrf.tenant),
        "prefix" => SortKey::Num(f64::from(u32::from(route.dst.network())) + f64::from(route.dst.prefix_len()) / 64.0),
        "kind" => word(&kind(route)),
        "via" => super::maybe(route.gateway, |a| number(u32::from(a))),
        "dev" => super::maybe(route.dev.as_deref(), word),
        "state" => by_class(why.class),
        "why" => word(&why.words),
        _ => SortKey::None,
    }
}
