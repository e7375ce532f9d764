//! The registry against the fabric: who owns a tenant, what the two say differently, who is registered and not there.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::super::entities::{FieldDiff, Inventory, Layer, Owner, Registration};
use super::super::readings::RegistryReading;
use super::super::source::{Gap, GapKind, Seen, SourceId};
use super::super::{Class, Presence};
use super::{Cx, Seed, diff, source_gap};
use crate::backends::exit_node::model::Readout;
use crate::backends::registry::Tenant;
use crate::site::numbering::TenantIndex;

/// The reading, or why nothing is concluded from it: it was never read, or it is old.
fn reading<'a>(cx: &Cx<'a>) -> Seen<&'a RegistryReading> {
    let gap = source_gap(cx.readings, SourceId::Registry, "the registry");
    match &cx.readings.registry {
        Some(reading) if cx.readings.sources.get(SourceId::Registry).error.is_none() => Ok(reading),
        _ => Err(gap),
    }
}

/// Who owns the tenant of `seed`.
pub(super) fn owner(cx: &Cx<'_>, seed: &Seed) -> Owner {
    let reading = match reading(cx) {
        Ok(reading) => reading,
        Err(gap) if gap.kind == GapKind::Off => return Owner::Console,
        Err(gap) => return Owner::Unknown(gap),
    };
    let Some(entry) = reading.tenants.iter().find(|t| *t.name == *seed.name) else { return Owner::Unregistered };
    let only = cx.is_tenant(&seed.name).is_none();
    Owner::Registry(Arc::new(Registration {
        egress: reading.egress.as_ref().map_err(Clone::clone).map(|e| e.iter().any(|v| *v.tenant == *seed.name)),
        diffs: if only { Vec::new() } else { diffs(cx, seed, entry) },
        entry: entry.clone(),
        only,
    }))
}

/// What an entry says otherwise than the index of the fabric derives. What it leaves out is no difference.
fn diffs(cx: &Cx<'_>, seed: &Seed, entry: &Tenant) -> Vec<FieldDiff> {
    let plan = &cx.site.numbering;
    let mut out = Vec::new();
    let mut check = |field: &str, fabric: String, registry: Option<String>| {
        if let Some(registry) = registry.filter(|r| *r != fabric) {
            out.push(diff(format!("registration of {}", seed.name), field, fabric, registry));
        }
    };
    check("index", seed.index.get().to_string(), entry.index.map(|i| i.to_string()));
    check("vrf_vni", plan.vrf_vni(seed.index).to_string(), entry.vrf_vni.map(|v| v.to_string()));
    check("vnet_vni_base", plan.vnet_vni_base_of(seed.index).to_string(), entry.vnet_vni.map(|v| v.to_string()));
    check("subnet", plan.subnet(seed.index).to_string(), entry.subnet.map(|s| s.to_string()));
    check("gateway", plan.gateway(seed.index).to_string(), entry.gateway.map(|g| g.to_string()));
    out
}

/// Tenants of the registry that no zone of the fabric bears, as far as the fabric is known and their index is one.
pub(super) fn only(cx: &Cx<'_>) -> Vec<Seed> {
    let (Some(reading), Ok(_)) = (&cx.readings.registry, cx.sdn()) else { return Vec::new() };
    let absent = reading.tenants.iter().filter(|t| cx.is_tenant(&t.name).is_none());
    absent
        .filter_map(|t| Some(Seed { name: Arc::from(t.name.as_str()), index: TenantIndex::new(t.index?).ok()? }))
        .collect()
}

/// The node layer of a tenant that only the registry knows: no VRF is expected, and none should be there.
pub(super) fn node_layer(cx: &Cx<'_>, seed: &Seed) -> Layer {
    let device = format!("vrf_{}", seed.name);
    for exit in &cx.site.exit_nodes {
        if let Some(stale) = cx.readings.stale_exits.get(&exit.name) {
            return Layer::unknown(stale.clone());
        }
        let reading = match cx.readings.exits.get(&exit.name) {
            Some(Ok(reading)) => reading,
            Some(Err(gap)) => return Layer::unknown(gap.clone()),
            None => return Layer::unknown(source_gap(cx.readings, SourceId::Exit, "the exit node")),
        };
        match &reading.links {
            Readout::Value(links) if links.iter().any(|l| l.name == device) => {
                return Layer::known(Presence::Differs, Class::Differs, "VRF without a zone");
            }
            Readout::Value(_) => {}
            Readout::Unread(unread) => return Layer::unknown(Gap::from(unread)),
        }
    }
    Layer::known(Presence::Absent, Class::Absent, "absent")
}

/// What the registry and the fabric disagree about, in sentences: tenant, sentence.
pub(super) fn disagreements(inv: &Inventory, reading: Option<&RegistryReading>) -> Vec<(Arc<str>, String)> {
    let mut out = Vec::new();
    for t in &inv.tenants {
        let Some(registration) = t.owner.registration() else { continue };
        if registration.only && t.layers.fabric.presence == Presence::Absent {
            let status = registration.entry.status.word();
            out.push((
                Arc::clone(&t.name),
                format!("registered as index {} ({status}), absent from the fabric", t.index),
            ));
        }
        if let Some(d) = registration.diffs.first() {
            let what = format!("the registry has {} {}, the fabric {}", d.field, d.observed, d.expected);
            out.push((Arc::clone(&t.name), what));
        }
    }
    for entry in reading.iter().flat_map(|r| r.tenants.iter()) {
        if entry.index.is_none_or(|i| TenantIndex::new(i).is_err()) && inv.tenant(&entry.name).is_none() {
            let index = entry.index.map_or_else(|| "no index".to_owned(), |i| format!("index {i}"));
            out.push((Arc::from(entry.name.as_str()), format!("registered with {index}, which no tenant can have")));
        }
    }
    out
}
