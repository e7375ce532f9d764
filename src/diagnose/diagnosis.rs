//! Everything that is said of one evidence: the report as the verb prints it, the path leg by leg, and the same on each
//! exit node by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Report;
use super::collect::{Asked, Check, Wanted, asked};
use super::contract::{self, Judged};
use super::evidence::{Evidence, Item};
use super::facts::Facts;
use super::finding::{Subject, Unknown};
use super::parts::{self, Part};
use super::path::{LEGS, Leg, Path, State, Untested};
use super::seen::{self, Seen};

/// What evidence comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// What was wanted.
    pub wanted: Wanted,
    /// What was read so far.
    pub evidence: Arc<Evidence>,
    /// What has not come yet; empty at the end.
    pub open: Vec<Part>,
    /// What the check says of whom it was asked about: the same as the verb says of the same evidence.
    pub report: Report,
    /// How many findings about others were left out.
    pub others: usize,
    /// What every rule says of whom it was asked about: the legs are judged by it, on each frame, so that it holds nothing
    /// of others.
    pub whole: Report,
    /// What the egress of each tenant comes to, where everybody was asked about and everything has come.
    pub verdicts: BTreeMap<String, State>,
    /// The clauses of the tenant contract, tenant by tenant, where the check judges them.
    pub clauses: Vec<Judged>,
    /// Each exit node by itself, where the tenant has several.
    pub nodes: Vec<OneNode>,
    /// What was seen on legs that pass.
    pub seen: Seen,
    /// Legs that are not tested on this site.
    pub untested: Untested,
    /// Why the check was not awaited to its end, where it was not.
    pub given_up: Option<String>,
}

/// One of a tenant's exit nodes, judged as if there were no other.
#[derive(Debug, Clone, PartialEq)]
pub struct OneNode {
    /// Name.
    pub name: String,
    /// Whether the zone prefers it.
    pub primary: bool,
    /// What every rule says of it.
    pub whole: Report,
    /// What has not come yet.
    pub open: Vec<Part>,
    /// What was seen on legs that pass.
    pub seen: Seen,
    /// Legs that are not tested on this site.
    pub untested: Untested,
}

/// A check of all tenants that is not shown all of them clears nobody whom it did not see.
fn who(wanted: &Wanted, facts: &Facts) -> Option<Unknown> {
    let of_all = wanted.tenant.is_none() && matches!(wanted.check, Check::Egress | Check::Workload | Check::All);
    let filtered = of_all && facts.sdn.zones_in_force().is_some();
    let why = contract::unseen(facts).filter(|_| filtered)?;
    Some(Unknown { missing: why, why: None, ids: Vec::new(), about: None })
}

impl Diagnosis {
    /// Judges `evidence` of a check that was asked for `wanted`, `open` not having come yet.
    #[must_use]
    pub fn of(wanted: &Wanted, evidence: Evidence, open: Vec<Part>) -> Self {
        let facts = Facts::of(&evidence);
        let whole = Report::of_facts(&facts).with_owners_of_unknown(&facts);
        let known = facts.site.as_ref().is_some_and(|site| asked(&evidence, wanted, &site.value) == Asked::There);
        let (mut report, others) = concerning(wanted, &whole, known);
        report.unknown.extend(who(wanted, &facts));
        let clauses = contract::asked(&report, &facts, wanted).unwrap_or_default();
        let whole = whole.with_owners(&facts);
        let verdicts = if open.is_empty() { verdicts(wanted, &whole, &facts) } else { BTreeMap::new() };
        let whole = of_tenant(whole, wanted.tenant.as_deref());
        let tenant = wanted.tenant.as_deref();
        let exits = tenant.map(|tenant| exits(&facts, tenant)).unwrap_or_default();
        let nodes = match (exits.as_slice(), wanted.check.has_path()) {
            ([_, _, ..], true) => exits
                .iter()
                .map(|(name, primary)| OneNode::of(&evidence, &exits, (name, *primary), (tenant, &open)))
                .collect(),
            _ => Vec::new(),
        };
        let (seen, untested) = (seen::of(&facts, tenant), seen::untested(&facts, tenant));
        let given_up = facts.given_up.map(|given_up| given_up.why);
        let (wanted, evidence) = (wanted.clone(), Arc::new(evidence));
        Self { wanted, evidence, open, report, others, whole, verdicts, clauses, nodes, seen, untested, given_up }
    }

    /// What `whole` comes to for `wanted`, without the evidence that it was made of.
    #[cfg(test)]
    pub(crate) fn of_report(wanted: &Wanted, whole: Report) -> Self {
        let mut diagnosis = Self::of(wanted, Evidence::default(), Vec::new());
        (diagnosis.report, diagnosis.others) = concerning(wanted, &whole, false);
        let facts = Facts::of(&diagnosis.evidence);
        diagnosis.verdicts = verdicts(wanted, &whole, &facts);
        diagnosis.clauses = contract::asked(&diagnosis.report, &facts, wanted).unwrap_or_default();
        Self { whole: of_tenant(whole, wanted.tenant.as_deref()), ..diagnosis }
    }

    /// The path, where the check looks at one.
    #[must_use]
    pub fn path(&self) -> Option<Path<'_>> {
        let tenant = self.wanted.tenant.as_deref();
        self.wanted.check.has_path().then(|| Path::so_far(&self.whole, tenant, &self.open, &self.untested))
    }

    /// What the tenant's egress comes to: the worst of its exit nodes, where there are several.
    #[must_use]
    pub fn state(&self) -> Option<State> {
        let tenant = self.wanted.tenant.as_deref();
        let whole = self.path()?.state();
        self.nodes.iter().map(|node| node.path(tenant).state()).chain([whole]).min_by_key(|state| state.rank())
    }

    /// The item kept in `file`.
    #[must_use]
    pub fn item(&self, file: &str) -> Option<&Item> {
        self.evidence.items.iter().find(|item| item.file == file)
    }
}

impl OneNode {
    fn of(
        evidence: &Evidence,
        exits: &[(String, bool)],
        (name, primary): (&str, bool),
        (tenant, open): (Option<&str>, &[Part]),
    ) -> Self {
        let others: BTreeSet<&str> = exits.iter().map(|(node, _)| node.as_str()).filter(|node| *node != name).collect();
        let elsewhere = |item: &Item| item.command().is_some() && others.contains(item.from.as_str());
        let items = evidence.items.iter().filter(|item| !elsewhere(item)).cloned().collect();
        let mut facts = Facts::of(&Evidence { question: evidence.question.clone(), items });
        let here = |part: &Part| part.node().is_none_or(|node| node == name);
        let of_others = |parts: &[Part]| !parts.is_empty() && !parts.iter().any(here);
        facts.given_up = facts.given_up.filter(|given_up| !of_others(&given_up.parts));
        if let Some(given_up) = &mut facts.given_up {
            given_up.parts.retain(here);
        }
        let open: Vec<Part> = open.iter().filter(|part| here(part)).cloned().collect();
        let mut whole = of_tenant(Report::of_facts(&facts).with_owners(&facts), tenant);
        let about_another = |subject: &Subject| subject.kind == "node" && others.contains(subject.name.as_str());
        whole.findings.retain(|finding| !about_another(&finding.subject));
        whole.passed.retain(|passed| !about_another(&passed.subject));
        if facts.nodes.get(name).is_none() && open.is_empty() {
            whole.unknown.push(unread(&facts, name));
        }
        let (seen, untested) = (seen::of(&facts, tenant), seen::untested(&facts, tenant));
        Self { name: name.to_owned(), primary, seen, untested, whole, open }
    }

    /// The path of `tenant` by way of this node.
    #[must_use]
    pub fn path(&self, tenant: Option<&str>) -> Path<'_> {
        Path::so_far(&self.whole, tenant, &self.open, &self.untested)
    }
}

/// What is missing of an exit node of which nothing was read.
fn unread(facts: &Facts, name: &str) -> Unknown {
    let described = facts.site.as_ref().is_none_or(|site| site.value.exit_nodes.iter().any(|exit| exit.name == name));
    let why = if described { "it was not read" } else { "the site file does not describe this exit node" };
    let looks = |leg: &&Leg| leg.awaits.iter().any(|kind| matches!(kind, parts::Kind::Read | parts::Kind::Tried));
    let ids = LEGS.iter().filter(looks).flat_map(|leg| leg.rules.iter().copied()).collect();
    let missing = crate::text::clean(&format!("everything of the exit node {name}")).into_owned();
    Unknown { missing, why: Some(why.to_owned()), ids, about: Some(vec![Subject::new("node", name)]) }
}

/// What of `whole` concerns `tenant`; all of it without one.
fn of_tenant(whole: Report, tenant: Option<&str>) -> Report {
    match tenant {
        Some(tenant) => whole.about(tenant).0,
        None => whole,
    }
}

/// What the egress of each tenant that `whole` names comes to, where nobody in particular was asked about.
fn verdicts(wanted: &Wanted, whole: &Report, facts: &Facts) -> BTreeMap<String, State> {
    if wanted.tenant.is_some() || !wanted.check.has_path() {
        return BTreeMap::new();
    }
    let subjects = whole.findings.iter().map(|f| &f.subject).chain(whole.passed.iter().map(|passed| &passed.subject));
    let names: BTreeSet<&str> =
        subjects.filter(|s| matches!(s.kind, "zone" | "tenant")).map(|s| s.name.as_str()).collect();
    let state = |name: &str| Path::so_far(whole, Some(name), &[], &seen::untested(facts, Some(name))).state();
    names.into_iter().map(|name| (name.to_owned(), state(name))).collect()
}

/// What of `whole` the check speaks of, and of whom; and how many findings about others were left out.
fn concerning(wanted: &Wanted, whole: &Report, known: bool) -> (Report, usize) {
    let narrowed = wanted.narrowed(whole.clone());
    match &wanted.tenant {
        Some(tenant) if known => narrowed.about_known(tenant),
        Some(tenant) => narrowed.about(tenant),
        None => (narrowed, 0),
    }
}

/// The exit nodes of the tenant's zone as it is in force, and which of them it prefers.
fn exits(facts: &Facts, tenant: &str) -> Vec<(String, bool)> {
    let zones = facts.sdn.zones_in_force().map_or(&[][..], |zones| zones.value.as_slice());
    let Some(zone) = zones.iter().find(|zone| zone.zone == tenant) else { return Vec::new() };
    let primary = |name: &String| zone.primary.as_deref() == Some(name.as_str());
    zone.exit_nodes.iter().map(|name| (name.clone(), primary(name))).collect()
}
