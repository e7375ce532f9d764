//! VNets, foreign ones included.

use super::super::list::{Align, Cell, Column, Cx, ListDef, ListId, SortKey};
use super::{by_class, diff_lines, fixed, gap_line, maybe, none, number, or_none, seen, word, words};
use crate::inventory::{Class, Inventory, ObjectId, SourceId, SubnetRow, VnetRow};

/// Definition.
pub static DEF: ListDef = ListDef {
    id: ListId::Vnets,
    title: "VNets",
    word: "vnets",
    sources: &[SourceId::Pve],
    columns: &COLUMNS,
    sort: "tag",
    len: |inv| inv.vnets.len(),
    id_of: |inv, i| inv.vnets.get(i).map(|v| ObjectId::Vnet(v.vnet.clone())),
    tenant_of: |inv, i| inv.vnets.get(i).and_then(|v| v.tenant.as_deref()),
    cell,
    sort_key,
    gap: |inv| inv.tenants_gap.as_ref(),
    detail,
    empty: "No VNet yet.",
};

const COLUMNS: [Column; 8] = [
    words("tenant", "TENANT", 8, 12, 80),
    words("zone", "ZONE", 6, 12, 20),
    words("vnet", "VNET", 6, 10, 255),
    fixed("tag", "TAG", 5, Align::Right, 200),
    fixed("subnet", "SUBNET", 14, Align::Left, 150),
    fixed("snat", "SNAT", 4, Align::Left, 140),
    fixed("gateway", "GATEWAY", 11, Align::Left, 70),
    fixed("state", "STATE", 9, Align::Left, 255),
];

fn subnets(v: &VnetRow, cell: impl Fn(&SubnetRow) -> Cell) -> Cell {
    seen(&v.subnets, |all| match all.as_slice() {
        [] => none(),
        [one] => cell(one),
        [first, rest @ ..] => {
            let mut first = cell(first);
            first.text = format!("{} +{}", first.text, rest.len());
            first
        }
    })
}

fn cell(cx: Cx<'_>, i: usize, key: &'static str) -> Cell {
    let Some(v) = cx.inv.vnets.get(i) else { return Cell::text("") };
    match key {
        "tenant" => v.tenant.as_deref().map_or_else(none, Cell::text),
        "zone" => Cell::text(&*v.zone),
        "vnet" => Cell::text(&*v.vnet),
        "tag" => or_none(v.tag),
        "subnet" => subnets(v, |s| Cell::text(s.cidr.clone())),
        "snat" => subnets(v, |s| Cell::text(if s.snat { "on" } else { "off" })),
        "gateway" => subnets(v, |s| or_none(s.gateway)),
        "state" => Cell::state(v.class, v.word.clone()),
        _ => Cell::text(""),
    }
}

fn sort_key(inv: &Inventory, i: usize, key: &'static str) -> SortKey {
    let Some(v) = inv.vnets.get(i) else { return SortKey::None };
    let first = || v.subnets.as_ref().ok().and_then(|s| s.first());
    match key {
        "tenant" => maybe(v.tenant.as_deref(), word),
        "zone" => word(&v.zone),
        "vnet" => word(&v.vnet),
        "tag" => maybe(v.tag, number),
        "subnet" => {
            maybe(first().and_then(|s| s.cidr.parse::<ipnet::Ipv4Net>().ok()), |n| number(u32::from(n.network())))
        }
        "snat" => maybe(first(), |s| number(u8::from(s.snat))),
        "gateway" => maybe(first().and_then(|s| s.gateway), |a| number(u32::from(a))),
        "state" => by_class(v.class),
        _ => SortKey::None,
    }
}

fn detail(cx: Cx<'_>, i: usize) -> Vec<Vec<Cell>> {
    let Some(v) = cx.inv.vnets.get(i) else { return Vec::new() };
    let mut head = vec![Cell::text(format!("bridge {}", v.vnet)), Cell::muted(format!("zone {}", v.zone))];
    head.extend(v.ordinal.map(|n| Cell::muted(format!("VNet {n} of the tenant's ten"))));
    head.extend(v.alias.as_deref().map(|a| Cell::muted(format!("alias \"{a}\""))));
    let nodes = v.nodes.iter().flat_map(|(node, status)| {
        let node = Cell::muted(format!("on {}", cx.inv.site.short_name(node)));
        let class = |s: &String| if s == "available" { Class::Fine } else { Class::Warning };
        [node, seen(status, |s| Cell::state(class(s), s.clone()))]
    });
    let mut lines = vec![head];
    let nodes: Vec<_> = nodes.collect();
    if !nodes.is_empty() {
        lines.push(nodes);
    }
    match &v.subnets {
        Ok(all) => lines.extend(all.iter().map(|s| {
            vec![
                Cell::text(format!("subnet {}", s.cidr)),
                Cell::text(s.gateway.map_or_else(|| "no gateway".into(), |g| format!("gateway {g}"))),
                Cell::text(if s.snat { "SNAT on" } else { "SNAT off" }),
                if s.derived { Cell::state(Class::Fine, "derived") } else { Cell::state(Class::Info, "not derived") },
            ]
        })),
        Err(gap) => lines.push(gap_line(gap)),
    }
    lines.extend(diff_lines(&v.diffs));
    lines
}
