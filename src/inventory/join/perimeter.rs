//! The perimeter's rules against what the platform declares: what touches tenants, what must not exist.

use super::super::entities::{PerimeterView, RuleRow};
use super::super::source::{Seen, SourceId};
use super::{Cx, source_gap};

/// Rules in the order of evaluation.
pub(super) fn rules(cx: &Cx<'_>) -> Seen<Vec<RuleRow>> {
    Err(source_gap(cx.readings, SourceId::Fw, "the rules"))
}

/// The perimeter as a whole.
pub(super) fn view(cx: &Cx<'_>) -> PerimeterView {
    let gap = || source_gap(cx.readings, SourceId::Fw, "the perimeter");
    PerimeterView {
        version: Err(gap()),
        rules: Err(gap()),
        must_not_exist: Err(gap()),
        route: Err(gap()),
        resolver: Err(gap()),
        rules_refused: Err(gap()),
    }
}
