//! Zones, VNets and subnets against the index: which zones are tenants, what differs, what waits for an apply.

use std::sync::Arc;

use super::super::entities::{ForeignZone, Layer, SubnetRow, VnetRow};
use super::super::source::{Gap, GapKind, Seen};
use super::super::{Class, FieldDiff, Presence};
use super::{Cx, Seed, diff, vnet_id};
use crate::backends::proxmox::model::{Change, NodeVnet, Sdn, SdnConfig, Subnet, Vnet, Zone};
use crate::site::Site;
use crate::text::clean;

/// Zones of the index band, by index, then name.
pub(super) fn seeds(site: &Site, sdn: &SdnConfig) -> Vec<Seed> {
    let mut seeds: Vec<Seed> = sdn
        .zones
        .iter()
        .filter_map(|z| {
            let zone = z.current()?;
            let index = site.numbering.index_of_vrf_vni(zone.vrf_vxlan?)?;
            (zone.kind == "evpn").then(|| Seed { name: Arc::from(clean(&zone.zone)), index })
        })
        .collect();
    seeds.sort_by(|a, b| (a.index, &a.name).cmp(&(b.index, &b.name)));
    seeds
}

/// Whether the removal of the zone waits for an apply.
pub(super) fn is_leaving(sdn: &SdnConfig, zone: &str) -> bool {
    find_zone(sdn, zone).is_some_and(|z| z.change == Change::Deleted)
}

fn find_zone<'a>(sdn: &'a SdnConfig, name: &str) -> Option<&'a Sdn<Zone>> {
    sdn.zones.iter().find(|z| z.current().is_some_and(|z| z.zone == name))
}

pub(super) fn find_vnet<'a>(sdn: &'a SdnConfig, id: &str) -> Option<&'a Sdn<Vnet>> {
    sdn.vnets.iter().find(|v| v.current().is_some_and(|v| v.vnet == id))
}

/// Zones that are no tenants, with the reason.
pub(super) fn foreign(cx: &Cx<'_>) -> Seen<Vec<ForeignZone>> {
    let sdn = cx.sdn()?;
    Ok(sdn
        .zones
        .iter()
        .filter_map(|z| {
            let zone = z.current()?;
            let band = &cx.site.numbering;
            let why = match zone.vrf_vxlan {
                _ if zone.kind != "evpn" => format!("a {} zone; tenants are evpn zones", clean(&zone.kind)),
                None => "no VRF VNI".to_owned(),
                Some(vni) if band.index_of_vrf_vni(vni).is_none() => {
                    format!("VRF VNI {vni} is outside {}–{}", band.vrf_vni_base + 1, band.vrf_vni_base + 63)
                }
                Some(_) => return None,
            };
            Some(ForeignZone {
                zone: Arc::from(clean(&zone.zone)),
                kind: clean(&zone.kind).into_owned(),
                vrf_vni: zone.vrf_vxlan,
                change: z.change,
                why,
            })
        })
        .collect())
}

/// All VNets: tenants' in tenant order, foreign ones last.
pub(super) fn vnets(cx: &Cx<'_>) -> Vec<VnetRow> {
    let Ok(sdn) = cx.sdn() else { return Vec::new() };
    let mut rows: Vec<(usize, VnetRow)> = sdn
        .vnets
        .iter()
        .filter_map(|v| {
            let vnet = v.current()?;
            let order = cx.seeds.iter().position(|s| *s.name == *vnet.zone).unwrap_or(usize::MAX);
            Some((order, vnet_row(cx, sdn, v, vnet)))
        })
        .collect();
    rows.sort_by(|(a, x), (b, y)| (a, x.tag, &x.vnet).cmp(&(b, y.tag, &y.vnet)));
    rows.into_iter().map(|(_, row)| row).collect()
}

fn vnet_row(cx: &Cx<'_>, sdn: &SdnConfig, v: &Sdn<Vnet>, vnet: &Vnet) -> VnetRow {
    let seed = cx.is_tenant(&vnet.zone);
    let ours = vnet.tag.and_then(|tag| cx.site.numbering.index_of_tag(tag));
    let subnets = subnets(cx, sdn, v, vnet, seed);
    let mut diffs = Vec::new();
    if let Some(seed) = seed {
        diffs.extend(tag_clash(sdn, vnet));
        if ours.is_none_or(|(index, _)| index != seed.index) {
            let band = cx.site.numbering.vnet_vni_base_of(seed.index);
            let seen = vnet.tag.map_or("–".to_owned(), |t| t.to_string());
            diffs.push(diff(format!("VNet {}", clean(&vnet.vnet)), "tag", format!("{band}–{}", band + 9), seen));
        }
        if ours.is_some_and(|(_, i)| i == 0) {
            diffs.extend(subnet_diffs(cx, seed, &subnets));
        }
    }
    let waits = subnets.as_ref().ok().and_then(|s| s.iter().map(|s| s.change).find(|c| *c != Change::None));
    let change = if v.change == Change::None { waits.unwrap_or_default() } else { v.change };
    let nodes = realised(cx, vnet);
    let broken = nodes.iter().find_map(|(node, s)| match s {
        Ok(s) if !matches!(s.as_str(), "available" | "pending" | "unknown") => {
            Some(format!("{s} on {}", cx.site.short_name(node)))
        }
        _ => None,
    });
    let (class, word) = match (change, broken) {
        (Change::New, _) => (Class::Pending, "new".to_owned()),
        (Change::Changed, _) => (Class::Pending, "changed".to_owned()),
        (Change::Deleted, _) => (Class::Pending, "leaving".to_owned()),
        (Change::None, Some(words)) => (Class::Fault, words),
        (Change::None, None) if !diffs.is_empty() => (Class::Differs, "differs".to_owned()),
        (Change::None, None) if subnets.is_err() => (Class::Unknown, "unknown".to_owned()),
        (Change::None, None) => (Class::Fine, "present".to_owned()),
    };
    VnetRow {
        vnet: Arc::from(clean(&vnet.vnet)),
        zone: Arc::from(clean(&vnet.zone)),
        tenant: seed.map(|s| Arc::clone(&s.name)),
        tag: vnet.tag,
        ordinal: ours
            .filter(|(index, _)| seed.is_some_and(|s| s.index == *index))
            .and_then(|(_, i)| u8::try_from(i).ok()),
        subnets,
        change,
        nodes,
        alias: vnet.alias.as_deref().map(|a| clean(a).into_owned()),
        class,
        word,
        diffs,
    }
}

/// Another VNet with the same tag, or a zone with it as VRF VNI: on the wire they are one.
fn tag_clash(sdn: &SdnConfig, vnet: &Vnet) -> Option<FieldDiff> {
    let tag = vnet.tag?;
    let other = sdn.vnets.iter().filter_map(|v| v.current()).find(|v| v.tag == Some(tag) && v.vnet != vnet.vnet);
    let zone = || sdn.zones.iter().filter_map(|z| z.current()).find(|z| z.vrf_vxlan == Some(tag));
    let whose = other.map(|v| format!("VNet {}", v.vnet)).or_else(|| zone().map(|z| format!("zone {}", z.zone)))?;
    Some(diff(
        format!("VNet {}", clean(&vnet.vnet)),
        "tag",
        format!("{tag}, its own"),
        format!("shared with {}", clean(&whose)),
    ))
}

/// Another zone with the same VRF VNI: their routes end up in one VRF.
fn vni_clash(sdn: &SdnConfig, zone: &Zone) -> Option<FieldDiff> {
    let vni = zone.vrf_vxlan?;
    let other =
        sdn.zones.iter().filter_map(|z| z.current()).find(|z| z.vrf_vxlan == Some(vni) && z.zone != zone.zone)?;
    let seen = format!("shared with zone {}", clean(&other.zone));
    Some(diff(format!("zone {}", clean(&zone.zone)), "vrf-vxlan", format!("{vni}, its own"), seen))
}

fn subnets(cx: &Cx<'_>, sdn: &SdnConfig, v: &Sdn<Vnet>, vnet: &Vnet, seed: Option<&Seed>) -> Seen<Vec<SubnetRow>> {
    if v.change == Change::Deleted && !sdn.subnets.contains_key(&vnet.vnet) {
        return Err(Gap::new(GapKind::Failed, "Proxmox hides the subnets of a VNet that is being deleted"));
    }
    let Some(list) = sdn.subnets.get(&vnet.vnet) else {
        let told = cx.pve.and_then(|p| p.subnet_gaps.get(&vnet.vnet)).cloned();
        return Err(told.unwrap_or_else(|| Gap::not_read("the subnets of this VNet")));
    };
    let derived = seed.map(|s| cx.site.numbering.subnet(s.index));
    Ok(list
        .iter()
        .filter_map(|s| {
            let subnet: &Subnet = s.current()?;
            Some(SubnetRow {
                cidr: clean(&subnet.cidr_text).into_owned(),
                gateway: subnet.gateway,
                snat: subnet.snat,
                change: s.change,
                derived: derived.is_some() && subnet.cidr == derived,
            })
        })
        .collect())
}

fn subnet_diffs(cx: &Cx<'_>, seed: &Seed, subnets: &Seen<Vec<SubnetRow>>) -> Vec<FieldDiff> {
    let Ok(list) = subnets else { return Vec::new() };
    let plan = &cx.site.numbering;
    let (subnet, gateway) = (plan.subnet(seed.index), plan.gateway(seed.index));
    let object = format!("subnet {subnet}");
    let mut out = Vec::new();
    match list.iter().find(|s| s.derived) {
        None => out.push(diff(object, "subnet", subnet, "absent")),
        Some(s) => {
            if s.gateway != Some(gateway) {
                let seen = s.gateway.map_or("–".to_owned(), |g| g.to_string());
                out.push(diff(object.clone(), "gateway", gateway, seen));
            }
            if !s.snat {
                out.push(diff(object, "snat", "1", "0"));
            }
        }
    }
    for extra in list.iter().filter(|s| !s.derived) {
        out.push(diff(format!("subnet {}", extra.cidr), "subnet", "absent", "present"));
    }
    out
}

/// What each node that is to carry the VNet says of it, or why it does not.
fn realised(cx: &Cx<'_>, vnet: &Vnet) -> Vec<(Arc<str>, Seen<String>)> {
    let Some((pve, Ok(resources))) = cx.pve.map(|p| (p, p.resources.as_ref())) else { return Vec::new() };
    let due = resources.zones.iter().filter(|z| z.zone == vnet.zone);
    due.map(|z| {
        let said = match pve.node_vnets.get(&(z.node.clone(), z.zone.clone())) {
            Some(Ok(rows)) => Ok(rows.iter().find(|r| r.vnet == vnet.vnet).map_or("not realised".to_owned(), status)),
            Some(Err(gap)) => Err(gap.clone()),
            None if z.status == "unknown" => Err(silent(cx.site.short_name(&z.node))),
            None => Err(Gap::not_read("what this node carries")),
        };
        (Arc::from(clean(&z.node)), said)
    })
    .collect()
}

fn status(r: &NodeVnet) -> String {
    match &r.message {
        Some(m) if r.status != "available" => format!("{}: {}", clean(&r.status), clean(m)),
        _ => clean(&r.status).into_owned(),
    }
}

fn silent(node: &str) -> Gap {
    Gap::new(GapKind::NoAnswer, format!("{} does not answer: what it carries is not known", clean(node)))
}

/// The fabric layer of one tenant.
pub(super) fn layer(cx: &Cx<'_>, seed: &Seed) -> Layer {
    let sdn = match cx.sdn() {
        Ok(sdn) => sdn,
        Err(gap) => return Layer::unknown(gap),
    };
    let Some(z) = find_zone(sdn, &seed.name) else {
        if let Some(hidden) = cx.pve.and_then(|p| p.zones_hidden.clone()) {
            return Layer::unknown(hidden);
        }
        return Layer::known(Presence::Absent, Class::Absent, "absent");
    };
    let Some(zone) = z.current() else { return Layer::known(Presence::Absent, Class::Absent, "absent") };
    let mut diffs: Vec<FieldDiff> = vni_clash(sdn, zone).into_iter().chain(zone_diffs(cx, zone)).collect();
    let first = vnet_id(&seed.name, 0);
    let vnet = find_vnet(sdn, &first);
    match vnet.and_then(|v| v.current().map(|c| (v, c))) {
        None => diffs.push(diff(format!("VNet {first}"), "vnet", "present", "absent")),
        Some((v, vnet)) => diffs.extend(vnet_row(cx, sdn, v, vnet).diffs),
    }
    let waits = sdn_waits(sdn, z, &seed.name);
    if let Some((change, what)) = waits {
        let words = match change {
            Change::New => "new, not applied",
            Change::Deleted => "leaving, not applied",
            _ => "changed, not applied",
        };
        let mut layer = Layer::known(Presence::Pending, Class::Pending, format!("{what} {words}"));
        layer.diffs = diffs;
        return layer;
    }
    let realised = unrealised(cx, zone);
    if let Some(Ok(words)) = realised {
        let mut layer = Layer::known(Presence::Differs, Class::Fault, words);
        layer.diffs = diffs;
        return layer;
    }
    if let Some(d) = diffs.first() {
        let words = brief(d);
        // Without an exit node there is no way out at all.
        let closed = |d: &FieldDiff| d.field == "exitnodes" && d.observed == "–";
        let broken = |d: &FieldDiff| d.observed == "absent" || d.observed.starts_with("shared with ") || closed(d);
        let class = if diffs.iter().any(broken) { Class::Fault } else { Class::Differs };
        let mut layer = Layer::known(Presence::Differs, class, words);
        layer.diffs = diffs;
        return layer;
    }
    if let Some(Err(gap)) = realised {
        return Layer::unknown(gap);
    }
    if vnet.is_some() && !sdn.subnets.contains_key(&first) {
        let told = cx.pve.and_then(|p| p.subnet_gaps.get(&first)).cloned();
        return Layer::unknown(told.unwrap_or_else(|| Gap::not_read("the subnets of its VNet")));
    }
    Layer::known(Presence::Present, Class::Fine, "present")
}

/// A few words for a difference, as the summary shows it.
fn brief(d: &FieldDiff) -> String {
    match (d.field.as_str(), d.observed.as_str()) {
        ("snat", _) => "SNAT off".to_owned(),
        (_, "absent") => format!("no {}", d.object),
        (field, _) => format!("{field} differs"),
    }
}

/// The first pending object of a tenant: the zone, a VNet of it, or a subnet of one.
fn sdn_waits(sdn: &SdnConfig, zone: &Sdn<Zone>, name: &str) -> Option<(Change, String)> {
    if zone.change != Change::None {
        return Some((zone.change, "zone".to_owned()));
    }
    let own = || sdn.vnets.iter().filter(|v| v.current().is_some_and(|v| v.zone == name));
    if let Some(v) = own().find(|v| v.change != Change::None) {
        return Some((v.change, "VNet".to_owned()));
    }
    own()
        .filter_map(|v| sdn.subnets.get(&v.current()?.vnet))
        .flatten()
        .find(|s| s.change != Change::None)
        .map(|s| (s.change, "subnet".to_owned()))
}

/// What a node says of the zone when it is not "available": broken there, or not known because the node is silent.
fn unrealised(cx: &Cx<'_>, zone: &Zone) -> Option<Result<String, Gap>> {
    let resources = cx.pve?.resources.as_ref().ok()?;
    let due = |node: &String| zone.nodes.is_empty() || zone.nodes.contains(node);
    let states = || resources.zones.iter().filter(|s| s.zone == zone.zone && due(&s.node) && s.status != "available");
    let broken = states().find(|s| s.status != "unknown").map(|s| {
        let node = cx.site.short_name(&s.node);
        Ok(if s.status == "pending" {
            format!("not realised on {node}")
        } else {
            format!("{} on {node}", clean(&s.status))
        })
    });
    broken.or_else(|| Some(Err(silent(cx.site.short_name(&states().next()?.node)))))
}

fn zone_diffs(cx: &Cx<'_>, zone: &Zone) -> Vec<FieldDiff> {
    let object = format!("zone {}", clean(&zone.zone));
    let site = cx.site;
    let mut out = Vec::new();
    let mut check = |field: &str, expected: String, observed: String| {
        if expected != observed {
            out.push(diff(object.clone(), field, expected, clean(&observed)));
        }
    };
    let dash = || "–".to_owned();
    check("controller", site.proxmox.controller.clone(), zone.controller.clone().unwrap_or_else(dash));
    let exits: Vec<&str> = site.exit_nodes.iter().map(|e| e.name.as_str()).collect();
    let strange: Vec<&str> = zone.exit_nodes.iter().map(String::as_str).filter(|e| !exits.contains(e)).collect();
    if zone.exit_nodes.is_empty() || !strange.is_empty() {
        let seen = if zone.exit_nodes.is_empty() { dash() } else { zone.exit_nodes.join(",") };
        check("exitnodes", exits.join(","), seen);
    }
    if let Some(primary) = zone.exit_nodes_primary.as_ref().filter(|p| !zone.exit_nodes.contains(p)) {
        check("exitnodes-primary", zone.exit_nodes.join(","), primary.clone());
    }
    if !zone.nodes.is_empty() && !zone.nodes.contains(&site.proxmox.node) {
        check("nodes", site.proxmox.node.clone(), zone.nodes.join(","));
    }
    out
}
