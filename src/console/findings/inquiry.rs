//! The check that runs, or ran last, and what is read off it.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::legs::{Row, rows};
use super::word;
use crate::diagnose::Diagnosis;
use crate::diagnose::collect::Check;
use crate::diagnose::finding::{Finding, Key, Severity};
use crate::diagnose::path::{LEGS, State};

/// How lines of Activity about checks begin.
pub(super) const PROBE: &str = "check ";

/// The check that runs, or ran last.
#[derive(Debug, Clone, PartialEq)]
pub struct Inquiry {
    /// Counts up with every check of this console: what comes under another number is an older one's.
    pub id: u64,
    /// What is looked at.
    pub check: Check,
    /// Of whom; `None` = of everybody.
    pub tenant: Option<Arc<str>>,
    /// Since when.
    pub asked: Timestamp,
    /// Where it stands.
    pub came: Came,
    /// What has come so far, or in the end.
    pub found: Option<Found>,
}

/// Where a check stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Came {
    /// It runs.
    Awaited,
    /// The operator gave up what had not come; what did is being judged.
    Stopped,
    /// It came to nothing, and why.
    Failed(String),
    /// It ended.
    Ended,
}

/// What came of a check.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// What was read, and what it comes to.
    pub diagnosis: Arc<Diagnosis>,
    /// When it was judged.
    pub at: Timestamp,
    /// How long the check had taken by then.
    pub took: Duration,
}

impl Inquiry {
    /// Whether something is awaited.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self.came, Came::Awaited)
    }

    /// What it found so far, or in the end.
    #[must_use]
    pub const fn found(&self) -> Option<&Found> {
        self.found.as_ref()
    }

    /// What it comes to so far, or in the end.
    #[must_use]
    pub fn diagnosis(&self) -> Option<&Diagnosis> {
        self.found.as_ref().map(|found| &*found.diagnosis)
    }

    /// Whether it looks at a path.
    #[must_use]
    pub const fn has_path(&self) -> bool {
        self.check.has_path()
    }

    /// The legs, where it looks at a path; none of them looked at where nothing came.
    #[must_use]
    pub fn legs(&self) -> Vec<Row<'_>> {
        self.diagnosis().filter(|_| self.has_path()).map(rows).unwrap_or_default()
    }

    /// How many legs there are.
    #[must_use]
    pub const fn leg_count(&self) -> usize {
        if self.has_path() { LEGS.len() } else { 0 }
    }

    /// How many legs are as `state` says.
    #[must_use]
    pub fn legs_of(&self, state: State) -> usize {
        self.legs().iter().filter(|row| row.state == state).count()
    }

    /// The first broken leg, counted from 1.
    #[must_use]
    pub fn broken(&self) -> Option<usize> {
        self.legs().iter().find(|row| row.state == State::Fail).map(|row| row.number)
    }

    /// The finding that is told first: that of the first broken leg, by its root; else the report's.
    #[must_use]
    pub fn headline(&self) -> Option<&Finding> {
        let report = &self.diagnosis()?.report;
        let of = |key: &Key| report.findings.iter().find(|f| f.key() == *key);
        let legs = self.legs();
        let broken = legs.iter().filter(|row| row.state == State::Fail).flat_map(Row::findings);
        let broken = broken.filter(|f| f.severity == Severity::Fault).find_map(|f| of(&f.key()));
        let mut at = match broken {
            Some(finding) => finding,
            None => report.headline()?,
        };
        // A circle of causes ends after as many steps as there are findings.
        for _ in &report.findings {
            match at.caused_by.as_ref().and_then(of) {
                Some(cause) => at = cause,
                None => break,
            }
        }
        Some(at)
    }

    /// Findings as they are shown: the headline with its consequences, then the rest in the report's order.
    #[must_use]
    pub fn findings(&self) -> Vec<&Finding> {
        let (Some(diagnosis), Some(first)) = (self.diagnosis(), self.headline()) else { return Vec::new() };
        let all = &diagnosis.report.findings;
        let key = first.key();
        let start = all.iter().position(|f| f.key() == key).unwrap_or(0);
        let end = all.iter().skip(start + 1).position(|f| f.caused_by.is_none()).map_or(all.len(), |n| start + 1 + n);
        let head = all.get(start..end).unwrap_or_default();
        head.iter().chain(all.iter().take(start)).chain(all.iter().skip(end)).collect()
    }

    /// How many findings are of `severity`.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.diagnosis().map_or(0, |d| d.report.findings.iter().filter(|f| f.severity == severity).count())
    }

    /// What it is called: `check egress of eds`.
    #[must_use]
    pub fn name(&self) -> String {
        let of = self.tenant.as_ref().map_or_else(String::new, |tenant| format!(" of {tenant}"));
        format!("{PROBE}{}{of}", word(self.check))
    }

    /// Whole seconds since it was asked for.
    #[must_use]
    pub fn waited(&self, now: Timestamp) -> i64 {
        now.duration_since(self.asked).as_secs().max(0)
    }
}
