//! Names against the index: zones, records and their perimeter answers, the letter D, and each workload's A and PTR.

mod records;
#[cfg(test)]
mod tests;
mod zones;

use std::ops::Range;
use std::sync::Arc;

use super::super::entities::{Layer, RecordRow, Workload, WorkloadNames, ZoneRow};
use super::super::hosts::is_named;
use super::super::readings::{Answer, DnsReading, QuestionKey};
use super::super::source::{Gap, GapKind, Seen, SourceId};
use super::super::{Class, Presence};
use super::fabric::{self, Due};
use super::{Cx, Seed, source_gap};
use crate::backends::powerdns::Name;

/// Records and zones, joined.
pub(super) struct Names {
    /// Records in tenant order, or why there are none.
    pub records: Seen<Vec<RecordRow>>,
    /// Zones in tenant order, those of nobody last.
    pub zones: Vec<ZoneRow>,
    /// Positions of each tenant's records, in the order of [`Cx::holders`]: there may be tens of thousands.
    pub of: Vec<Range<u32>>,
}

/// Joins what was read of names, and tells `workloads` of theirs.
pub(super) fn join(cx: &Cx<'_>, workloads: &mut [Workload]) -> Names {
    let Some(dns) = cx.readings.dns.as_deref() else {
        return Names {
            records: Err(source_gap(cx.readings, SourceId::Dns, "the records")),
            zones: Vec::new(),
            of: Vec::new(),
        };
    };
    let zones = zones::rows(cx, dns);
    for w in workloads.iter_mut().filter(|w| !is_named(w)) {
        w.names = none(cx);
    }
    let held = dns.content.values().flatten().map(|zone| zone.rrsets.len()).sum();
    let mut records = Vec::with_capacity(held);
    let mut of = Vec::with_capacity(cx.seeds.len());
    for seed in cx.holders() {
        let at = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let start = at(records.len());
        records.extend(records::of_tenant(cx, dns, seed, workloads));
        of.push(start..at(records.len()));
    }
    if let Some(gap) = stale(cx) {
        mark_unknown(&gap, workloads);
    }
    Names { records: Ok(records), zones, of }
}

/// Why what was said of names is old, when the last try failed: the rows stay, what is concluded from them does not.
fn stale(cx: &Cx<'_>) -> Option<Gap> {
    let error = cx.readings.sources.get(SourceId::Dns).error.as_ref()?;
    cx.readings.dns.as_ref().map(|_| Gap::new(error.kind, error.text.clone()))
}

fn mark_unknown(gap: &Gap, workloads: &mut [Workload]) {
    for w in workloads {
        w.names = WorkloadNames { a: Err(gap.clone()), ptr: Err(gap.clone()) };
    }
}

/// The letter D of a tenant.
pub(super) fn layer(cx: &Cx<'_>, seed: &Seed, own: &[ZoneRow], records: &[RecordRow]) -> Layer {
    let Some(dns) = cx.readings.dns.as_deref() else {
        return Layer::unknown(source_gap(cx.readings, SourceId::Dns, "the zones"));
    };
    if let Some(gap) = stale(cx) {
        return Layer::unknown(gap);
    }
    if own.is_empty() {
        return Layer::unknown(Gap::not_read("its zones"));
    }
    let gone = own.iter().filter(|z| z.exists == Ok(false)).count();
    if gone > 0 {
        match (fabric::due(cx, seed), gone == own.len()) {
            (Due::Unknown(gap), _) => return Layer::unknown(gap),
            (due, true) => return Layer::known(Presence::Absent, due.absent(), "zones missing"),
            (Due::NotYet, false) => return Layer::known(Presence::Differs, Class::Absent, "zone missing"),
            (Due::Yes, false) => {}
        }
    }
    let wrong: Vec<&RecordRow> = records.iter().filter(|r| is_wrong(r)).collect();
    let diffs = own.iter().flat_map(|z| z.diffs.clone()).chain(wrong.iter().flat_map(|r| authority_diffs(r)));
    let class = own.iter().map(|z| z.class).chain(wrong.iter().map(|r| r.class)).max().unwrap_or(Class::Fine);
    if class >= Class::Differs {
        let worst = own.iter().filter(|z| z.class >= Class::Differs).max_by_key(|z| z.class);
        let words = match worst {
            Some(zone) => zone.word.to_string(),
            None if wrong.len() == 1 => "1 record wrong".to_owned(),
            None => format!("{} records wrong", wrong.len()),
        };
        return Layer { diffs: diffs.collect(), ..Layer::known(Presence::Differs, class, words) };
    }
    if let Some(gap) = unread(cx, dns, own) {
        return Layer::unknown(gap);
    }
    if dns.reach.has_api() {
        Layer::known(Presence::Present, Class::Fine, "present")
    } else {
        // Who may update the zones is not known: no tick for what was not seen.
        Layer::known(Presence::Present, Class::Info, "present, by queries")
    }
}

/// What keeps a verdict back: a part of the zones, or the workloads whose names they ought to hold.
fn unread(cx: &Cx<'_>, dns: &DnsReading, own: &[ZoneRow]) -> Option<Gap> {
    let hole = |z: &ZoneRow| {
        let first = z.exists.as_ref().err().or(z.nameservers.as_ref().err()).or(z
            .rrsets
            .as_ref()
            .err()
            .filter(|_| dns.reach.has_api()));
        let keys = dns.reach.has_api().then(|| z.keys.as_ref().err().or(z.unsigned_updates.as_ref().err())).flatten();
        first.or(keys).cloned()
    };
    let old = |z: &ZoneRow| dns.old.get(&Name::new(&z.zone)).cloned();
    guests_gap(cx).or_else(|| own.iter().find_map(|z| hole(z).or_else(|| old(z))))
}

/// Why not all workloads are known, and with them the names that ought to be there.
fn guests_gap(cx: &Cx<'_>) -> Option<Gap> {
    let pve = cx.pve?;
    cx.pve_stale().or_else(|| pve.resources.as_ref().err().cloned()).or_else(|| pve.guests_hidden.clone())
}

/// Whether the authority is known to say something else than what is derived.
pub(super) fn is_wrong(row: &RecordRow) -> bool {
    row.workload.is_some() && row.class >= Class::Differs && authority_diffs(row).next().is_some()
}

/// Differences between authority and derivation, without those between servers.
fn authority_diffs(row: &RecordRow) -> impl Iterator<Item = super::FieldDiff> + '_ {
    row.diffs.iter().filter(|d| d.field != PERIMETER).cloned()
}

/// Field of a difference between the authority and the perimeter.
pub(super) const PERIMETER: &str = "perimeter";

/// What the perimeter said to a question.
fn perimeter(cx: &Cx<'_>, dns: &DnsReading, key: &QuestionKey) -> Seen<Arc<Answer>> {
    match (dns.perimeter.get(key), &cx.site.resolvers) {
        (Some(seen), _) => seen.clone(),
        (None, None) => Err(cx.gap(GapKind::Off, "no resolver is set up for this site")),
        (None, Some(_)) => Err(cx.gap(GapKind::NotRead, "the perimeter is asked for what is on screen")),
    }
}

/// A and PTR of a workload before any record was joined.
pub(super) fn unread_names(cx: &Cx<'_>) -> WorkloadNames {
    let gap = source_gap(cx.readings, SourceId::Dns, "its names");
    let gap = cx.gap(gap.kind, gap.why);
    WorkloadNames { a: Err(gap.clone()), ptr: Err(gap) }
}

/// The tenant's zones: forward, reverse. A reverse zone follows the index: where two hold one, it is the first's.
fn zones_of(cx: &Cx<'_>, seed: &Seed) -> Vec<Name> {
    let forward = Name::new(&format!("{}.{}", seed.name, cx.site.domain));
    let first = cx.holders().find(|s| s.index == seed.index).is_some_and(|s| s.name == seed.name);
    let reverse = first.then(|| Name::new(&cx.site.numbering.reverse_zone(seed.index)));
    std::iter::once(forward).chain(reverse).collect()
}

/// The names of what this platform did not make are nobody's business.
fn none(cx: &Cx<'_>) -> WorkloadNames {
    let none = || Ok(cx.mark(Class::Absent, "none"));
    WorkloadNames { a: none(), ptr: none() }
}
