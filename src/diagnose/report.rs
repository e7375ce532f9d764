//! From what the rules said to a report: consequences under their cause, one line a missing input, the headline first.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::evidence::Evidence;
use super::facts::given_up::GivenUp;
use super::facts::{Facts, Unreadable};
use super::finding::{Finding, Key, Layer, Severity, Subject, Unknown};
use super::parts::Part;
use super::path;
use super::rules::{self, Out, Rule, Said};
use super::scope;

/// What a diagnosis says.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Report {
    /// Findings: roots by the worst severity of what hangs under them, their own, reach, layer and place among the rules, each
    /// followed by its consequences.
    pub findings: Vec<Finding>,
    /// What was looked at and is as it should be.
    pub passed: Vec<Passed>,
    /// What cannot be said, one entry a missing input.
    pub unknown: Vec<Unknown>,
    /// Zones that are no tenant's: of the substrate.
    #[serde(skip)]
    pub substrate: BTreeSet<String>,
}

/// Most inputs that are told one by one where they are unknown for the same reason.
const FEW: usize = 3;

/// `unknown` as it is told to people: more than a few inputs with the same reason together, each other one by itself.
#[must_use]
pub fn together<'u>(unknown: &[&'u Unknown]) -> Vec<Vec<&'u Unknown>> {
    let same = |u: &Unknown| -> Vec<&'u Unknown> {
        unknown.iter().copied().filter(|other| u.why.is_some() && other.why == u.why).collect()
    };
    let mut out = Vec::new();
    for &u in unknown {
        let group = same(u);
        if group.len() <= FEW {
            out.push(vec![u]);
        } else if group.first().is_some_and(|first| *first == u) {
            out.push(group);
        }
    }
    out
}

/// The names of inputs in a sentence: the first few, and how many more there are.
#[must_use]
pub fn inputs(unknown: &[&Unknown]) -> String {
    match unknown {
        [one] => one.missing.clone(),
        many => {
            let names: Vec<&str> = many.iter().map(|u| u.missing.as_str()).collect();
            format!("{} inputs: {}", names.len(), crate::text::some_of(&names))
        }
    }
}

/// A rule that found nothing wrong with a subject.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Passed {
    /// Id.
    pub id: &'static str,
    /// Subject.
    pub subject: Subject,
}

impl Report {
    /// Judges `evidence` by all rules.
    #[must_use]
    pub fn of(evidence: &Evidence) -> Self {
        Self::of_facts(&Facts::of(evidence))
    }

    /// Judges `facts` by all rules.
    #[must_use]
    pub fn of_facts(facts: &Facts) -> Self {
        let mut said = Said::default();
        for rule in rules::all() {
            (rule.judge)(facts, &mut Out::new(rule, &mut said));
        }
        Self {
            findings: arrange(said.findings, facts),
            passed: passed(said.passed),
            unknown: grouped(said.unknown, facts),
            substrate: scope::substrate(facts),
        }
    }

    /// The root that matters most; `None` when nothing was found.
    #[must_use]
    pub fn headline(&self) -> Option<&Finding> {
        self.findings.first()
    }
}

/// Where ids explain one another by their rules, and reach the same subjects.
fn link(findings: &mut [Finding]) {
    let mut causes: Vec<(Key, Vec<String>)> = findings
        .iter()
        .filter(|f| f.id != rules::CHANGE)
        .map(|f| (f.key(), f.affects.iter().cloned().chain([f.subject.name.clone()]).collect()))
        .collect();
    // Of two that would explain it, the one that comes first by itself.
    causes.sort_by_key(|((id, _), _)| rules::place(id));
    for finding in findings.iter_mut().filter(|f| f.caused_by.is_none()) {
        let reaches = |scope: &[String]| {
            scope.contains(&finding.subject.name) || finding.affects.iter().any(|who| scope.contains(who))
        };
        let cause = causes.iter().find(|((id, subject), scope)| {
            (*id, subject) != (finding.id, &finding.subject)
                && rules::rule(id).is_some_and(|rule| rule.explains.contains(&finding.id))
                && reaches(scope)
        });
        finding.caused_by = cause.map(|(key, _)| key.clone());
    }
}

fn arrange(mut findings: Vec<Finding>, facts: &Facts) -> Vec<Finding> {
    findings.sort_by(|a, b| a.key().cmp(&b.key()).then_with(|| b.facts.len().cmp(&a.facts.len())));
    findings.dedup_by(|later, kept| {
        let same = later.key() == kept.key();
        if same {
            merge(kept, later);
        }
        same
    });
    link(&mut findings);
    // What something else explains that is wrong now is not put down to a change that is open.
    for finding in findings.iter_mut().filter(|finding| finding.caused_by.is_none()) {
        finding.caused_by = rules::change_that_left(facts, finding);
    }
    let root_of = roots(&findings);
    let rank = |f: &Finding| {
        let (severity, reach) = (std::cmp::Reverse(f.severity), std::cmp::Reverse(f.affects.len()));
        (severity, reach, f.layer, rules::place(f.id), f.key())
    };
    let ranks: BTreeMap<Key, _> = findings.iter().map(|f| (f.key(), rank(f))).collect();
    let root = |f: &Finding| root_of.get(&f.key()).cloned().unwrap_or_else(|| f.key());
    // What hangs under a root may be worse than the root.
    let mut worst: BTreeMap<Key, Severity> = BTreeMap::new();
    for finding in &findings {
        let of_root = worst.entry(root(finding)).or_insert(finding.severity);
        *of_root = finding.severity.max(*of_root);
    }
    findings.sort_by_cached_key(|f| {
        let root = root(f);
        let of_root = (worst.get(&root).copied().map(std::cmp::Reverse), ranks.get(&root).cloned());
        (of_root, f.key() != root, rank(f))
    });
    findings
}

/// The same fault seen in two places is one finding with the facts of both.
fn merge(kept: &mut Finding, other: &Finding) {
    fn add<T: Clone + PartialEq>(to: &mut Vec<T>, from: &[T]) {
        for one in from {
            if !to.contains(one) {
                to.push(one.clone());
            }
        }
    }
    add(&mut kept.affects, &other.affects);
    add(&mut kept.facts, &other.facts);
    add(&mut kept.evidence, &other.evidence);
    add(&mut kept.not_tested, &other.not_tested);
    add(&mut kept.next, &other.next);
    kept.severity = kept.severity.max(other.severity);
}

/// The cause at the end of each finding's chain. A circle ends where it began.
fn roots(findings: &[Finding]) -> BTreeMap<Key, Key> {
    let causes: BTreeMap<Key, Key> = findings.iter().filter_map(|f| Some((f.key(), f.caused_by.clone()?))).collect();
    let root = |f: &Finding| {
        let mut at = f.key();
        for _ in 0..findings.len() {
            match causes.get(&at) {
                Some(next) => at = next.clone(),
                None => break,
            }
        }
        (f.key(), at)
    };
    findings.iter().map(root).collect()
}

fn passed(mut all: Vec<(&'static str, Subject)>) -> Vec<Passed> {
    all.sort();
    all.dedup();
    all.into_iter().map(|(id, subject)| Passed { id, subject }).collect()
}

fn grouped(all: Vec<Unknown>, facts: &Facts) -> Vec<Unknown> {
    let mut by_input: BTreeMap<String, Unknown> = BTreeMap::new();
    let unreadable =
        |u: &Unreadable| Unknown { missing: u.file.clone(), why: Some(u.why.clone()), ids: Vec::new(), about: None };
    let not_awaited = facts.given_up.iter().flat_map(not_awaited);
    let unreadable = facts.unreadable.iter().map(unreadable);
    for unknown in all.into_iter().chain(unreadable).chain(not_awaited) {
        let entry = by_input.entry(unknown.missing.clone()).or_insert_with(|| Unknown {
            missing: unknown.missing.clone(),
            why: None,
            ids: Vec::new(),
            about: Some(Vec::new()),
        });
        entry.about = entry.about.take().zip(unknown.about).map(|(all, more)| both(all, more));
        entry.why = entry.why.take().or(unknown.why);
        entry.ids.extend(unknown.ids);
        entry.ids.sort_unstable();
        entry.ids.dedup();
    }
    by_input.into_values().collect()
}

/// Both lists as one, each subject once.
fn both(mut all: Vec<Subject>, more: Vec<Subject>) -> Vec<Subject> {
    all.extend(more);
    all.sort();
    all.dedup();
    all
}

/// What hangs on the parts of a check that nobody waited for; a check that was given up is never without a word of it.
fn not_awaited(given_up: &GivenUp) -> Vec<Unknown> {
    let unknown = |who: &str, ids| {
        let missing = crate::text::clean(&format!("what {who} had yet to answer")).into_owned();
        Unknown { missing, why: Some(given_up.why.clone()), ids, about: None }
    };
    let of_part =
        |part: &Part| unknown(&part.who(), path::awaiting(part).flat_map(|leg| leg.rules.iter().copied()).collect());
    if given_up.parts.is_empty() {
        return vec![unknown("the site", Vec::new())];
    }
    given_up.parts.iter().map(of_part).collect()
}

/// The end of the chain of causes of `finding`; a circle ends after as many steps as there are causes.
fn root(finding: &Finding, causes: &BTreeMap<Key, Key>) -> Key {
    let mut at = finding.key();
    for _ in causes {
        match causes.get(&at) {
            Some(cause) => at = cause.clone(),
            None => break,
        }
    }
    at
}

impl Report {
    /// What the rules say that `hears` chooses: their findings and the causes of those, and where something is unknown what
    /// access has to do with it. What is missing counts where it is missing for a rule that `needs` chooses.
    #[must_use]
    pub fn within(mut self, hears: impl Fn(&Rule) -> bool, needs: impl Fn(&Rule) -> bool) -> Self {
        let chosen = |id: &str| rules::rule(id).is_some_and(&hears);
        let own = |id: &str| rules::rule(id).is_some_and(|rule| needs(rule) || rule.layer == Layer::Access);
        self.unknown.retain_mut(|unknown| {
            // What could not be read has no ids, and is nobody's.
            let nobodys = unknown.ids.is_empty();
            unknown.ids.retain(|id| own(id));
            nobodys || !unknown.ids.is_empty()
        });
        let explains = !self.unknown.is_empty();
        let mut kept: BTreeSet<Key> = BTreeSet::new();
        let causes: BTreeMap<Key, Key> =
            self.findings.iter().filter_map(|f| Some((f.key(), f.caused_by.clone()?))).collect();
        for finding in &self.findings {
            let access = finding.layer == Layer::Access && !rules::is_not_run(finding.id);
            if chosen(finding.id) || (explains && access) {
                let mut at = Some(finding.key());
                while let Some(key) = at.filter(|key| kept.insert(key.clone())) {
                    at = causes.get(&key).cloned();
                }
            }
        }
        self.findings.retain(|finding| kept.contains(&finding.key()));
        // What keeps somebody from looking comes after what was seen, unless it is the cause of it.
        let told: BTreeSet<Key> = self.findings.iter().filter(|f| chosen(f.id)).map(|f| root(f, &causes)).collect();
        self.findings.sort_by_key(|finding| !told.contains(&root(finding, &causes)));
        self.passed.retain(|passed| chosen(passed.id));
        self
    }

    /// The worst severity found.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|f| f.severity).max()
    }
}
