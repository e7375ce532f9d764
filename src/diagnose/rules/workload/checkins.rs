//! How far workloads came with their configuration (domain.md §7.6): one rule a way not to get there.
//!
//! What holds of a record is judged as the console's own rows are; nothing is said where the site has no source of
//! check-ins, or its service offers none.

use std::collections::BTreeSet;

use jiff::SignedDuration;

use super::super::{Out, Rule};
use crate::backends::bootstrap::Record;
use crate::backends::proxmox::endpoints::RESOURCES;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::cluster::Listed;
use crate::diagnose::facts::services::CheckIns;
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};
use crate::diagnose::scope::tenant_of;
use crate::inventory::CheckInState;
use crate::inventory::deliveries::judge::{Case, Flag, Machine, Vm};
use crate::inventory::deliveries::words;

const READS: &str = "check-ins of the workloads, the list of guests, their SMBIOS UUIDs and uptimes";

/// A rule of this file.
const fn rule(id: &'static str, severity: Severity, says: &'static str, judge: fn(&Facts, &mut Out<'_>)) -> Rule {
    Rule { id, layer: Layer::Workload, severity, says, reads: READS, unlike: &[], explains: &[], judge }
}

/// A second holder.
pub static REPLAY: Rule = rule(
    "checkin-replay",
    Severity::Fault,
    "A workload's token was used again by somebody else, and refused. It stands until somebody acknowledges it: a token was \
     copied, or a disk was.",
    |facts, out| judge(facts, out, Sign::State(CheckInState::ReplayRefused)),
);

/// Another machine.
pub static FOREIGN: Rule = rule(
    "checkin-foreign",
    Severity::Warning,
    "A machine reports in a workload's name whose SMBIOS UUID is not the workload's: an old disk, or a deleted machine that \
     still runs. Where the UUID of the workload's machine was not read, nobody is accused, and nobody is cleared.",
    |facts, out| judge(facts, out, Sign::State(CheckInState::Foreign)),
);

/// The last report is an error.
pub static FAILED: Rule = Rule {
    explains: &["checkin-behind", "checkin-stuck"],
    ..rule(
        "checkin-failed",
        Severity::Fault,
        "The last report of a workload's agent is an error: the phase tells how far it came with its configuration.",
        |facts, out| judge(facts, out, Sign::State(CheckInState::Failed)),
    )
};

/// The token ran out.
pub static EXPIRED: Rule = rule(
    "checkin-expired",
    Severity::Warning,
    "A workload's token ran out, or was taken back, before anything came of it: its machine never fetched its configuration.",
    |facts, out| judge(facts, out, Sign::State(CheckInState::Expired)),
);

/// Another generation runs.
pub static BEHIND: Rule = rule(
    "checkin-behind",
    Severity::Warning,
    "A workload runs another generation of its configuration than the declared one. There is no restart in place: it takes \
     a cold start, or a new machine.",
    |facts, out| judge(facts, out, Sign::State(CheckInState::Behind)),
);

/// Never checked in.
pub static LATE: Rule = rule(
    "checkin-late",
    Severity::Warning,
    "A workload's machine has run for ten minutes and never used its token: the pointer was not written or not read, or the \
     service is not reached from there (names, translation, policy, certificate).",
    |facts, out| judge(facts, out, Sign::Flag(Flag::Late)),
);

/// Fetched, and silent.
pub static STUCK: Rule = rule(
    "checkin-stuck",
    Severity::Warning,
    "A workload fetched its configuration more than ten minutes ago, and nothing was heard of it since: no report says that it \
     runs.",
    |facts, out| judge(facts, out, Sign::Flag(Flag::Stuck)),
);

/// The token is another machine's.
pub static OTHER: Rule = rule(
    "checkin-other-instance",
    Severity::Warning,
    "A workload's token is bound to another SMBIOS UUID than its machine has: the machine was replaced after the token was \
     issued, or lost its UUID in a careless write.",
    |facts, out| judge(facts, out, Sign::Flag(Flag::OtherInstance)),
);

/// No machine.
pub static ALONE: Rule = rule(
    "checkin-without-machine",
    Severity::Warning,
    "The service of check-ins has a configuration or a token for a workload of which there is no machine.",
    |facts, out| judge(facts, out, Sign::Flag(Flag::NoMachine)),
);

/// Waits for a cold start.
pub static COLD: Rule = rule(
    "checkin-cold-start",
    Severity::Info,
    "A workload's token was written while its machine ran: the machine sees it after a cold start.",
    |facts, out| judge(facts, out, Sign::Flag(Flag::ColdStart)),
);

/// Silent.
pub static SILENT: Rule = rule(
    "checkin-silent",
    Severity::Info,
    "A workload that runs its configuration has missed three reports. That is no failure: what it runs, it may run on.",
    |facts, out| judge(facts, out, Sign::Flag(Flag::Silent)),
);

/// What a rule looks for.
#[derive(Clone, Copy)]
enum Sign {
    State(CheckInState),
    Flag(Flag),
}

/// A record, judged.
struct Seen<'f> {
    case: Case<'f>,
    state: CheckInState,
    flag: Option<Flag>,
}

impl Seen<'_> {
    fn shows(&self, sign: Sign) -> bool {
        match sign {
            Sign::State(state) => self.case.holds(state),
            // That somebody else speaks for it says so already.
            Sign::Flag(Flag::NoMachine) => self.flag == Some(Flag::NoMachine) && self.state != CheckInState::Foreign,
            Sign::Flag(flag) => self.flag == Some(flag),
        }
    }

    /// Whether that `sign` does not show says something: while a configuration is on its way, not that it came.
    fn says(&self, sign: Sign) -> bool {
        let identity = matches!(sign, Sign::State(CheckInState::ReplayRefused | CheckInState::Foreign));
        self.case.applied().is_some() || identity && self.state != CheckInState::None
    }

    /// Whether `sign` can be told at all: who a machine is shows its UUID alone, or a whole list that has no machine.
    fn can_tell(&self, sign: Sign) -> bool {
        let machine = &self.case.machine;
        match sign {
            Sign::State(CheckInState::Foreign) | Sign::Flag(Flag::OtherInstance) => {
                machine.uuid().is_some() || machine.vm.is_none() && machine.whole
            }
            Sign::Flag(Flag::NoMachine) => machine.vm.is_some() && machine.fresh || machine.whole,
            _ => true,
        }
    }

    /// Says that `sign` cannot be told, and why.
    fn untold(&self, facts: &Facts, sign: Sign, out: &mut Out<'_>) {
        let who = who(self.case.record);
        let (what, why) = match (self.case.machine.vm, sign) {
            (Some(vm), Sign::Flag(Flag::OtherInstance) | Sign::State(_)) => {
                let path = format!("nodes/*/qemu/{}/config", vm.vmid);
                let read = facts.guests.config.contains_key(&vm.vmid.to_string());
                let none = read.then(|| "its configuration names none".to_owned());
                (
                    format!("the SMBIOS UUID of {who}, machine {}", vm.vmid),
                    none.or_else(|| facts.calls.why(Api::Proxmox, &path)),
                )
            }
            _ => {
                let partly = facts.cluster.guests.is_some().then(|| "the list of guests may not be whole".to_owned());
                let why = unnamed(facts).or(partly).or_else(|| facts.calls.why(Api::Proxmox, "cluster/resources"));
                (format!("which machine is that of {who}"), why)
            }
        };
        out.unknown_of([self.tenant()], what, why);
    }

    fn tenant(&self) -> Subject {
        Subject::new("tenant", &self.case.record.tenant)
    }

    /// Its machine's number, else its name.
    fn subject(&self) -> Subject {
        let record = self.case.record;
        let number = self.case.machine.vm.map(|vm| vm.vmid).or(record.vmid);
        Subject::new("workload", number.map_or_else(|| who(record), |number| number.to_string()))
    }
}

/// Where guests are that Proxmox names by their numbers alone, as it does while their node is out of reach.
fn unnamed(facts: &Facts) -> Option<String> {
    let guests = facts.cluster.guests.iter().flat_map(|all| &all.value);
    let nodes: BTreeSet<&str> = guests.filter(|guest| guest.name.is_none()).map(|guest| guest.node.as_str()).collect();
    let nodes: Vec<&str> = nodes.into_iter().collect();
    (!nodes.is_empty()).then(|| format!("guests of {} are listed without their names", crate::text::some_of(&nodes)))
}

fn who(record: &Record) -> String {
    crate::text::clean(&format!("{}/{}", record.tenant, record.workload)).into_owned()
}

/// The tenants of guests that no record of `read` is of, where the list of guests is whole: what a source does not tell is
/// missing of them. By the numbers of the plan, else by the first part of a guest's name.
fn without_record(facts: &Facts, read: &CheckIns) -> Option<Vec<Subject>> {
    let guests = facts.cluster.guests.as_ref()?;
    facts.access.held.as_ref().filter(|held| RESOURCES.privilege.sees_all(held))?;
    let of = |record: &Record| format!("{}-{}", record.tenant, record.workload);
    let told: Vec<String> = read.records.iter().map(of).collect();
    let tenant = |guest: &Listed| {
        let number = Subject::new("workload", guest.vmid.to_string());
        let by_name = || guest.name.as_deref()?.split_once('-').map(|(tenant, _)| tenant);
        tenant_of(facts, &number).or_else(by_name).map(|tenant| Subject::new("tenant", tenant))
    };
    let untold = |guest: &&Listed| !guest.name.as_ref().is_some_and(|name| told.contains(name));
    Some(guests.iter().filter(untold).filter_map(tenant).collect())
}

/// Says what the source does not tell.
fn missing(facts: &Facts, read: &CheckIns, out: &mut Out<'_>, what: &str, why: String) {
    match without_record(facts, read) {
        Some(whom) => out.unknown_of(whom, what, Some(why)),
        None => out.unknown(what, Some(why)),
    }
}

/// The machine of a record: by its name, else by its number where its UUID is the one that the token is bound to.
fn machine<'f>(facts: &'f Facts, record: &Record) -> Machine<'f> {
    let all = facts.cluster.guests.as_ref().map_or(&[][..], |all| all.value.as_slice());
    let name = format!("{}-{}", record.tenant, record.workload);
    let uuid = |guest: &Listed| facts.guests.config.get(&guest.vmid.to_string())?.uuid.as_deref();
    let bound = record.token.as_ref().and_then(|token| token.smbios_uuid.as_deref());
    let same = |guest: &&Listed| {
        let own = uuid(guest).zip(bound).is_some_and(|(own, bound)| own.eq_ignore_ascii_case(bound));
        own && record.vmid.is_some_and(|vmid| u64::from(vmid) == guest.vmid)
    };
    let named = all.iter().find(|guest| guest.name.as_deref() == Some(name.as_str()));
    let guest = named.or_else(|| all.iter().find(same));
    let vm = guest.and_then(|guest| {
        let power = facts.guests.power.get(&guest.vmid.to_string());
        let up = power.and_then(|power| i64::try_from(power.uptime?).ok());
        let started_at = facts.read_at.zip(up).and_then(|(at, up)| at.checked_sub(SignedDuration::from_secs(up)).ok());
        let status = power.map_or(guest.status.as_str(), |power| power.status.as_str());
        Some(Vm { vmid: u32::try_from(guest.vmid).ok()?, uuid: uuid(guest), status, started_at })
    });
    let fresh = facts.cluster.guests.is_some();
    let whole = fresh
        && unnamed(facts).is_none()
        && facts.access.held.as_ref().is_some_and(|held| RESOURCES.privilege.sees_all(held));
    Machine { vm, fresh, whole, read_at: facts.read_at }
}

fn seen<'f>(facts: &'f Facts, read: &'f CheckIns) -> Vec<Seen<'f>> {
    let Some(at) = read.at.or(facts.read_at) else { return Vec::new() };
    let one = |record: &'f Record| {
        let case = Case { record, machine: machine(facts, record), at };
        let state = case.state();
        Seen { case, state, flag: case.flag(state) }
    };
    read.records.iter().map(one).collect()
}

fn judge(facts: &Facts, out: &mut Out<'_>, sign: Sign) {
    let Some(read) = &facts.checkins else { return };
    if let Some(why) = read.silent() {
        return missing(facts, read, out, "the check-ins of the workloads", why.to_owned());
    }
    if !read.broken.is_empty() || read.more {
        let first = read.broken.first().map(|broken| format!("number {}: {}", broken.number, broken.why));
        let why = first.unwrap_or_else(|| "the source lists more than is read".to_owned());
        let what = format!("the check-ins that {} lists and that make no sense", read.place);
        missing(facts, read, out, &what, why);
    }
    for seen in seen(facts, read) {
        let untold = seen.flag == Some(Flag::Untold);
        if untold && matches!(sign, Sign::State(CheckInState::Behind)) {
            let why = "its report names neither a generation nor a digest that could be compared".to_owned();
            out.unknown_of([seen.tenant()], format!("which generation {} runs", who(seen.case.record)), Some(why));
        } else if seen.shows(sign) {
            out.found(finding(facts, read, &seen, sign, out));
        } else if seen.says(sign) && !seen.can_tell(sign) {
            seen.untold(facts, sign, out);
        } else if seen.says(sign) {
            out.pass(seen.subject());
        }
    }
}

/// The sentence of a sign.
fn title(seen: &Seen<'_>, sign: Sign) -> String {
    let (case, who) = (&seen.case, who(seen.case.record));
    match sign {
        Sign::State(CheckInState::ReplayRefused) => {
            format!("Somebody else used the token of {who} again, and was refused.")
        }
        Sign::State(CheckInState::Foreign) => format!("Another machine reports in the name of {who}."),
        Sign::State(CheckInState::Failed) => match case.failed() {
            Some(report) => format!("The agent of {who} failed at {}: {}.", report.phase, words::said(report)),
            None => format!("The agent of {who} failed."),
        },
        Sign::State(CheckInState::Expired) if seen.flag == Some(Flag::Revoked) => {
            format!("The token of {who} was taken back before anything came of it.")
        }
        Sign::State(CheckInState::Expired) => format!("The token of {who} ran out unused."),
        Sign::State(_) => {
            let generation = |g: Option<u64>| g.map_or_else(|| "another one".to_owned(), |g| format!("generation {g}"));
            let declared = generation(case.record.declared.as_ref().map(|declared| declared.generation));
            let applied = generation(case.applied().and_then(|report| report.generation));
            format!("{who} runs {applied} of its configuration, and {declared} is declared.")
        }
        Sign::Flag(Flag::Late) => format!("The machine of {who} runs, and never used its token."),
        Sign::Flag(Flag::Stuck) => format!("{who} fetched its configuration, and nothing was heard of it since."),
        Sign::Flag(Flag::OtherInstance) => format!("The token of {who} is bound to another machine."),
        Sign::Flag(Flag::NoMachine) => format!("There is no machine of {who}, which the service of check-ins has."),
        Sign::Flag(Flag::ColdStart) => format!("{who} sees its token after a cold start."),
        Sign::Flag(_) => format!("{who} has missed three reports."),
    }
}

/// What to do, by its id.
const fn next_id(sign: Sign) -> &'static str {
    match sign {
        Sign::State(CheckInState::ReplayRefused) => "revoke-token",
        Sign::State(CheckInState::Foreign) => "find-other-machine",
        Sign::State(CheckInState::Failed) => "read-report",
        Sign::State(CheckInState::Expired) | Sign::Flag(Flag::OtherInstance) => "reissue-token",
        Sign::State(_) | Sign::Flag(Flag::ColdStart) => "cold-start",
        Sign::Flag(Flag::Late | Flag::Stuck) => "look-at-console",
        Sign::Flag(Flag::NoMachine) => "find-machine",
        Sign::Flag(_) => "look-at-agent",
    }
}

/// The state and flag that a sign is of, for its words: what is shown of the row may be another one.
fn of_sign(seen: &Seen<'_>, sign: Sign) -> (CheckInState, Option<Flag>) {
    match sign {
        Sign::State(state) if state != seen.state => (state, None),
        _ => (seen.state, seen.flag),
    }
}

fn finding(facts: &Facts, read: &Sourced<CheckIns>, seen: &Seen<'_>, sign: Sign, out: &Out<'_>) -> Finding {
    let (case, record) = (&seen.case, seen.case.record);
    let (state, flag) = of_sign(seen, sign);
    let name = who(record);
    let mut finding = out
        .finding(seen.subject(), title(seen, sign))
        .fact("checkin.state", &name, words::word(case, state, flag))
        .affects([&record.tenant])
        .from(read);
    if let Some(token) = &record.token {
        finding = finding.fact("checkin.token", &name, words::token(token, case.at));
    }
    if let Some(last) = case.last_own() {
        finding = finding.fact("checkin.last-report", &name, format!("{} at {}", last.phase, last.at));
    }
    if let Some(vm) = case.machine.vm {
        finding = finding.affects([vm.vmid.to_string()]);
        if let Some(config) = facts.guests.config.get(&vm.vmid.to_string()).filter(|config| config.uuid.is_some()) {
            finding = finding.from(config);
        }
    }
    let danger = u8::from(!matches!(sign, Sign::State(CheckInState::Foreign | CheckInState::Failed) | Sign::Flag(_)));
    let words = match sign {
        Sign::State(CheckInState::Failed) => {
            "read what its agent says, and its journal on the machine's console".into()
        }
        _ => words::next(case, state, flag),
    };
    finding.next(next_id(sign), danger, &*words)
}
