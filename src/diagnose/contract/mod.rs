//! The tenant contract: numbered clauses, each with what checks it, and what a report comes to for each.
//!
//! The table of `docs/tenant-contract.md` is made of [`CLAUSES`]. A clause that rules speak for is judged by what they
//! said; what only a workload or another place can show is *not run here*, with the command, whatever else passed.

mod clauses;

use std::fmt::Write as _;

use serde::Serialize;

use super::Report;
use super::facts::Facts;
use super::finding::{Finding, Key, Severity, Subject, Unknown};
use super::scope::{Scope, Whose};
use crate::site::names::TenantName;

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
    /// Rules whose findings break it; empty = it cannot be judged from outside.
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
    CLAUSES
        .iter()
        .map(|clause| Judged {
            tenant: crate::text::clean(tenant).into_owned(),
            clause: clause.id,
            by: clause.by,
            says: clause.says,
            state: state(clause, report, &scope, &words).unless_given_up(facts),
            not_run: clause.elsewhere.as_ref().filter(|e| !words.has_run(e)).map(|e| words.command(e)),
        })
        .collect()
}

fn state(clause: &Clause, report: &Report, scope: &Scope<'_>, words: &Words<'_>) -> State {
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
    let broken: Vec<Key> = found
        .iter()
        .filter(|(_, whose)| matches!(whose, Whose::Ours | Whose::Shared))
        .map(|(finding, _)| finding.key())
        .collect();
    if !broken.is_empty() {
        return State::Broken { by: broken };
    }
    let about = |u: &&Unknown| u.ids.iter().any(|id| speaks(id)) && !words.is_others(&u.missing);
    let mut missing: Vec<String> = report.unknown.iter().filter(about).map(|u| u.missing.clone()).collect();
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
        missing.push("nothing that was read speaks of it".to_owned());
    }
    State::Unknown { missing }
}

/// A tenant's names and numbers, as far as the evidence has them.
struct Words<'f> {
    facts: &'f Facts,
    tenant: &'f str,
    index: Option<crate::site::numbering::TenantIndex>,
}

impl<'f> Words<'f> {
    fn of(facts: &'f Facts, tenant: &'f str) -> Self {
        let zone = facts.sdn.zones_in_force().and_then(|zones| zones.value.iter().find(|zone| zone.zone == tenant));
        let plan = facts.site.as_ref().map(|site| &site.value.numbering);
        let index = zone.and_then(|zone| zone.vrf_vni).zip(plan).and_then(|(vni, plan)| plan.index_of_vrf_vni(vni));
        Self { facts, tenant, index }
    }

    /// Whose something is whose name is a number of the plan: a machine by its VMID or its address, a reverse zone.
    fn owner(&self, subject: &Subject) -> Option<Whose> {
        let plan = &self.facts.site.as_ref()?.value.numbering;
        let index = match subject.kind {
            "workload" => match subject.name.parse::<std::net::Ipv4Addr>() {
                Ok(address) => plan.index_of_address(address),
                Err(_) => plan.index_of_vmid(subject.name.parse().ok()?).map(|(index, _)| index),
            },
            "name" => plan.index_of_reverse_zone(reverse(&subject.name)?),
            _ => None,
        }?;
        Some(if Some(index) == self.index { Whose::Ours } else { Whose::Theirs })
    }

    /// Whom a finding reaches that names networks: a rule of the perimeter.
    fn reached(&self, finding: &Finding) -> Option<Whose> {
        let subnet = self.facts.site.as_ref()?.value.numbering.subnet(self.index?);
        let nets: Vec<ipnet::Ipv4Net> = finding.affects.iter().filter_map(|who| who.parse().ok()).collect();
        let meets = |net: &ipnet::Ipv4Net| net.contains(&subnet) || subnet.contains(net);
        (!nets.is_empty()).then(|| if nets.iter().any(meets) { Whose::Ours } else { Whose::Theirs })
    }

    /// Whether a missing input names another tenant's zone and nothing of this one.
    fn is_others(&self, missing: &str) -> bool {
        let words = || missing.split([' ', ',']);
        let named = |word: &str| {
            let subject = Subject::new("name", word);
            self.owner(&subject).or_else(|| {
                let domain = &self.facts.site.as_ref()?.value.domain;
                let head = word.strip_suffix(domain.as_str())?.strip_suffix('.')?;
                Some(if head.rsplit('.').next() == Some(self.tenant) { Whose::Ours } else { Whose::Theirs })
            })
        };
        let all: Vec<Whose> = words().filter_map(named).collect();
        !all.is_empty() && all.iter().all(|whose| *whose == Whose::Theirs)
    }

    /// Whether the evidence is of a check that has run it: with the tenants' keys.
    fn has_run(&self, elsewhere: &Elsewhere) -> bool {
        let tried = self.facts.keys.as_ref().is_some_and(|tried| tried.not_run.is_none());
        tried && elsewhere.command.ends_with(" --keys")
    }

    /// The first workload's address of another tenant.
    fn other(&self) -> Option<String> {
        let plan = &self.facts.site.as_ref()?.value.numbering;
        let zones = self.facts.sdn.zones_in_force()?;
        let mut indexes = zones.iter().filter_map(|zone| plan.index_of_vrf_vni(zone.vrf_vni?));
        let other = indexes.find(|index| Some(*index) != self.index)?;
        plan.workload_address(other, 0).map(|address| address.to_string())
    }

    fn command(&self, elsewhere: &Elsewhere) -> Command {
        let site = self.facts.site.as_ref().map(|site| &site.value);
        let plan = site.map(|site| &site.numbering).zip(self.index);
        // A name that is no tenant's stays out of a shell.
        let tenant = self.tenant.parse::<TenantName>().ok();
        let mut command = elsewhere.command.to_owned();
        let mut put = |word: &str, value: Option<String>| {
            if let Some(value) = value {
                command = command.replace(word, &value);
            }
        };
        put("TENANT", tenant.map(|tenant| tenant.to_string()));
        put("DOMAIN", site.map(|site| site.domain.clone()));
        put("GATEWAY", plan.map(|(plan, index)| plan.gateway(index).to_string()));
        put("OTHER", self.other());
        Command { place: elsewhere.place, command: crate::text::clean(&command).into_owned(), expect: elsewhere.expect }
    }
}

/// The reverse zone in which a name is: its last five labels.
fn reverse(name: &str) -> Option<&str> {
    let start = name.rmatch_indices('.').nth(4).map_or(0, |(at, _)| at + 1);
    name.get(start..).filter(|zone| zone.ends_with(".in-addr.arpa"))
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
            if !clause.rules.is_empty() {
                let ids: Vec<String> = clause.rules.iter().map(|id| format!("`{id}`")).collect();
                how.push(format!("broken by {}", ids.join(", ")));
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
