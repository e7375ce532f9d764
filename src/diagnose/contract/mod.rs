//! The tenant contract: numbered clauses, each with what checks it, and what a report comes to for each.
//!
//! The table of `docs/tenant-contract.md` is made of [`CLAUSES`]. A clause that rules speak for is judged by what they
//! said; what only a workload or another place can show is *not run here*, with the command, whatever else passed.

mod clauses;
mod words;

use std::fmt::Write as _;

use serde::Serialize;

use super::Report;
use super::collect::{Check, Wanted};
use super::facts::Facts;
use super::finding::{Finding, Key, Severity, Subject, Unknown};
use super::rules::leaves_open;
use super::scope::{Scope, Whose};
use crate::backends::proxmox::endpoints::ZONES;
use crate::diagnose::evidence::Api;
use words::Words;

pub use clauses::CLAUSES;

/// Who owes a clause to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Party {
    /// The platform owes it to the tenant.
    Platform,
    /// The tenant owes it to the platform and to other tenants.
    Tenant,
}

impl Party {
    /// Word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Platform => "platform",
            Self::Tenant => "tenant",
        }
    }
}

/// What is looked at elsewhere: by hand, from a workload, from another segment.
#[derive(Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// Where it is run.
    pub place: &'static str,
    /// The command. `TENANT`, `DOMAIN` and `GATEWAY` stand for the tenant's own, `OTHER` for the first workload's address
    /// of another tenant.
    pub command: &'static str,
    /// What has to come.
    pub expect: &'static str,
}

/// A clause.
#[derive(Debug, PartialEq, Eq)]
pub struct Clause {
    /// Number: a letter for its part, and a count that is never given to another clause.
    pub id: &'static str,
    /// Who owes it.
    pub by: Party,
    /// What is owed, one sentence.
    pub says: &'static str,
    /// Rules whose findings break it, or leave it open where they say what was not read or tried
    /// ([`leaves_open`]); empty = it cannot be judged from outside.
    pub rules: &'static [&'static str],
    /// What those rules do not see.
    pub elsewhere: Option<Elsewhere>,
    /// Whether those rules judge what was tried there alone: nothing tried is nothing to miss here.
    pub tried: bool,
}

/// A part of the contract.
#[derive(Debug, PartialEq, Eq)]
pub struct Part {
    /// The letter of its clauses.
    pub letter: char,
    /// Title.
    pub title: &'static str,
}

/// The parts in order.
pub static PARTS: [Part; 8] = [
    Part { letter: 'N', title: "Network" },
    Part { letter: 'E', title: "Egress" },
    Part { letter: 'I', title: "Isolation" },
    Part { letter: 'D', title: "Names" },
    Part { letter: 'K', title: "Update keys" },
    Part { letter: 'W', title: "Machines" },
    Part { letter: 'P', title: "Delivery by pull" },
    Part { letter: 'S', title: "Identity and secrets" },
];

/// What a clause came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum State {
    /// A finding breaks it.
    Broken {
        /// The findings.
        by: Vec<Key>,
    },
    /// An input is missing, or what was found may be another tenant's.
    Unknown {
        /// The inputs.
        missing: Vec<String>,
    },
    /// Rules looked and found nothing.
    Kept,
    /// It is not looked at from here.
    NotRun,
}

impl State {
    /// Of a check that was given up a pass is partial: the rules may have looked at a part of the tenant alone.
    fn unless_given_up(self, facts: &Facts) -> Self {
        match (&self, &facts.given_up) {
            (Self::Kept, Some(given_up)) => {
                Self::Unknown { missing: vec![format!("the rest of the check: {}", given_up.why)] }
            }
            _ => self,
        }
    }
}

/// A clause of one tenant, judged.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    /// The tenant.
    pub tenant: String,
    /// Number of the clause.
    pub clause: &'static str,
    /// Who owes it.
    pub by: Party,
    /// What is owed.
    pub says: &'static str,
    /// What it came to.
    #[serde(flatten)]
    pub state: State,
    /// What is not run here, and where it is.
    pub not_run: Option<Command>,
}

/// A command to run elsewhere, with the tenant's own names and numbers in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Command {
    /// Where.
    pub place: &'static str,
    /// The command.
    pub command: String,
    /// What has to come.
    pub expect: &'static str,
}

/// The clause of this number.
#[must_use]
pub fn clause(id: &str) -> Option<&'static Clause> {
    CLAUSES.iter().find(|clause| clause.id == id)
}

/// Whether any clause rests on the rule `id`.
#[must_use]
pub fn rests_on(id: &str) -> bool {
    CLAUSES.iter().any(|clause| clause.rules.contains(&id))
}

/// Tenants that the evidence names: zones in force that have a tenant's number, else all EVPN zones.
#[must_use]
pub fn tenants(facts: &Facts) -> Vec<String> {
    let Some(zones) = facts.sdn.zones_in_force() else { return Vec::new() };
    let plan = facts.site.as_ref().map(|site| &site.value.numbering);
    let ours = |vni: Option<u32>| plan.is_none_or(|plan| vni.and_then(|vni| plan.index_of_vrf_vni(vni)).is_some());
    let zones = zones.iter().filter(|zone| zone.kind == "evpn" && ours(zone.vrf_vni));
    zones.map(|zone| zone.zone.clone()).collect()
}

/// The clauses of whom a check was asked about, where it judges any: every tenant's without one. Where nobody can say which
/// tenants there are, every clause once, as unknown: none of them is silently left out.
#[must_use]
pub fn asked(report: &Report, facts: &Facts, wanted: &Wanted) -> Option<Vec<Judged>> {
    if !matches!(wanted.check, Check::Contract | Check::All) {
        return None;
    }
    let Some(tenant) = &wanted.tenant else {
        let tenants = tenants(facts);
        let unseen = unseen(facts).filter(|_| tenants.is_empty());
        return Some(match unseen {
            Some(why) => nobodys(report, facts, &why),
            None => tenants.iter().flat_map(|tenant| of(report, facts, tenant)).collect(),
        });
    };
    Some(of(report, facts, tenant))
}

/// Why it cannot be told which tenants there are; `None` where the list of zones was read whole.
pub(super) fn unseen(facts: &Facts) -> Option<String> {
    let whole = || facts.access.held.as_ref().is_none_or(|held| ZONES.privilege.sees_all(held));
    match facts.sdn.zones_in_force() {
        Some(_) if whole() => None,
        Some(_) => {
            Some(format!("which tenants there are: {} shows no more than its token may see", Api::Proxmox.words()))
        }
        None => {
            let why = facts.calls.why(Api::Proxmox, "cluster/sdn/zones").unwrap_or_else(|| "not read".to_owned());
            Some(format!("which tenants there are: {}, {why}", Api::Proxmox.words()))
        }
    }
}

/// Stands for the tenants where it cannot be told who they are.
const ALL: &str = "every tenant";

/// Every clause once, for tenants that could not be read: what was found may be anybody's.
fn nobodys(report: &Report, facts: &Facts, why: &str) -> Vec<Judged> {
    let words = Words::of(facts, "");
    let state = |clause: &Clause| {
        if clause.rules.is_empty() {
            return State::NotRun;
        }
        let loud = report.findings.iter().filter(|f| clause.rules.contains(&f.id) && f.severity > Severity::Info);
        let missing = std::iter::once(why.to_owned()).chain(loud.map(|f| format!("whose this is: {}", f.title)));
        State::Unknown { missing: missing.collect() }
    };
    CLAUSES.iter().map(|clause| judged(clause, ALL, state(clause), &words)).collect()
}

fn judged(clause: &Clause, tenant: &str, state: State, words: &Words<'_>) -> Judged {
    Judged {
        tenant: crate::text::clean(tenant).into_owned(),
        clause: clause.id,
        by: clause.by,
        says: clause.says,
        state,
        not_run: clause.elsewhere.as_ref().filter(|e| !words.has_run(e)).map(|e| words.command(e)),
    }
}

/// How many of `judged` came to `state`, whatever it holds.
#[must_use]
pub fn count(judged: &[Judged], state: &State) -> usize {
    judged.iter().filter(|one| std::mem::discriminant(&one.state) == std::mem::discriminant(state)).count()
}

/// Every clause of `tenant`, as `report` of `facts` has it.
#[must_use]
pub fn of(report: &Report, facts: &Facts, tenant: &str) -> Vec<Judged> {
    let words = Words::of(facts, tenant);
    let scope = Scope::of(report, tenant);
    let unseen = unseen(facts);
    let state = |clause| state(clause, report, (&scope, &words), unseen.as_deref()).unless_given_up(facts);
    CLAUSES.iter().map(|clause| judged(clause, tenant, state(clause), &words)).collect()
}

fn state(clause: &Clause, report: &Report, (scope, words): (&Scope<'_>, &Words<'_>), unseen: Option<&str>) -> State {
    if clause.rules.is_empty() {
        return State::NotRun;
    }
    let speaks = |id: &str| clause.rules.contains(&id);
    let loud = |f: &&Finding| speaks(f.id) && f.severity > Severity::Info;
    let whose = |subject: &Subject, finding: Option<&Finding>| match (words.owner(subject), finding) {
        (Some(whose), _) => whose,
        (None, Some(finding)) => match scope.finding(finding) {
            Whose::Unclear => words.reached(finding).unwrap_or(Whose::Unclear),
            told => told,
        },
        (None, None) => scope.subject(subject),
    };
    let found: Vec<(&Finding, Whose)> =
        report.findings.iter().filter(loud).map(|f| (f, whose(&f.subject, Some(f)))).collect();
    let ours =
        found.iter().filter(|(_, whose)| matches!(whose, Whose::Ours | Whose::Shared)).map(|(finding, _)| *finding);
    // What says that something was not read, or not tried, is no proof against anybody.
    let (open, proven): (Vec<&Finding>, Vec<&Finding>) = ours.partition(|finding| leaves_open(finding.id));
    let broken: Vec<Key> = proven.into_iter().map(Finding::key).collect();
    if !broken.is_empty() {
        return State::Broken { by: broken };
    }
    // What is told to be the tenant's too is so, whatever its words name.
    let others = |u: &Unknown| match scope.unknown(u) {
        Whose::Theirs => true,
        Whose::Ours if u.about.is_some() => false,
        _ => words.is_others(&u.missing),
    };
    let about = |u: &&Unknown| u.ids.iter().any(|id| speaks(id)) && !others(u);
    let mut missing: Vec<String> = report.unknown.iter().filter(about).map(|u| u.missing.clone()).collect();
    missing.extend(open.into_iter().map(left_open));
    let unclear = found.iter().filter(|(_, whose)| *whose == Whose::Unclear);
    missing.extend(unclear.map(|(finding, _)| format!("whose this is: {}", finding.title)));
    let looked = report.passed.iter().filter(|passed| speaks(passed.id));
    let looked = looked.map(|passed| whose(&passed.subject, None)).any(|w| matches!(w, Whose::Ours | Whose::Shared));
    if missing.is_empty() && looked {
        return State::Kept;
    }
    if missing.is_empty() && clause.tried {
        return State::NotRun;
    }
    if missing.is_empty() {
        missing.push(unseen.unwrap_or("nothing that was read speaks of it").to_owned());
    }
    State::Unknown { missing }
}

/// What `finding` leaves open, and where it is said.
fn left_open(finding: &Finding) -> String {
    let what = match finding.not_tested.as_slice() {
        [] => finding.title.trim_end_matches('.').to_owned(),
        many => many.join("; "),
    };
    format!("{what} ({} of {})", finding.id, finding.subject.name)
}

/// The table of clauses in Markdown, part by part: `docs/tenant-contract.md` is made of it.
#[must_use]
pub fn markdown() -> String {
    let mut out = String::new();
    for part in &PARTS {
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "\n### {} · {}\n\n| clause | owed by | what is owed | how it is checked |\n|---|---|---|---|",
            part.letter, part.title
        );
        for clause in CLAUSES.iter().filter(|clause| clause.id.starts_with(part.letter)) {
            let mut how = Vec::new();
            let (open, breaking): (Vec<&str>, Vec<&str>) = clause.rules.iter().partition(|id| leaves_open(id));
            for (word, ids) in [("broken by", breaking), ("left unknown by", open)] {
                let ids: Vec<String> = ids.iter().map(|id| format!("`{id}`")).collect();
                if !ids.is_empty() {
                    how.push(format!("{word} {}", ids.join(", ")));
                }
            }
            if let Some(elsewhere) = &clause.elsewhere {
                let command = elsewhere.command.replace('|', "\\|");
                how.push(format!("not run here, {}: `{command}` → {}", elsewhere.place, elsewhere.expect));
            }
            let _ =
                writeln!(out, "| **{}** | {} | {} | {} |", clause.id, clause.by.word(), clause.says, how.join("; "));
        }
    }
    out
}

#[cfg(test)]
mod tests;
