//! What is said of legs and findings.

use jiff::Timestamp;

use super::{Came, Inquiry, OnNode, Row};
use crate::console::list::Cell;
use crate::console::widgets::format::plural;
use crate::diagnose::collect::Check;
use crate::diagnose::contract;
use crate::diagnose::finding::{Fact, Finding, Severity};
use crate::diagnose::parts::Part;
use crate::diagnose::path::{Judged, State};
use crate::inventory::Class;

/// `check`s that can be asked for, by their words.
const CHECKS: [(&str, Check); 10] = [
    ("egress", Check::Egress),
    ("dns", Check::Dns),
    ("isolation", Check::Isolation),
    ("keys", Check::Keys),
    ("perimeter", Check::Perimeter),
    ("fabric", Check::Fabric),
    ("workload", Check::Workload),
    ("contract", Check::Contract),
    ("access", Check::Access),
    ("all", Check::All),
];

/// The word of a check.
#[must_use]
pub fn word(check: Check) -> &'static str {
    CHECKS.iter().find(|(_, c)| *c == check).map_or("all", |(word, _)| word)
}

/// The check called `text`; `Err` lists those there are.
///
/// # Errors
/// The words there are.
pub fn called(text: &str) -> Result<Check, String> {
    let found = CHECKS.iter().find(|(word, _)| *word == text).map(|(_, check)| *check);
    found.ok_or_else(|| CHECKS.map(|(word, _)| word).join(", "))
}

/// Glyph class of a severity.
#[must_use]
pub const fn severity(severity: Severity) -> Class {
    match severity {
        Severity::Fault => Class::Fault,
        Severity::Warning => Class::Warning,
        Severity::Info => Class::Info,
    }
}

/// Glyph class of a leg's state.
#[must_use]
pub const fn class(state: State) -> Class {
    match state {
        State::Asking => Class::Progress,
        State::Fail => Class::Fault,
        State::Unknown => Class::Unknown,
        State::Weak => Class::Warning,
        State::Pass => Class::Fine,
        State::NotRun => Class::NotRun,
    }
}

/// `✓ pass` and its like.
#[must_use]
pub fn result(state: State) -> Cell {
    let word = match state {
        State::Asking => "asking",
        State::Fail => "fail",
        State::Unknown => "unknown",
        State::Weak => "warning",
        State::Pass => "pass",
        State::NotRun => "not run here",
    };
    Cell::state(class(state), word)
}

/// What was seen on a leg, or what would look; on several exit nodes, what on each.
#[must_use]
pub fn seen(row: &Row<'_>) -> String {
    if row.state == State::NotRun {
        return untested(&row.judged);
    }
    // It passes by its rules, and nothing was seen of it.
    if row.state == State::Unknown && row.judged.state == State::Pass && row.nodes.is_empty() {
        return not_read(&row.judged);
    }
    if row.nodes.is_empty() {
        return on(row.leg.misses, &row.judged, row.seen);
    }
    let of = |node: &OnNode<'_>| {
        let word = result(node.judged.state).text;
        format!("{} {word}: {}", node.node.name, on("", &node.judged, node.seen))
    };
    // The worst first: at 80 columns there is room for one.
    let mut nodes: Vec<&OnNode<'_>> = row.nodes.iter().collect();
    nodes.sort_by_key(|node| node.judged.state.rank());
    nodes.into_iter().map(of).collect::<Vec<_>>().join(" · ")
}

fn on(misses: &str, leg: &Judged<'_>, seen: Option<&str>) -> String {
    let fact = |f: &&Finding| {
        let fact = |fact: &Fact| format!("{} = {}", fact.key, fact.value);
        match f.facts.as_slice() {
            [] => f.id.to_owned(),
            // What was seen comes first: a line is cut at its end.
            [first, second] => format!("{}, {} · {}", fact(first), fact(second), f.id),
            [.., last] => format!("{} · {}", fact(last), f.id),
        }
    };
    match leg.state {
        State::Asking => waiting(leg.open.iter().copied()),
        State::Fail | State::Weak => leg.findings.iter().map(fact).collect::<Vec<_>>().join(", "),
        State::Unknown => match (leg.missing.first(), leg.findings.first()) {
            (_, Some(finding)) => finding.title.clone(),
            (Some(missing), None) => {
                let why = missing.why.as_deref().unwrap_or("missing");
                format!("{why}: {}", missing.missing)
            }
            (None, None) if leg.unclear => "a finding that may be another tenant's".to_owned(),
            (None, None) => not_read(leg),
        },
        State::Pass => {
            let seen = seen.map_or_else(|| format!("none of {}", leg.passed.join(", ")), str::to_owned);
            if misses.is_empty() { seen } else { format!("{seen} · {misses}") }
        }
        State::NotRun => untested(leg),
    }
}

/// Why a leg is not run here.
fn untested(leg: &Judged<'_>) -> String {
    leg.untested.map_or_else(|| format!("needs {}", leg.leg.needs), str::to_owned)
}

/// What was to be read for a leg, and was not.
fn not_read(leg: &Judged<'_>) -> String {
    format!("not read: {}", leg.leg.needs)
}

/// Who is awaited.
#[must_use]
pub fn waiting<'p>(open: impl Iterator<Item = &'p Part>) -> String {
    let mut who: Vec<String> = open.map(Part::who).collect();
    who.dedup();
    if who.is_empty() { "for an answer".to_owned() } else { format!("for {}", who.join(", ")) }
}

/// The sentence about a check.
#[must_use]
pub fn sentence(inquiry: &Inquiry, now: Timestamp) -> (Class, String) {
    match &inquiry.came {
        Came::Failed(why) => return (Class::Unknown, why.clone()),
        Came::Stopped => return (Class::Progress, "given up by you: judging what came".to_owned()),
        Came::Awaited | Came::Ended => {}
    }
    let asking = format!("asking · {}s", inquiry.waited(now));
    let Some(diagnosis) = inquiry.diagnosis() else { return (Class::Progress, asking) };
    if inquiry.is_open() {
        let open = waiting(diagnosis.open.iter());
        return match inquiry.headline().filter(|f| f.severity == Severity::Fault && inquiry.broken().is_some()) {
            Some(first) => (severity(first.severity), first.title.clone()),
            None => (
                Class::Progress,
                format!("{asking} · {} · waiting {open}", plural(diagnosis.evidence.items.len(), "answer")),
            ),
        };
    }
    let report = &diagnosis.report;
    let not_run = inquiry.legs_of(State::NotRun);
    let legs = if not_run > 0 { format!(" · {} not run here", plural(not_run, "leg")) } else { String::new() };
    let unknown = inquiry.legs_of(State::Unknown);
    let clauses = contract::count(&diagnosis.clauses, &contract::State::Unknown { missing: Vec::new() });
    match (inquiry.headline(), &diagnosis.given_up) {
        (Some(first), _) if first.severity > Severity::Info => (severity(first.severity), first.title.clone()),
        (_, Some(why)) => {
            let what = if unknown > 0 {
                format!("{} unknown", plural(unknown, "leg"))
            } else {
                "the rest is unknown".to_owned()
            };
            (Class::Unknown, format!("{why}: {what}{legs}"))
        }
        _ if !report.unknown.is_empty() => {
            let inputs = plural(report.unknown.len(), "input");
            (Class::Unknown, format!("no fault found, but {inputs} missing{legs}"))
        }
        _ if clauses > 0 => (Class::Unknown, format!("no fault found, but {} unknown", plural(clauses, "clause"))),
        _ if unknown > 0 => (Class::Unknown, format!("no fault found, but {} unknown{legs}", plural(unknown, "leg"))),
        _ if report.passed.is_empty() => (Class::NotRun, "nothing was looked at".to_owned()),
        _ => (Class::Fine, format!("no fault found · {} passed{legs}", plural(report.passed.len(), "check"))),
    }
}

/// The headline in short: its id, on what, and how many findings there are; else the sentence.
#[must_use]
pub fn short(inquiry: &Inquiry, now: Timestamp) -> (Class, String) {
    let (class, text) = sentence(inquiry, now);
    match inquiry.headline().filter(|f| f.severity > Severity::Info && !inquiry.is_open()) {
        Some(first) => {
            let (faults, warnings) = (inquiry.count(Severity::Fault), inquiry.count(Severity::Warning));
            let faults = (faults > 0).then(|| plural(faults, "fault"));
            let counts = faults.into_iter().chain((warnings > 0).then(|| plural(warnings, "warning")));
            let counts = counts.collect::<Vec<_>>().join(", ");
            (class, format!("{} on {} {} · {counts}", first.id, first.subject.kind, first.subject.name))
        }
        None => (class, text),
    }
}
