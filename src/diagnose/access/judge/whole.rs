//! The site file as a whole against what the cluster has: names that must exist, numbers that must fit.

use std::collections::BTreeSet;
use std::time::Duration;

use super::super::facts::{Facts, ProxmoxFacts, Tried};
use super::super::rights::{self, PveLack};
use super::super::{Check, Source, State};
use crate::backends::proxmox::endpoints::{self as pve, Privilege};
use crate::site::Site;

pub(super) fn source(site: &Site, facts: &Facts) -> Source {
    let seen = &facts.proxmox;
    let mut checks = vec![node("node", &site.proxmox.node, "[proxmox] node", seen)];
    for exit in &site.exit_nodes {
        checks.push(node("exit node", &exit.name, "[[exit_node]] name", seen));
    }
    checks.push(controller(site, seen));
    checks.extend(fabric(site, seen));
    checks.push(numbering(site, seen));
    checks.extend(template(site, seen));
    checks.extend(storage(site, seen));
    let target = if site.read_only { format!("{}, read only", site.name) } else { site.name.clone() };
    super::source("site", target, Duration::ZERO, checks)
}

/// A mismatch between the file and the cluster: the file is wrong, or the cluster is not the one that was meant.
fn wrong(what: &'static str, text: String, known: &[String]) -> Check {
    let mut check = Check::new(what, State::Fault, text).help("Correct the site file.");
    check.configuration = true;
    match known {
        [] => check,
        known => check.evidence(format!("there is {}", known.join(", "))),
    }
}

/// Where a list is not there.
fn unread<T>(what: &'static str, tried: &Tried<T>) -> Check {
    let why = match tried {
        Tried::Failed(fault) => format!("the list could not be read: {}", fault.why),
        Tried::NotRun(why) => return Check::new(what, State::NotRun, why.clone()),
        Tried::Got(_) => "the list may be incomplete".to_owned(),
    };
    Check::new(what, State::Unknown, why)
}

/// Absent from a list that hides what may not be seen: a fault only where the list is whole.
fn absent(what: &'static str, text: String, known: &[String], need: &Privilege, seen: &ProxmoxFacts) -> Check {
    match seen.permissions.got() {
        Some(held) if need.sees_all(held) => wrong(what, text, known),
        Some(_) => {
            let privilege = need.any_of.first().copied().unwrap_or_default();
            let check =
                Check::new(what, State::Unknown, format!("{text}, or it is hidden: the token lacks {privilege}"));
            let root = format!("/{}", need.path.trim_start_matches('/').split('/').next().unwrap_or_default());
            let lack = PveLack { privilege, path: root, endpoints: BTreeSet::new(), later: false };
            check.help("As root on a node of the cluster:").commands(rights::pveum(&[&lack], seen.token_id.as_deref()))
        }
        None => Check::new(what, State::Unknown, format!("{text}, or it is hidden: the token's rights are not known")),
    }
}

fn node(what: &'static str, name: &str, key: &str, seen: &ProxmoxFacts) -> Check {
    let Some(nodes) = seen.nodes.got() else { return unread(what, &seen.nodes) };
    if nodes.iter().any(|node| node == name) {
        return Check::ok(what, name);
    }
    wrong(what, format!("the cluster has no node {name} ({key})"), nodes)
}

fn controller(site: &Site, seen: &ProxmoxFacts) -> Check {
    let what = "controller";
    let Some(all) = seen.controllers.got() else { return unread(what, &seen.controllers) };
    let name = &site.proxmox.controller;
    let Some(found) = all.iter().find(|c| c.controller == *name) else {
        let known: Vec<String> = all.iter().map(|c| c.controller.clone()).collect();
        return absent(what, format!("there is no controller {name}"), &known, &pve::CONTROLLERS.privilege, seen);
    };
    if found.kind != "evpn" {
        return wrong(what, format!("{name} is of type {}, not evpn", found.kind), &[]);
    }
    match found.asn {
        Some(asn) if asn != site.numbering.asn => {
            wrong(what, format!("{name} has ASN {asn}, [numbering] asn is {}", site.numbering.asn), &[])
        }
        Some(asn) => Check::ok(what, format!("{name}, ASN {asn}")),
        None => Check::new(what, State::Unknown, format!("{name} tells no ASN")),
    }
}

fn fabric(site: &Site, seen: &ProxmoxFacts) -> Option<Check> {
    let what = "fabric";
    let name = site.proxmox.fabric.as_ref()?;
    let Some(all) = seen.fabrics.got() else { return Some(unread(what, &seen.fabrics)) };
    if all.contains(name) {
        return Some(Check::ok(what, name.clone()));
    }
    Some(absent(what, format!("there is no fabric {name}"), all, &pve::FABRICS.privilege, seen))
}

/// Whether zones of the controller fall into the band of tenants at all.
fn numbering(site: &Site, seen: &ProxmoxFacts) -> Check {
    let what = "numbering";
    let Some(zones) = seen.zones.got() else { return unread(what, &seen.zones) };
    let ours: Vec<_> =
        zones.iter().filter(|zone| zone.controller.as_deref() == Some(site.proxmox.controller.as_str())).collect();
    let inside = |vni: Option<u32>| vni.is_some_and(|vni| site.numbering.index_of_vrf_vni(vni).is_some());
    let fits = ours.iter().filter(|zone| inside(zone.vrf_vxlan)).count();
    let outside: Vec<String> = ours
        .iter()
        .filter(|zone| !inside(zone.vrf_vxlan))
        .map(|zone| {
            format!("{} has VRF VNI {}", zone.zone, zone.vrf_vxlan.map_or("none".to_owned(), |v| v.to_string()))
        })
        .collect();
    let base = site.numbering.vrf_vni_base;
    if ours.is_empty() {
        let text = "no zone to compare with";
        let whole = seen.permissions.got().is_some_and(|held| pve::ZONES.privilege.sees_all(held));
        return Check::new(what, if whole { State::Off } else { State::Unknown }, text);
    }
    if fits == 0 {
        let text = format!("no zone has a VRF VNI from {} to {}", base + 1, base + 63);
        return Check { evidence: outside, ..wrong(what, text, &[]) };
    }
    let tags = vnets(site, seen, &ours.iter().map(|z| z.zone.as_str()).collect::<Vec<_>>());
    let text = format!("{fits} of {} zones in the band", ours.len());
    Check { evidence: outside.into_iter().chain(tags).collect(), ..Check::ok(what, text) }
}

fn vnets(site: &Site, seen: &ProxmoxFacts, zones: &[&str]) -> Vec<String> {
    let all = seen.vnets.got().into_iter().flatten().filter(|vnet| zones.contains(&vnet.zone.as_str()));
    all.filter(|vnet| vnet.tag.is_none_or(|tag| site.numbering.index_of_tag(tag).is_none()))
        .map(|vnet| format!("VNet {} has VNI {}", vnet.vnet, vnet.tag.map_or("none".to_owned(), |t| t.to_string())))
        .collect()
}

fn template(site: &Site, seen: &ProxmoxFacts) -> Option<Check> {
    let what = "template";
    let prefix = site.proxmox.template_prefix.as_ref()?;
    let Some(resources) = seen.resources.got() else { return Some(unread(what, &seen.resources)) };
    let names: Vec<String> = resources.vms.iter().filter(|vm| vm.template).filter_map(|vm| vm.name.clone()).collect();
    let fit = names.iter().filter(|name| name.starts_with(prefix)).count();
    if fit > 0 {
        return Some(Check::ok(what, format!("{fit} called {prefix}…")));
    }
    Some(absent(what, format!("no template is called {prefix}…"), &names, &pve::QEMU.privilege, seen))
}

fn storage(site: &Site, seen: &ProxmoxFacts) -> Option<Check> {
    let what = "storage";
    let name = site.proxmox.storage.as_ref()?;
    let Some(resources) = seen.resources.got() else { return Some(unread(what, &seen.resources)) };
    let node = &site.proxmox.node;
    let on_node: Vec<_> = resources.storages.iter().filter(|s| s.node == *node).collect();
    let Some(found) = on_node.iter().find(|s| s.storage == *name) else {
        let known: Vec<String> = on_node.iter().map(|s| s.storage.clone()).collect();
        return Some(absent(what, format!("{node} has no storage {name}"), &known, &pve::STORAGE, seen));
    };
    if !found.content.is_empty() && !found.content.iter().any(|c| c == "images") {
        return Some(wrong(what, format!("{name} holds no disks of VMs"), &found.content));
    }
    Some(Check::ok(what, format!("{name} on {node}")))
}
