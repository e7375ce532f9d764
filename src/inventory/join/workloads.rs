//! VMs against the index: whose they are, what differs, what was not read.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::SignedDuration;

use super::super::entities::{Layer, Origin, Workload};
use super::super::source::{Gap, GapKind, Seen};
use super::super::{Class, FieldDiff, Presence};
use super::{Cx, Seed, diff, vnet_id};
use crate::backends::proxmox::model::{Vm, VmConfig};
use crate::text::clean;

/// Rows in tenant order, then VMID; VMs of nobody's index last.
pub(super) fn rows(cx: &Cx<'_>) -> Seen<Vec<Workload>> {
    let Some(pve) = cx.pve else { return Err(cx.pve_gap("the guest list")) };
    let resources = pve.resources.as_ref().map_err(Clone::clone)?;
    cx.sdn()?;
    // The room that they need: there may be tens of thousands.
    let mut rows: Vec<Workload> = Vec::with_capacity(resources.vms.len());
    rows.extend(resources.vms.iter().filter(|vm| !vm.template).filter_map(|vm| row(cx, vm)));
    if let (true, Some(gap)) = (rows.is_empty(), &pve.guests_hidden) {
        return Err(gap.clone());
    }
    let place: HashMap<&str, usize> = cx.seeds.iter().enumerate().map(|(i, s)| (&*s.name, i)).collect();
    rows.sort_by_cached_key(|w| (place.get(&*w.tenant).copied().unwrap_or(usize::MAX), w.vmid));
    Ok(rows)
}

/// The configuration of a VM: read, refused, not read yet, or out of reach with its node.
fn config(cx: &Cx<'_>, vm: &Vm) -> Seen<Arc<VmConfig>> {
    let missing = || Err(unread(cx, vm, "this VM's configuration"));
    cx.pve.and_then(|p| p.configs.get(&vm.vmid)).map_or_else(missing, Clone::clone)
}

/// Why something of a VM was not read.
fn unread(cx: &Cx<'_>, vm: &Vm, what: &str) -> Gap {
    if vm.status == "unknown" {
        let node = clean(cx.site.short_name(&vm.node));
        return Gap::new(GapKind::NoAnswer, format!("{node} does not answer: {what} is not known"));
    }
    cx.not_read(what)
}

fn row(cx: &Cx<'_>, vm: &Vm) -> Option<Workload> {
    let config = config(cx, vm);
    let band = cx.site.numbering.index_of_vmid(vm.vmid);
    let holder = band.and_then(|(index, _)| cx.seeds.iter().find(|s| s.index == index));
    let guest_of = on_vnet(cx, config.as_ref().ok().map(|c| &**c)).or_else(|| named_like(cx, vm));
    let (tenant, seed, origin) = match (holder, band, guest_of) {
        (Some(seed), _, _) => (Arc::clone(&seed.name), Some(seed), origin(seed, vm)),
        (None, _, Some((seed, how))) => {
            (Arc::clone(&seed.name), None, Origin::Foreign(format!("VMID {} is outside its band; {how}", vm.vmid)))
        }
        (None, Some((index, _)), None) => (
            Arc::from("–"),
            None,
            Origin::Foreign(format!(
                "VMID {} belongs to index {}, which no {} holds",
                vm.vmid,
                index.get(),
                cx.anybody()
            )),
        ),
        (None, None, None) => return None,
    };
    Some(build(cx, vm, tenant, seed, band.map(|(_, k)| k), origin, config))
}

fn origin(seed: &Seed, vm: &Vm) -> Origin {
    let Some(name) = &vm.name else { return Origin::Ours };
    match name.strip_prefix(&*seed.name).and_then(|rest| rest.strip_prefix('-')) {
        Some(rest) if !rest.is_empty() => Origin::Ours,
        _ => Origin::Foreign(format!("its name does not read {}-…", seed.name)),
    }
}

/// The tenant on whose VNet a VM sits.
fn on_vnet<'a>(cx: &'a Cx<'_>, config: Option<&VmConfig>) -> Option<(&'a Seed, String)> {
    let sdn = cx.sdn().ok()?;
    config?.nets.values().filter_map(|n| n.bridge.as_deref()).find_map(|bridge| {
        let vnet = sdn.vnets.iter().filter_map(|v| v.current()).find(|v| v.vnet == bridge)?;
        Some((cx.is_tenant(&vnet.zone)?, format!("it sits on {}", clean(bridge))))
    })
}

/// The tenant whose name a VM borrows.
fn named_like<'a>(cx: &'a Cx<'_>, vm: &Vm) -> Option<(&'a Seed, String)> {
    let (head, _) = vm.name.as_deref()?.split_once('-')?;
    Some((cx.is_tenant(head)?, "its name is the tenant's".to_owned()))
}

/// A VM's name without its tenant's.
fn short<'a>(name: &'a str, tenant: &str) -> &'a str {
    let rest = name.strip_prefix(tenant).and_then(|rest| rest.strip_prefix('-'));
    rest.filter(|rest| !rest.is_empty()).unwrap_or(name)
}

fn build(
    cx: &Cx<'_>,
    vm: &Vm,
    tenant: Arc<str>,
    seed: Option<&Seed>,
    ordinal: Option<u32>,
    origin: Origin,
    config: Seen<Arc<VmConfig>>,
) -> Workload {
    let plan = &cx.site.numbering;
    let ordinal = seed.and(ordinal);
    let derived_address = seed.zip(ordinal).and_then(|(s, k)| plan.workload_address(s.index, k));
    let vm_name = vm.name.as_deref().map(|n| cx.text(clean(n)));
    let name = vm_name.as_deref().map_or_else(|| cx.text(vm.vmid.to_string()), |n| cx.text(short(n, &tenant)));
    let field = |f: fn(&VmConfig) -> Option<&str>| -> Seen<Option<Arc<str>>> {
        config.as_ref().map_err(Clone::clone).map(|c| f(c).map(|t| cx.text(clean(t))))
    };
    let diffs = match (&config, seed, ordinal) {
        (Ok(c), Some(s), Some(k)) => diffs(cx, vm, c, s, k),
        _ => Vec::new(),
    };
    let pending = cx.pve.and_then(|p| p.vm_pending.get(&vm.vmid));
    Workload {
        names: super::names::unread_names(cx),
        checkin: super::checkins::unread(cx),
        derived_address,
        ordinal: ordinal.and_then(|k| u8::try_from(k).ok()),
        node: cx.text(clean(&vm.node)),
        class: class(vm),
        status: cx.text(clean(&vm.status)),
        lock: vm.lock.as_deref().map(|l| cx.text(clean(l))),
        address: field(|c| c.ipconfigs.get(&0).and_then(|i| i.ip.as_deref())),
        mac: field(|c| c.nets.get(&0).and_then(|n| n.mac.as_deref())),
        bridge: field(|c| c.nets.get(&0).and_then(|n| n.bridge.as_deref())),
        nameserver: field(|c| c.nameserver.as_deref()),
        uuid: field(|c| c.smbios_uuid.as_deref()),
        agent: config.as_ref().map(|c| c.agent).map_err(Clone::clone),
        pending: pending.map_or_else(
            || Err(unread(cx, vm, "what waits for a cold start")),
            |p| {
                let waits = |o: &&crate::backends::proxmox::model::PendingOption| o.pending.is_some() || o.delete;
                p.as_ref()
                    .map_err(Clone::clone)
                    .map(|p| p.iter().filter(waits).map(|o| clean(&o.key).into_owned()).collect())
            },
        ),
        cpu: vm.cpu,
        cpus: vm.cpus,
        mem: vm.mem,
        maxmem: vm.maxmem,
        maxdisk: vm.maxdisk,
        started_at: started_at(cx, vm),
        vmid: vm.vmid,
        tenant,
        name,
        vm_name,
        origin,
        diffs,
    }
}

/// Uptime as a moment, to the minute, so that it stands still between readings.
fn started_at(cx: &Cx<'_>, vm: &Vm) -> Option<jiff::Timestamp> {
    let up = vm.uptime_s.filter(|s| *s > 0)?;
    let at = cx.pve?.at.checked_sub(SignedDuration::from_secs(i64::try_from(up).ok()?)).ok()?;
    jiff::Timestamp::from_second(at.as_second() / 60 * 60).ok()
}

fn class(vm: &Vm) -> Class {
    match (vm.lock.is_some(), vm.status.as_str()) {
        (true, _) => Class::Progress,
        (false, "running") => Class::Fine,
        (false, "stopped") => Class::Absent,
        (false, _) => Class::Unknown,
    }
}

fn diffs(cx: &Cx<'_>, vm: &Vm, config: &VmConfig, seed: &Seed, k: u32) -> Vec<FieldDiff> {
    let plan = &cx.site.numbering;
    let object = format!("VM {}", vm.vmid);
    let dash = || "–".to_owned();
    let mut out = Vec::new();
    let mut check = |field: &str, expected: Option<String>, observed: Option<String>| {
        let Some(expected) = expected else { return };
        let observed = observed.map_or_else(dash, |o| clean(&o).into_owned());
        if !expected.eq_ignore_ascii_case(&observed) {
            out.push(diff(object.clone(), field, expected, observed));
        }
    };
    let net = config.nets.get(&0);
    check("net0 bridge", Some(vnet_id(&seed.name, 0)), net.and_then(|n| n.bridge.clone()));
    check("net0 mac", plan.mac(vm.vmid).map(|m| m.to_string()), net.and_then(|n| n.mac.clone()));
    let ip = config.ipconfigs.get(&0);
    let address = plan.workload_address(seed.index, k);
    check("ipconfig0 ip", address.map(|a| format!("{a}/24")), ip.and_then(|i| i.ip.clone()));
    check("ipconfig0 gw", Some(plan.gateway(seed.index).to_string()), ip.and_then(|i| i.gateway.clone()));
    let resolver = cx
        .site
        .resolvers
        .as_ref()
        .map(|r| r.perimeter.to_string())
        .or_else(|| cx.site.exit_nodes.first().map(|e| e.transit_gateway.to_string()));
    check("nameserver", resolver, config.nameserver.clone());
    out
}

/// The workloads layer of one tenant.
///
/// `gap` = why nothing can be said; `hidden` = why there may be more than is shown.
pub(super) fn layer(own: &[Workload], gap: Option<&Gap>, hidden: Option<&Gap>) -> Layer {
    if let Some(gap) = gap {
        return Layer::unknown(gap.clone());
    }
    if let (true, Some(hidden)) = (own.is_empty(), hidden) {
        return Layer::unknown(hidden.clone());
    }
    if own.is_empty() {
        return Layer::known(Presence::Absent, Class::Absent, "none");
    }
    let running = own.iter().filter(|w| &*w.status == "running").count();
    let unknown = own.iter().filter(|w| w.class == Class::Unknown).count();
    let more = if hidden.is_some() { ", others hidden" } else { "" };
    let words = format!("{running} of {} running{more}", own.len());
    if unknown > 0 {
        let mut layer = Layer::known(Presence::Unknown, Class::Unknown, format!("{unknown} of {} unknown", own.len()));
        layer.gap = Some(Gap::new(GapKind::NoAnswer, "the node that carries them does not answer"));
        return layer;
    }
    let diffs: Vec<FieldDiff> = own.iter().flat_map(|w| w.diffs.clone()).collect();
    let strange = own.iter().filter(|w| matches!(w.origin, Origin::Foreign(_))).count();
    if !diffs.is_empty() {
        return Layer { presence: Presence::Differs, class: Class::Differs, words, diffs, gap: None };
    }
    if strange > 0 {
        return Layer::known(Presence::Differs, Class::Differs, format!("{words}, {strange} foreign"));
    }
    let class = if running < own.len() { Class::Warning } else { Class::Fine };
    Layer::known(Presence::Present, class, words)
}
