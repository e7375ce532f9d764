//! Forwards of the perimeter resolver against the tenants' zones: the letter R.

use super::super::entities::{ForwardRow, Layer};
use super::super::source::{Seen, SourceId};
use super::{Cx, Seed, source_gap};

/// Forwards in tenant order, those of nobody last.
pub(super) fn rows(cx: &Cx<'_>) -> Seen<Vec<ForwardRow>> {
    Err(source_gap(cx.readings, SourceId::Fw, "the forwards"))
}

/// The letter R of a tenant.
pub(super) fn layer(cx: &Cx<'_>, _seed: &Seed) -> Layer {
    Layer::unknown(source_gap(cx.readings, SourceId::Fw, "the forwards"))
}
