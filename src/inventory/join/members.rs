//! The fabric view: members, controllers, pending edits, lock, what belongs to nobody's index.

use std::sync::Arc;

use super::super::entities::{FabricView, Member};
use super::super::source::{Gap, GapKind, Seen};
use super::super::{Class, PveReading};
use super::{Cx, fabric, node, pending};
use crate::backends::exit_node::model::Reading;
use crate::backends::proxmox::model::{LockState, NodeResource, SdnConfig};
use crate::text::clean;

/// Builds the fabric view.
pub(super) fn view(cx: &Cx<'_>) -> FabricView {
    let pve_part = |what: &str| cx.pve.ok_or_else(|| cx.pve_gap(what));
    FabricView {
        members: members(cx),
        controllers: cx.sdn().map(controllers),
        fabrics: cx.sdn().map(fabrics),
        pending: pending::edits(cx),
        lock: cx.pve.map_or(LockState::NotTried, |p| p.lock.clone()),
        quorate: pve_part("the cluster status")
            .and_then(|p| p.cluster.as_ref().map_err(Clone::clone))
            .map(|c| c.quorate),
        foreign_zones: fabric::foreign(cx),
        version: pve_part("the version")
            .and_then(|p| p.version.as_ref().map_err(Clone::clone))
            .map(|v| clean(&v.version).into_owned()),
    }
}

fn controllers(sdn: &SdnConfig) -> Vec<(String, String, Option<u32>)> {
    sdn.controllers
        .iter()
        .filter_map(|c| c.current())
        .map(|c| (clean(&c.controller).into_owned(), clean(&c.kind).into_owned(), c.asn))
        .collect()
}

fn fabrics(sdn: &SdnConfig) -> Vec<(String, String, Option<String>)> {
    sdn.fabrics
        .iter()
        .filter_map(|f| f.current())
        .map(|f| {
            let prefix = f.ip_prefix.as_deref().map(|p| clean(p).into_owned());
            (clean(&f.id).into_owned(), clean(&f.protocol).into_owned(), prefix)
        })
        .collect()
}

/// Every node that Proxmox, the fabric or the site file names.
fn members(cx: &Cx<'_>) -> Vec<Member> {
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        let name = clean(name).into_owned();
        if !names.contains(&name) {
            names.push(name);
        }
    };
    cx.site.exit_nodes.iter().for_each(|e| add(&e.name));
    if let Ok(sdn) = cx.sdn() {
        sdn.fabric_nodes.iter().filter_map(|n| n.current()).for_each(|n| add(&n.node));
    }
    if let Some(pve) = cx.pve {
        if let Ok(resources) = &pve.resources {
            resources.nodes.iter().for_each(|n| add(&n.node));
        }
        if let Ok(cluster) = &pve.cluster {
            cluster.nodes.iter().for_each(|n| add(&n.name));
        }
    }
    names.into_iter().map(|name| member(cx, &name)).collect()
}

fn member(cx: &Cx<'_>, name: &str) -> Member {
    let resource = cx.pve.and_then(|p| p.resources.as_ref().ok()).and_then(|r| r.nodes.iter().find(|n| n.node == name));
    let cluster = cx.pve.and_then(|p| p.cluster.as_ref().ok()).and_then(|c| c.nodes.iter().find(|n| n.name == name));
    let fabric_node = cx
        .sdn()
        .ok()
        .and_then(|sdn| sdn.fabric_nodes.iter().filter_map(|n| n.current()).find(|n| n.node == name).cloned());
    let (frr, sdn_version) = versions(&reading(cx, name));
    let online = match (cluster, resource) {
        (Some(c), _) => Ok(c.online),
        (None, Some(r)) => Ok(r.status == "online"),
        (None, None) => Err(unseen(cx)),
    };
    let zones = zones(cx, name);
    let staged = cx.pve.and_then(|p| p.staged.get(name)).map_or_else(
        || Err(Gap::not_read("staged interface changes")),
        |s| s.as_ref().map_err(Clone::clone).map(Option::is_some),
    );
    let (class, word) = verdict(&online, &zones);
    Member {
        in_fabric: cx.sdn().map(|_| fabric_node.is_some()),
        exit_node: cx.site.exit_nodes.iter().any(|e| e.name == name),
        management: cluster.and_then(|c| c.ip).map(|ip| ip.to_string()),
        vtep: fabric_node.as_ref().and_then(|n| n.ip.as_deref()).map(|ip| clean(ip).into_owned()),
        underlay: fabric_node.map(|n| n.interfaces.iter().map(|i| clean(i).into_owned()).collect()).unwrap_or_default(),
        pve: pve_version(cx.pve, name),
        frr,
        sdn_version,
        cpu: resource.and_then(|r| r.cpu),
        mem: resource.and_then(|r: &NodeResource| r.mem.zip(r.maxmem)),
        node: Arc::from(name),
        online,
        zones,
        staged,
        class,
        word,
    }
}

/// Why Proxmox says nothing of a node.
fn unseen(cx: &Cx<'_>) -> Gap {
    let Some(pve) = cx.pve else { return cx.pve_gap("this node's state") };
    let gap = pve.cluster.as_ref().err().or(pve.resources.as_ref().err()).cloned();
    gap.unwrap_or_else(|| Gap::new(GapKind::Failed, "Proxmox has no node of this name"))
}

/// The reading of an exit node; a node that is none has nothing to read.
fn reading<'a>(cx: &'a Cx<'_>, name: &str) -> Seen<&'a Reading> {
    if !cx.site.exit_nodes.iter().any(|e| e.name == name) {
        return Err(Gap::new(GapKind::Off, "not an exit node of this site"));
    }
    match cx.readings.exits.get(name) {
        Some(Ok(r)) => Ok(r),
        Some(Err(gap)) => Err(gap.clone()),
        None => Err(super::source_gap(cx.readings, super::SourceId::Exit, "this exit node")),
    }
}

/// FRR version and SDN version of an exit node.
fn versions(reading: &Seen<&Reading>) -> (Seen<String>, Seen<u64>) {
    match reading {
        Err(gap) => (Err(gap.clone()), Err(gap.clone())),
        Ok(r) => {
            let silent = || Gap::new(GapKind::Denied, "vtysh did not answer");
            let frr = node::seen(&r.frr).and_then(|f| f.version.clone().ok_or_else(silent));
            (frr, node::seen(&r.sdn_version).copied())
        }
    }
}

fn pve_version(pve: Option<&PveReading>, node: &str) -> Seen<String> {
    let status = pve.and_then(|p| p.nodes.get(node)).ok_or_else(|| Gap::not_read("this node's status"))?;
    let version = status.as_ref().map_err(Clone::clone)?.pve_version.as_deref();
    let version = version.ok_or_else(|| Gap::new(GapKind::Failed, "the node names no version"))?;
    Ok(clean(version.split('/').nth(1).unwrap_or(version)).into_owned())
}

/// Applied zones that the node carries out, of those that it should.
fn zones(cx: &Cx<'_>, node: &str) -> Seen<(u32, u32)> {
    let sdn = cx.sdn()?;
    let pve = cx.pve.ok_or_else(|| cx.pve_gap("the zones of this node"))?;
    let resources = pve.resources.as_ref().map_err(Clone::clone)?;
    let due: Vec<&str> = sdn
        .zones
        .iter()
        .filter_map(|z| z.running.as_ref())
        .filter(|z| z.nodes.is_empty() || z.nodes.iter().any(|n| n == node))
        .map(|z| z.zone.as_str())
        .collect();
    let done = resources
        .zones
        .iter()
        .filter(|z| z.node == node && z.status == "available" && due.contains(&z.zone.as_str()))
        .count();
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Ok((count(done), count(due.len())))
}

fn verdict(online: &Seen<bool>, zones: &Seen<(u32, u32)>) -> (Class, String) {
    match (online, zones) {
        (Ok(false), _) => (Class::Fault, "offline".to_owned()),
        (Err(gap), _) => (Class::Unknown, gap.word().to_owned()),
        (Ok(true), Ok((done, due))) if done < due => (Class::Warning, format!("{done} of {due} zones")),
        (Ok(true), Ok(_)) => (Class::Fine, "online".to_owned()),
        (Ok(true), Err(gap)) => (Class::Unknown, format!("online, zones {}", gap.word())),
    }
}
