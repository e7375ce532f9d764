//! The rules: one fault each, grouped by layer, one file a fault. Pure: facts in, verdicts out.

mod access;
mod dns;
mod egress;
pub(super) mod exits;
mod fabric;
mod isolation;
mod names;
mod perimeter;
mod plan;
mod workload;

pub use isolation::{keys, matrix, packets};

use super::facts::{Facts, Sourced};
use super::finding::{Finding, Layer, Severity, Subject, Unknown};

pub(super) use dns::server_name;

/// One rule, which is also its entry in the catalogue.
pub struct Rule {
    /// Stable id, also of the lab's fault where there is one.
    pub id: &'static str,
    /// Layer.
    pub layer: Layer,
    /// The severity of its findings, unless a finding says otherwise.
    pub severity: Severity,
    /// What it means and does, for the catalogue: two or three sentences.
    pub says: &'static str,
    /// What it reads, in words.
    pub reads: &'static str,
    /// Ids that look alike, and how they are told apart.
    pub unlike: &'static [(&'static str, &'static str)],
    /// Ids that are consequences of this one where they reach the same subjects.
    pub explains: &'static [&'static str],
    /// Judges.
    pub judge: fn(&Facts, &mut Out<'_>),
}

/// All rules, in the order of the layers; within a layer those first that explain others or are nearer to the cause.
pub static ALL: &[&[&Rule]] =
    &[access::RULES, fabric::RULES, workload::RULES, egress::RULES, isolation::RULES, perimeter::RULES, dns::RULES];

/// Rules outside access whose finding says that nothing could be looked at.
const BLIND: [&str; 1] = ["exit-node-unreachable"];

/// Rules whose finding says that of two barriers one is gone, and that the other was not tried.
const HALF: [&str; 1] = ["hairpin-leak"];

/// Rules whose finding says what this program does not look at: it explains nothing that is unknown.
const NOT_RUN: [&str; 1] = ["token-end-not-read"];

/// The rule of changes that are open. What they explain is told thing by thing, not by whom it reaches.
pub(super) const CHANGE: &str = "change-unfinished";

pub(super) use access::cause_of as change_that_left;

/// Whether a finding of the rule called `id` says what is not run here.
#[must_use]
pub fn is_not_run(id: &str) -> bool {
    NOT_RUN.contains(&id)
}

/// Whether a finding of the rule called `id` says that something was not read: what hangs on it is unknown, not broken.
#[must_use]
pub fn is_blind(id: &str) -> bool {
    BLIND.contains(&id)
}

/// Whether a finding of the rule called `id` leaves open what it comes to: it breaks no promise, and none is kept.
#[must_use]
pub fn leaves_open(id: &str) -> bool {
    is_blind(id) || HALF.contains(&id)
}

/// Every rule.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    ALL.iter().copied().flatten().copied()
}

/// The rule called `id`.
#[must_use]
pub fn rule(id: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.id == id)
}

/// Where the rule called `id` stands: within a layer those come first that explain others.
pub(super) fn place(id: &str) -> usize {
    all().position(|rule| rule.id == id).unwrap_or(usize::MAX)
}

/// Where a rule puts what it says.
pub struct Out<'a> {
    rule: &'static Rule,
    said: &'a mut Said,
    about: Option<Vec<Subject>>,
}

/// What all rules said.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) findings: Vec<Finding>,
    pub(super) passed: Vec<(&'static str, Subject)>,
    pub(super) unknown: Vec<Unknown>,
}

impl<'a> Out<'a> {
    pub(super) fn new(rule: &'static Rule, said: &'a mut Said) -> Self {
        Self { rule, said, about: None }
    }

    /// The same while it looks at `whom` alone: what is missing then is nothing to others.
    #[must_use]
    pub fn about(&mut self, whom: impl IntoIterator<Item = Subject>) -> Out<'_> {
        Out { rule: self.rule, said: self.said, about: Some(whom.into_iter().collect()) }
    }

    /// The same while it looks at what all share.
    pub fn everybody(&mut self) -> Out<'_> {
        Out { rule: self.rule, said: self.said, about: None }
    }

    /// A finding of this rule about `subject`, to be completed and given to [`Out::found`].
    #[must_use]
    pub fn finding(&self, subject: Subject, title: impl AsRef<str>) -> Finding {
        Finding {
            id: self.rule.id,
            severity: self.rule.severity,
            layer: self.rule.layer,
            subject,
            affects: Vec::new(),
            title: crate::text::clean(title.as_ref()).into_owned(),
            facts: Vec::new(),
            caused_by: None,
            not_tested: Vec::new(),
            next: Vec::new(),
            evidence: Vec::new(),
        }
    }

    /// Says it.
    pub fn found(&mut self, finding: Finding) {
        self.said.findings.push(finding);
    }

    /// `subject` was looked at and is as it should be.
    pub fn pass(&mut self, subject: Subject) {
        self.said.passed.push((self.rule.id, subject));
    }

    /// It cannot be said: `missing` is not in the evidence, or the evidence says why it could not be had.
    pub fn unknown(&mut self, missing: impl AsRef<str>, why: Option<String>) {
        self.open(missing.as_ref(), why, self.about.clone());
    }

    /// The same of what is missing of `whom` alone: it is nothing to others.
    pub fn unknown_of(
        &mut self,
        whom: impl IntoIterator<Item = Subject>,
        missing: impl AsRef<str>,
        why: Option<String>,
    ) {
        self.open(missing.as_ref(), why, Some(whom.into_iter().collect()));
    }

    fn open(&mut self, missing: &str, why: Option<String>, about: Option<Vec<Subject>>) {
        let missing = crate::text::clean(missing).into_owned();
        self.said.unknown.push(Unknown { missing, why, ids: vec![self.rule.id], about });
    }
}

impl Finding {
    /// Names the evidence it rests on.
    #[must_use]
    pub fn from<T>(mut self, source: &Sourced<T>) -> Self {
        let file = source.file.to_string();
        if !self.evidence.contains(&file) {
            self.evidence.push(file);
        }
        self
    }

    /// Names a file of the evidence it rests on.
    #[must_use]
    pub fn resting_on(mut self, file: &str) -> Self {
        if !self.evidence.iter().any(|have| have == file) {
            self.evidence.push(file.to_owned());
        }
        self
    }
}
