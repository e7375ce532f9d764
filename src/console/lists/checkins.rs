//! Check-ins: how far each workload came with its configuration; what needs a human first.

use super::super::list::{Align, Cell, Column, Cx, ListDef, ListId, SortKey};
use super::{by_class, fixed, maybe, none, number, word, words};
use crate::console::widgets::format;
use crate::inventory::{CheckInRow, CheckInState, Class, Inventory, ObjectId, SourceId};

/// Definition.
pub static DEF: ListDef = ListDef {
    id: ListId::Checkins,
    title: "Check-ins",
    word: "checkins",
    sources: &[SourceId::Boot],
    columns: &COLUMNS,
    sort: "order",
    len: |inv| inv.checkins.len(),
    id_of: |inv, i| inv.checkins.get(i).map(|c| ObjectId::CheckIn(c.tenant.clone(), c.workload.clone())),
    tenant_of: |inv, i| inv.checkins.get(i).map(|c| &*c.tenant),
    cell,
    sort_key,
    gap: |inv| inv.checkins_gap.as_ref(),
    detail,
    empty: "No workloads, and no check-ins.",
};

const COLUMNS: [Column; 9] = [
    Column { max: 0, ..fixed("order", "", 0, Align::Right, 0) },
    words("tenant", "TENANT", 8, 12, 160),
    words("workload", "WORKLOAD", 8, 20, 255),
    fixed("state", "STATE", 10, Align::Left, 255),
    fixed("generation", "GEN", 3, Align::Left, 150),
    fixed("token", "TOKEN", 8, Align::Left, 50),
    fixed("instance", "INSTANCE", 8, Align::Left, 30),
    fixed("report", "LAST REPORT", 11, Align::Left, 120),
    words("next", "NEXT", 10, 40, 100),
];

/// Generations declared and applied, e.g. `4/3`.
fn generation(c: &CheckInRow) -> Cell {
    let one = |g: Option<u64>| g.map_or_else(|| "–".to_owned(), |g| g.to_string());
    if c.declared.is_none() && c.applied.is_none() {
        return none();
    }
    Cell::text(format!("{}/{}", one(c.declared), one(c.applied)))
}

/// The first part of the instance's UUID, by which people tell machines apart.
fn instance(c: &CheckInRow) -> Cell {
    c.instance.as_ref().map_or_else(none, |uuid| Cell::text(uuid.split('-').next().unwrap_or(uuid)))
}

/// When the machine was last heard, and how it was; `never` where it should have been.
fn report(cx: Cx<'_>, c: &CheckInRow) -> Cell {
    let Some(last) = &c.last_report else {
        return if c.kid.is_some() { Cell::text("never") } else { none() };
    };
    let when = format::when(last.at, cx.now);
    match (&last.error, c.state) {
        (Some(_), _) => Cell::state(Class::Fault, when),
        (None, CheckInState::Delivered) => Cell::state(Class::Progress, format!("{} {when}", last.phase)),
        (None, _) => Cell::state(Class::Fine, when),
    }
}

fn cell(cx: Cx<'_>, i: usize, key: &'static str) -> Cell {
    let Some(c) = cx.inv.checkins.get(i) else { return Cell::text("") };
    match key {
        "tenant" => Cell::text(&*c.tenant),
        "workload" => Cell::text(&*c.workload),
        "state" => Cell::state(c.class, &*c.word),
        "generation" => generation(c),
        "token" => Cell::text(&*c.token),
        "instance" => instance(c),
        "report" => report(cx, c),
        "next" if c.next.is_empty() => none(),
        "next" => Cell::text(&*c.next),
        _ => Cell::text(""),
    }
}

fn sort_key(inv: &Inventory, i: usize, key: &'static str) -> SortKey {
    let Some(c) = inv.checkins.get(i) else { return SortKey::None };
    let moment = |at: jiff::Timestamp| SortKey::Num(at.as_duration().as_secs_f64());
    match key {
        // Nothing declared asks for nobody.
        "order" | "state" if c.state == CheckInState::None => SortKey::Num(f64::MAX),
        "order" | "state" => match by_class(c.class) {
            SortKey::Num(class) => SortKey::Num(class * 100.0 + f64::from(c.state as u8)),
            other => other,
        },
        "tenant" => word(&c.tenant),
        "workload" => word(&c.workload),
        "generation" => maybe(c.declared, |g| number(u32::try_from(g).unwrap_or(u32::MAX))),
        "token" => maybe(c.token_expires, moment),
        "instance" => maybe(c.instance.as_ref(), |u| word(u)),
        "report" => maybe(c.last_report.as_ref(), |r| moment(r.at)),
        "next" => word(&c.next),
        _ => SortKey::None,
    }
}

fn detail(cx: Cx<'_>, i: usize) -> Vec<Vec<Cell>> {
    let Some(c) = cx.inv.checkins.get(i) else { return Vec::new() };
    let mut lines = vec![vec![Cell::state(c.class, meaning(c))]];
    let mut known = vec![Cell::text(format!("token {}", c.token))];
    known.extend(c.instance.as_ref().map(|uuid| Cell::muted(format!("instance {uuid}"))));
    known.extend(c.since.map(|at| Cell::muted(format!("since {}", format::moment(at, cx.now)))));
    lines.push(known);
    lines.extend(not_tested(c).map(|what| vec![Cell::muted("not tested"), Cell::text(what)]));
    lines.extend(unjudged(cx, c));
    lines.extend((!c.next.is_empty()).then(|| vec![Cell::muted("next"), Cell::text(&*c.next)]));
    lines
}

/// Where the machine's UUID was not read, a report of another machine would not be seen.
fn unjudged(cx: Cx<'_>, c: &CheckInRow) -> Option<Vec<Cell>> {
    let vm = cx.inv.workloads.iter().find(|w| Some(w.vmid) == c.vmid)?;
    let gap = vm.uuid.as_ref().err().filter(|_| c.kid.is_some())?;
    let why = format!("another machine in its place would not be seen: its UUID is not known ({})", gap.word());
    Some(vec![Cell::state(Class::Unknown, why)])
}

/// One sentence: what the state means for this workload.
#[must_use]
pub fn meaning(c: &CheckInRow) -> String {
    let whose = format!("{}/{}", c.tenant, c.workload);
    let generation =
        |g: Option<u64>| g.map_or_else(|| "an unknown generation".to_owned(), |g| format!("generation {g}"));
    match (c.state, c.class) {
        (CheckInState::ReplayRefused, _) => format!(
            "Two machines, or two people, hold the token of {whose}. One got the configuration; the other was refused."
        ),
        (CheckInState::Foreign, _) => format!(
            "A machine that is not the VM of {whose} speaks in its name: an old disk, a copy, or a deleted VM that runs."
        ),
        (CheckInState::Failed, _) => format!("The agent of {whose} {}: {}", c.word, crate::text::sentence(&c.next)),
        (CheckInState::Expired, _) => format!("The token of {whose} ended before anything came of it."),
        (CheckInState::Behind, _) => {
            let (has, wants) = (generation(c.applied), generation(c.declared));
            format!("{whose} runs {has}; {wants} is declared. A running machine is not changed in place.")
        }
        (CheckInState::Delivered, Class::Warning) => {
            format!("{whose} got its configuration and has not been heard for ten minutes.")
        }
        (CheckInState::Delivered, _) => format!("{whose} got its configuration and is applying it."),
        (CheckInState::Awaiting, Class::Warning) if c.vmid.is_some() => {
            format!(
                "{whose} runs and never used its token: the service is out of its reach, or the token is not its own."
            )
        }
        (CheckInState::Awaiting, Class::Pending) => {
            format!("The token of {whose} came while it ran: it sees it after a cold start.")
        }
        (CheckInState::Awaiting, _) => format!("{whose} has not been heard yet."),
        (CheckInState::Applied, Class::Info) => {
            format!("{whose} runs {}; three reports were missed.", generation(c.applied))
        }
        (CheckInState::Applied, _) => format!("{whose} runs {}, as declared.", generation(c.applied)),
        (CheckInState::None, Class::Unknown) if c.declared.is_some() => {
            format!("Whether {whose} runs what is declared is not known.")
        }
        (CheckInState::None, Class::Unknown) => format!("Whether anything is declared for {whose} is not known."),
        (CheckInState::None, _) => format!("Nothing is declared for {whose}: an empty machine is no fault."),
    }
}

/// What no source of this program can say about the state.
#[must_use]
pub fn not_tested(c: &CheckInRow) -> Option<&'static str> {
    match (c.state, c.class) {
        (CheckInState::ReplayRefused, _) => Some("which claim is the guest's: only its own disk knows"),
        (CheckInState::Awaiting | CheckInState::Delivered, Class::Warning) => {
            Some("names, way out, perimeter and CA as seen inside the guest")
        }
        _ => None,
    }
}
