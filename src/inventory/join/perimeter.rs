//! The perimeter against what the platform declares: what touches tenants, what must not exist, the way back to them.

mod nets;
mod policy;
mod route;
mod rules;
#[cfg(test)]
mod tests;

pub use policy::{barred_to_tenants, kept_from_tenants};

use std::sync::Arc;

use super::super::entities::{Mark, PerimeterView, RuleRow};
use super::super::source::{Gap, GapKind, Seen, SourceId};
use super::super::{Class, FwReading};
use super::{Cx, source_gap};
use crate::backends::opnsense::model::{RuleSet, ServiceState};
use crate::text::clean;
use nets::Names;
use policy::Policy;

impl<'a> Cx<'a> {
    /// The newest reading of the perimeter, or why there is none.
    pub(super) fn fw(&self, what: &str) -> Seen<&'a FwReading> {
        self.readings.fw.as_deref().ok_or_else(|| source_gap(self.readings, SourceId::Fw, what))
    }

    /// Why what the perimeter said is old, when its last try failed: the rows stay, what is concluded from them does not.
    pub(super) fn fw_stale(&self) -> Option<Gap> {
        let e = self.readings.sources.get(SourceId::Fw).error.as_ref()?;
        self.readings.fw.as_ref().map(|_| Gap::new(e.kind, e.text.clone()))
    }
}

impl Cx<'_> {
    /// Why the rules are old.
    pub(super) fn rules_stale(&self) -> Option<Gap> {
        self.fw_stale().or_else(|| self.readings.fw.as_ref()?.rules_old.clone())
    }

    /// Why the forwards are old.
    pub(super) fn forwards_stale(&self) -> Option<Gap> {
        self.fw_stale().or_else(|| self.readings.fw.as_ref()?.forwards_old.clone())
    }
}

/// Rules in the order of evaluation, and the perimeter as a whole.
pub(super) fn joined(cx: &Cx<'_>) -> (Seen<Vec<RuleRow>>, PerimeterView) {
    let fw = match cx.fw("the perimeter") {
        Ok(fw) => fw,
        Err(gap) => return (Err(gap.clone()), nothing(&gap)),
    };
    let names = Names::new(fw);
    let policy = Policy::new(cx.site, &names);
    let set: Seen<&RuleSet> = fw.rules.as_ref().map(AsRef::as_ref).map_err(Clone::clone);
    let joined = set.clone().map(|set| rules::rows(cx, set, &names, &policy));
    let (rows, breaches) = match joined {
        Ok(rows) => {
            let (rows, breaches): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
            (Ok(rows), Ok(breaches))
        }
        Err(gap) => (Err(gap.clone()), Err(gap)),
    };
    let whole = set.and_then(rules::complete);
    let (stale, old) = (cx.fw_stale(), cx.rules_stale());
    let concluded = |gap: Option<&Gap>| gap.or(stale.as_ref()).map_or(Ok(()), |gap| Err(gap.clone()));
    let mut patterns = policy.patterns(&breaches, fw);
    for pattern in &mut patterns {
        // Found is found, whatever else there may be; absent is said of all rules or not at all.
        let unsure = if pattern.found == Ok(0) { whole.as_ref().err() } else { None }.or(old.as_ref());
        if let Err(gap) = concluded(unsure) {
            pattern.found = Err(gap);
        }
    }
    let view = PerimeterView {
        version: fw.release.as_ref().map(|r| r.version.to_string()).map_err(Clone::clone),
        rules: rows.as_ref().map(Vec::len).map_err(Clone::clone),
        must_not_exist: patterns.iter().map(|p| p.found.clone()).sum(),
        patterns,
        route: concluded(None).and_then(|()| route::aggregate(cx, fw)),
        resolver: concluded(None).and_then(|()| resolver(fw)),
        rules_refused: concluded(old.as_ref()).and_then(|()| refused(fw)),
        waits: fw.holes().any(|gap| gap.kind == GapKind::NotRead),
    };
    (rows, view)
}

fn nothing(gap: &Gap) -> PerimeterView {
    let gap = || gap.clone();
    PerimeterView {
        version: Err(gap()),
        rules: Err(gap()),
        must_not_exist: Err(gap()),
        patterns: Vec::new(),
        route: Err(gap()),
        resolver: Err(gap()),
        rules_refused: Err(gap()),
        waits: gap().kind == GapKind::NotRead,
    }
}

fn resolver(fw: &FwReading) -> Seen<Mark> {
    Ok(match fw.resolver_state.as_ref().map_err(Clone::clone)? {
        ServiceState::Running => Mark::new(Class::Fine, "running"),
        ServiceState::Stopped => Mark::new(Class::Fault, "stopped"),
        ServiceState::Disabled => Mark::new(Class::Fault, "switched off"),
        ServiceState::Other(word) => {
            return Err(Gap::new(GapKind::Failed, format!("the resolver says {}", clean(word))));
        }
    })
}

fn refused(fw: &FwReading) -> Seen<Option<Arc<str>>> {
    let system = fw.system.as_ref().map_err(Clone::clone)?;
    Ok(system.rules_refused().map(|(text, _)| Arc::from(clean(text.trim()))))
}
