//! Check-ins against the workloads: states of domain.md §7.6, the letter B.

use super::super::entities::{CheckInRow, Layer, Mark};
use super::super::source::{Seen, SourceId};
use super::{Cx, Seed, source_gap};

/// Check-ins in tenant order.
pub(super) fn rows(cx: &Cx<'_>) -> Seen<Vec<CheckInRow>> {
    Err(source_gap(cx.readings, SourceId::Boot, "the check-ins"))
}

/// The letter B of a tenant.
pub(super) fn layer(cx: &Cx<'_>, _seed: &Seed) -> Layer {
    Layer::unknown(source_gap(cx.readings, SourceId::Boot, "the check-ins"))
}

/// A workload's check-in before any was joined.
pub(super) fn unread(cx: &Cx<'_>) -> Seen<Mark> {
    Err(source_gap(cx.readings, SourceId::Boot, "its check-in"))
}
