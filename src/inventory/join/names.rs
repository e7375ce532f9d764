//! Names against the index: zones, records and their perimeter answers, the letter D, and each workload's A and PTR.

use super::super::entities::{Layer, RecordRow, WorkloadNames, ZoneRow};
use super::super::source::{Seen, SourceId};
use super::{Cx, Seed, source_gap};

/// Records in tenant order.
pub(super) fn records(cx: &Cx<'_>) -> Seen<Vec<RecordRow>> {
    Err(source_gap(cx.readings, SourceId::Dns, "the records"))
}

/// Zones in tenant order.
pub(super) fn zones(_cx: &Cx<'_>) -> Vec<ZoneRow> {
    Vec::new()
}

/// The letter D of a tenant.
pub(super) fn layer(cx: &Cx<'_>, _seed: &Seed) -> Layer {
    Layer::unknown(source_gap(cx.readings, SourceId::Dns, "the zones"))
}

/// A and PTR of a workload before any record was joined.
pub(super) fn unread(cx: &Cx<'_>) -> WorkloadNames {
    let gap = source_gap(cx.readings, SourceId::Dns, "its names");
    WorkloadNames { a: Err(gap.clone()), ptr: Err(gap) }
}
