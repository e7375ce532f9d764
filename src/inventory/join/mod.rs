//! The join: readings in, [`Inventory`] out. Pure; runs in the worker, never in the UI thread.

mod attention;
pub(crate) mod checkins;
#[cfg(test)]
mod edges;
mod fabric;
mod forwards;
mod members;
mod names;
mod node;
mod pending;
mod perimeter;
mod registry;
#[cfg(test)]
mod sharing;
#[cfg(test)]
mod tests;
mod workloads;

pub use perimeter::{barred_to_tenants, kept_from_tenants};

use std::sync::Arc;

use super::entities::{FieldDiff, Inventory, Layer, Layers, Mark, Tenant, TenantStatus};
use super::readings::Readings;
use super::source::{Gap, GapKind, Seen, SourceId};
use super::texts::Texts;
use super::{Class, Presence, PveReading};
use crate::backends::proxmox::model::SdnConfig;
use crate::site::Site;
use crate::site::numbering::TenantIndex;

/// A zone of the index band, before it is joined.
struct Seed {
    name: Arc<str>,
    index: TenantIndex,
}

/// What every part of the join looks at.
struct Cx<'a> {
    site: &'a Site,
    readings: &'a Readings,
    pve: Option<&'a PveReading>,
    seeds: &'a [Seed],
    /// Tenants that only the registry knows: what other sources hold in their names is theirs.
    registered: &'a [Seed],
    /// Text that rows of all pictures share.
    texts: &'a Texts,
}

impl Cx<'_> {
    /// `text` of a row.
    fn text(&self, text: impl AsRef<str>) -> Arc<str> {
        self.texts.of(text)
    }

    /// A mark of a row.
    fn mark(&self, class: Class, word: impl AsRef<str>) -> Mark {
        Mark { class, word: self.text(word) }
    }

    /// A gap that many rows have.
    fn gap(&self, kind: GapKind, why: impl AsRef<str>) -> Gap {
        Gap { kind, why: self.text(why) }
    }

    /// What many rows wait for.
    fn not_read(&self, what: &str) -> Gap {
        self.gap(GapKind::NotRead, format!("{what} was not read yet"))
    }

    /// Why Proxmox data is missing as a whole: the source's own error, else "not read yet".
    fn pve_gap(&self, what: &str) -> Gap {
        source_gap(self.readings, SourceId::Pve, what)
    }

    /// Why what Proxmox said is old, when its last try failed: the rows stay, what is concluded from them does not.
    fn pve_stale(&self) -> Option<Gap> {
        let e = self.readings.sources.get(SourceId::Pve).error.as_ref()?;
        self.pve.map(|_| Gap::new(e.kind, e.text.clone()))
    }

    fn sdn(&self) -> Seen<&SdnConfig> {
        match self.pve {
            None => Err(self.pve_gap("the SDN configuration")),
            Some(pve) => pve.sdn.as_ref().map_err(Clone::clone),
        }
    }

    /// Whom an index may belong to, in words: where zones are hidden, nobody in sight is not nobody.
    fn anybody(&self) -> &'static str {
        if self.pve.is_some_and(|p| p.zones_hidden.is_some()) { "zone in sight" } else { "tenant" }
    }

    /// Everybody whose name and index something may bear: tenants of the fabric first.
    fn holders(&self) -> impl Iterator<Item = &Seed> {
        self.seeds.iter().chain(self.registered)
    }

    fn is_tenant(&self, zone: &str) -> Option<&Seed> {
        self.seeds.iter().find(|s| &*s.name == zone)
    }
}

/// The gap left by a source that has never been read.
fn source_gap(readings: &Readings, id: SourceId, what: &str) -> Gap {
    let health = readings.sources.get(id);
    if !health.configured {
        return Gap::new(GapKind::Off, format!("{} is not set up for this site", id.words()));
    }
    match &health.error {
        Some(e) => Gap::new(e.kind, e.text.clone()),
        None => Gap::not_read(what),
    }
}

/// VNet id of a zone's first VNet: six characters and a digit (domain.md §3).
fn vnet_id(zone: &str, i: u32) -> String {
    let head: String = zone.chars().take(6).collect();
    format!("{head}{i}")
}

/// A difference.
fn diff(object: impl Into<String>, field: &str, expected: impl ToString, observed: impl ToString) -> FieldDiff {
    FieldDiff {
        object: object.into(),
        field: field.to_owned(),
        expected: expected.to_string(),
        observed: observed.to_string(),
    }
}

/// Joins the newest readings into one picture.
#[must_use]
pub fn join(site: &Arc<Site>, readings: &Readings, generation: u64) -> Inventory {
    join_with(site, readings, generation, &Texts::default())
}

/// The same picture, its text shared with all that were made with `texts`.
#[must_use]
pub fn join_with(site: &Arc<Site>, readings: &Readings, generation: u64, texts: &Texts) -> Inventory {
    let pve = readings.pve.as_deref();
    let seeds = pve.and_then(|p| p.sdn.as_ref().ok()).map(|sdn| fabric::seeds(site, sdn)).unwrap_or_default();
    let cx = Cx { site, readings, pve, seeds: &seeds, registered: &[], texts };
    let registered = registry::only(&cx);
    let cx = Cx { registered: &registered, ..cx };
    let mut workloads = workloads::rows(&cx);
    let checkins = checkins::rows(&cx, &workloads);
    checkins::mark(&cx, &mut workloads, &checkins);
    let names = names::join(&cx, workloads.as_deref_mut().unwrap_or_default());
    let vnets = fabric::vnets(&cx);
    let vrfs = node::rows(&cx, &vnets);
    let fabric = members::view(&cx);
    let forwards = forwards::rows(&cx);
    let (rules, perimeter) = perimeter::joined(&cx);
    let mut inv = Inventory {
        site: Arc::clone(site),
        generation,
        sources: readings.sources.clone(),
        tenants: Vec::new(),
        tenants_gap: cx.sdn().err(),
        workloads_gap: workloads.as_ref().err().cloned(),
        workloads: tight(workloads.unwrap_or_default()),
        vrfs,
        vnets,
        records_gap: names.records.as_ref().err().cloned(),
        records: tight(names.records.unwrap_or_default()),
        zones: names.zones,
        rules_gap: rules.as_ref().err().cloned(),
        rules: rules.unwrap_or_default(),
        forwards_gap: forwards.as_ref().err().cloned(),
        forwards: forwards.unwrap_or_default(),
        perimeter,
        checkins_gap: checkins.as_ref().err().cloned(),
        checkins: tight(checkins.unwrap_or_default()),
        fabric,
        tasks: cx.pve.map_or_else(|| Err(cx.pve_gap("the task list")), |p| p.tasks.clone()),
        attention: Vec::new(),
    };
    let of = names.of.into_iter().chain(std::iter::repeat(0..0));
    let all = cx.holders().zip(of);
    inv.tenants = all.map(|(seed, records)| tenant(&cx, &inv, seed, records)).collect();
    inv.tenants.sort_by(|a, b| (a.index, &a.name).cmp(&(b.index, &b.name)));
    inv.attention = attention::rows(&inv, readings);
    inv
}

/// Rows without room for more: a list that grew has nearly twice the room it needs, and several pictures live at once.
fn tight<T>(mut rows: Vec<T>) -> Vec<T> {
    rows.shrink_to_fit();
    rows
}

/// Positions of the rows of `name` in a list that is sorted by tenant.
fn range<T>(rows: &[T], of: impl Fn(&T) -> Option<&str>, name: &str) -> std::ops::Range<u32> {
    let start = rows.iter().position(|r| of(r) == Some(name)).unwrap_or(0);
    let len = rows.iter().skip(start).take_while(|r| of(r) == Some(name)).count();
    let at = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    at(start)..at(start + len)
}

fn range_of<'a, T>(rows: &'a [T], range: &std::ops::Range<u32>) -> &'a [T] {
    rows.get(range.start as usize..range.end as usize).unwrap_or(&[])
}

fn tenant(cx: &Cx<'_>, inv: &Inventory, seed: &Seed, records: std::ops::Range<u32>) -> Tenant {
    let plan = &cx.site.numbering;
    let workloads = range(&inv.workloads, |w| Some(&w.tenant), &seed.name);
    let vnets = range(&inv.vnets, |v| v.tenant.as_deref(), &seed.name);
    let vrfs = range(&inv.vrfs, |v| Some(&v.tenant), &seed.name);
    let checkins = range(&inv.checkins, |c| Some(&*c.tenant), &seed.name);
    let fabric = fabric::layer(cx, seed);
    let node = match cx.is_tenant(&seed.name) {
        Some(_) => node::layer(cx, range_of(&inv.vrfs, &vrfs), &fabric),
        None => registry::node_layer(cx, seed),
    };
    let stale = cx.pve_stale();
    let forwards = range(&inv.forwards, |f| f.tenant.as_deref(), &seed.name);
    let own = range_of(&inv.workloads, &workloads);
    let zones = range(&inv.zones, |z| z.tenant.as_deref(), &seed.name);
    let of_zones = range_of(&inv.zones, &zones);
    let of_records = range_of(&inv.records, &records);
    let layers = Layers {
        workloads: workloads::layer(
            own,
            stale.as_ref().or(inv.workloads_gap.as_ref()),
            cx.pve.and_then(|p| p.guests_hidden.as_ref()),
        ),
        dns: names::layer(cx, seed, of_zones, of_records),
        resolver: forwards::layer(cx, seed, range_of(&inv.forwards, &forwards), inv.forwards_gap.as_ref()),
        bootstrap: checkins::layer(cx, range_of(&inv.checkins, &checkins), inv.checkins_gap.as_ref()),
        fabric: stale.map_or(fabric, Layer::unknown),
        node,
    };
    Tenant {
        name: Arc::clone(&seed.name),
        index: seed.index.get(),
        drill: seed.index.is_drill(),
        vrf_vni: plan.vrf_vni(seed.index),
        vnet_vni: plan.vnet_vni_base_of(seed.index),
        subnet: plan.subnet(seed.index),
        gateway: plan.gateway(seed.index),
        forward_zone: format!("{}.{}", seed.name, cx.site.domain),
        reverse_zone: plan.reverse_zone(seed.index),
        owner: registry::owner(cx, seed),
        status: status(cx, seed, &layers),
        layers,
        workloads,
        vnets,
        vrfs,
        records,
        zones,
        forwards,
        checkins,
    }
}

fn status(cx: &Cx<'_>, seed: &Seed, layers: &Layers) -> TenantStatus {
    if cx.sdn().is_ok_and(|sdn| fabric::is_leaving(sdn, &seed.name)) {
        return TenantStatus::Deleting;
    }
    match (layers.fabric.presence, layers.node.presence) {
        (Presence::Pending | Presence::Absent, _) | (_, Presence::Pending | Presence::Absent) => {
            TenantStatus::Provisioning
        }
        (Presence::Unknown, _) | (_, Presence::Unknown) => TenantStatus::Unknown,
        _ if layers.fabric.class == Class::Fault => TenantStatus::Provisioning,
        _ => TenantStatus::Ready,
    }
}
