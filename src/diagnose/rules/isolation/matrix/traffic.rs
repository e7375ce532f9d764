//! What pasted results showed, cell by cell.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::Matrix;
use crate::diagnose::facts::Sourced;
use crate::diagnose::facts::pasted::Pasted;
use crate::diagnose::pasted::{Came, Given, Leg, Reading, Tried, Wants};

/// How long a pasted result counts.
pub(super) const FRESH: SignedDuration = SignedDuration::from_hours(24);

/// What traffic from a workload showed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum Traffic {
    /// Nobody ran it.
    NotRun,
    /// Some of its legs were run, and none of them got through.
    Partly {
        /// How many timed out.
        ran: usize,
        /// Of how many.
        of: usize,
    },
    /// Every leg timed out, and the sender had a network.
    Blocked,
    /// Something answered.
    Open {
        /// What.
        what: String,
    },
    /// It was run, and decides nothing.
    Unclear {
        /// Why.
        why: String,
    },
    /// Results that cannot both be.
    Contradictory {
        /// Which.
        what: String,
    },
    /// What was run is too old to count.
    Aged,
}

impl Traffic {
    /// In words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::NotRun => "not run here".to_owned(),
            Self::Partly { ran, of } => format!("{ran} of {of} legs run (pasted), none got through"),
            Self::Blocked => "every leg timed out (pasted)".to_owned(),
            Self::Open { what } => format!("got through (pasted): {what}"),
            Self::Unclear { why } => format!("decides nothing (pasted): {why}"),
            Self::Contradictory { what } => format!("pasted results contradict each other: {what}"),
            Self::Aged => format!("not run here in the last {}h; what was pasted is too old", FRESH.as_hours()),
        }
    }
}

/// What one reading says about the legs it fits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Result {
    /// As read.
    pub reading: Reading,
    /// What it says; `None` where it fits no leg.
    pub came: Option<Came>,
}

/// A pasted result as it is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shown {
    /// Where from, who, when.
    #[serde(flatten)]
    pub given: Given,
    /// File of the evidence.
    pub file: String,
    /// Whether it is too old to count.
    pub aged: bool,
    /// Results in it.
    pub results: Vec<Result>,
}

/// Whether something of `at` is too old at `now`.
pub(super) fn aged(at: Timestamp, now: Option<Timestamp>) -> bool {
    now.is_some_and(|now| now.duration_since(at) > FRESH)
}

/// A leg and everything that was pasted of it.
struct Ran<'p> {
    leg: Leg,
    fresh: Vec<(Came, &'p Pasted, &'p Reading)>,
    old: bool,
}

fn gather<'p>(leg: Leg, pasted: &'p [Sourced<Pasted>], now: Option<Timestamp>) -> Ran<'p> {
    let tried = leg.ask.tried();
    let mine = pasted.iter().filter(|p| leg.from.is(&p.given.from) || matches!(tried, Tried::Capture(_)));
    let all = mine.flat_map(|p| p.readings.iter().map(move |reading| (&p.value, reading)));
    let all: Vec<_> = all.filter(|(_, reading)| reading.tried == tried && from_there(&leg, reading)).collect();
    let old = all.iter().any(|(p, _)| aged(p.given.at, now));
    let fresh = all.into_iter().filter(|(p, _)| !aged(p.given.at, now));
    let fresh = fresh.map(|(p, reading)| (leg.judge(reading), p, reading)).collect();
    Ran { leg, fresh, old }
}

/// Whether a result that says from where it was sent says the right place.
fn from_there(leg: &Leg, reading: &Reading) -> bool {
    reading.source.is_none_or(|source| leg.from.nets.is_empty() || leg.from.nets.iter().any(|n| n.contains(&source)))
}

/// What the results of one cell come to.
pub(super) fn of_legs(legs: Vec<Leg>, pasted: &[Sourced<Pasted>], now: Option<Timestamp>) -> Traffic {
    let ran: Vec<Ran<'_>> = legs.into_iter().map(|leg| gather(leg, pasted, now)).collect();
    let (controls, tests): (Vec<_>, Vec<_>) = ran.iter().partition(|ran| ran.leg.wants == Wants::Answer);
    for one in &tests {
        let words = |came| one.fresh.iter().find(|(c, ..)| *c == came).map(|(.., reading)| reading.words());
        if let (Some(right), Some(wrong)) = (words(Came::Right), words(Came::Wrong)) {
            return Traffic::Contradictory { what: format!("{right}, and {wrong}") };
        }
    }
    let has = |one: &Ran<'_>, came: Came| one.fresh.iter().any(|(c, ..)| *c == came);
    if let Some((.., reading)) = tests.iter().flat_map(|one| &one.fresh).find(|(c, ..)| *c == Came::Wrong) {
        return Traffic::Open { what: reading.words() };
    }
    let right = tests.iter().filter(|one| has(one, Came::Right)).count();
    let unclear = tests.iter().filter(|one| !has(one, Came::Right)).flat_map(|one| &one.fresh).next();
    if let Some((.., reading)) = unclear {
        return Traffic::Unclear { why: format!("{}: only a timeout counts as blocked", reading.words()) };
    }
    if right == 0 {
        return if tests.iter().any(|one| one.old) { Traffic::Aged } else { Traffic::NotRun };
    }
    if let Some(why) = no_network(&controls, &tests) {
        return Traffic::Unclear { why };
    }
    if right < tests.len() { Traffic::Partly { ran: right, of: tests.len() } } else { Traffic::Blocked }
}

/// Why silence may be the sender's own: nothing shows that each of the workloads that sent had a network.
fn no_network(controls: &[&Ran<'_>], tests: &[&Ran<'_>]) -> Option<String> {
    let answered = |from: &str, came: Came| {
        controls.iter().any(|c| c.fresh.iter().any(|(c, p, _)| *c == came && p.given.from == from))
    };
    let senders = tests.iter().filter(|one| !matches!(one.leg.ask.tried(), Tried::Capture(_)));
    let mut senders = senders.flat_map(|one| one.fresh.iter().map(|(_, p, _)| p.given.from.as_str()));
    let from = senders.find(|from| !answered(from, Came::Right))?;
    let control = controls.first().and_then(|ran| ran.leg.ask.command());
    Some(if answered(from, Came::Wrong) {
        format!("{from} does not reach its own gateway, so that it reaches nothing")
    } else {
        let run = control.map_or_else(String::new, |command| format!(": paste `{command}` too"));
        format!("nothing shows that {from} had a network{run}")
    })
}

/// Fills in the traffic of every cell that something was pasted for, and lists what was pasted.
pub(super) fn judge(matrix: &mut Matrix, pasted: &[Sourced<Pasted>]) {
    let now = matrix.at;
    let (height, width) = (matrix.senders.len(), matrix.targets.len());
    for row in 0..height {
        let named = |p: &Sourced<Pasted>| {
            let node = matrix.nodes.iter().any(|node| p.given.from == *node);
            node || matrix.senders.get(row).is_some_and(|sender| sender.whence.is(&p.given.from))
        };
        if !pasted.iter().any(named) {
            continue;
        }
        for column in 0..width {
            let traffic = of_legs(matrix.legs(row, column), pasted, now);
            if let Some(Some(cell)) = matrix.cells.get_mut(row * width + column) {
                cell.traffic = traffic;
            }
        }
    }
    let mut shown: Vec<Shown> = pasted.iter().map(|p| show(matrix, p, now)).collect();
    shown.sort_by_key(|shown| shown.given.at);
    matrix.pasted = shown;
}

fn show(matrix: &Matrix, pasted: &Sourced<Pasted>, now: Option<Timestamp>) -> Shown {
    let rows = matrix.senders.iter().enumerate().filter(|(_, sender)| sender.whence.is(&pasted.given.from));
    let of_cells = rows.flat_map(|(row, _)| (0..matrix.targets.len()).flat_map(move |column| matrix.legs(row, column)));
    let mut legs: Vec<Leg> = of_cells.collect();
    legs.extend(matrix.path.iter().map(|path| path.leg.clone()).filter(|leg| leg.from.is(&pasted.given.from)));
    let result = |reading: &Reading| {
        let leg = legs.iter().find(|leg| leg.ask.tried() == reading.tried && from_there(leg, reading));
        Result { reading: reading.clone(), came: leg.map(|leg| leg.judge(reading)) }
    };
    Shown {
        given: pasted.given.clone(),
        file: pasted.file.to_string(),
        aged: aged(pasted.given.at, now),
        results: pasted.readings.iter().map(result).collect(),
    }
}
