//! Isolation as a table: every ordered pair of tenants, and tenants towards what they must not reach. Each cell says
//! what routes and rules come to, what packets of an exit node did, and what traffic showed that somebody ran elsewhere
//! and pasted.

mod build;
mod ends;
mod legs;
mod markdown;
mod pairs;
mod perimeter;
#[cfg(test)]
mod tests;
mod traffic;

use jiff::Timestamp;
use serde::Serialize;

pub use ends::{Goal, Host, Sender, SenderKind, Target};
pub use legs::{BRIDGE, MANAGEMENT, PathLeg};
pub use markdown::{About, markdown};
pub use pairs::{Pair, Way, pairs};
pub use traffic::{Result, Shown, Traffic};

use super::keys::KeyWay;
use super::packets::Packets;
use crate::diagnose::facts::Facts;
use crate::diagnose::pasted::Leg;

/// What routes and rules come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Config {
    /// Every barrier stands.
    Blocked,
    /// One of two barriers is gone.
    Weak,
    /// Nothing stops it.
    Open,
    /// Not known.
    Unknown,
}

impl Config {
    /// Word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Blocked => "blocked",
            Self::Weak => "one barrier gone",
            Self::Open => "open",
            Self::Unknown => "unknown",
        }
    }
}

/// One sender towards one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// What routes and rules come to.
    pub config: Config,
    /// The sentence about it.
    pub sentence: String,
    /// What it rests on, a line each.
    pub facts: Vec<String>,
    /// What the sender's update key came to on the other's zones; `None` = it was not tried, or the other has none.
    pub keys: Option<KeyWay>,
    /// What packets came to that exit nodes sent from the sender's VRF; `None` = none were sent, or there is no other tenant.
    pub packets: Option<Packets>,
    /// What pasted results showed.
    pub traffic: Traffic,
}

/// The table. Cells by sender and then by target; `None` where there is nothing to ask.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Matrix {
    /// When the last thing was read that is no pasted result.
    pub at: Option<Timestamp>,
    /// Rows.
    pub senders: Vec<Sender>,
    /// Columns.
    pub targets: Vec<Target>,
    /// Cells, row by row.
    pub cells: Vec<Option<Cell>>,
    /// Pasted results, oldest first.
    pub pasted: Vec<Shown>,
    /// Ordered pairs of tenants whose way an exit node was asked for.
    pub looked_up: usize,
    /// Exit nodes of the tenants that were asked.
    pub nodes: Vec<String>,
    /// Those of them of which nothing could be read.
    pub unread: Vec<String>,
    /// Legs of the path to the internet that only a workload can test.
    pub path: Vec<PathLeg>,
}

impl Matrix {
    /// The table that `facts` come to.
    #[must_use]
    pub fn of(facts: &Facts) -> Self {
        let mut matrix = build::build(facts);
        traffic::judge(&mut matrix, &facts.pasted);
        matrix
    }

    /// The cell of a row and a column.
    #[must_use]
    pub fn cell(&self, row: usize, column: usize) -> Option<&Cell> {
        if column >= self.targets.len() {
            return None;
        }
        self.cells.get(row.checked_mul(self.targets.len())?.checked_add(column)?)?.as_ref()
    }

    /// What is to be run for a cell, the control first.
    #[must_use]
    pub fn legs(&self, row: usize, column: usize) -> Vec<Leg> {
        match (self.cell(row, column), self.senders.get(row), self.targets.get(column)) {
            (Some(_), Some(sender), Some(target)) => legs::of_cell(sender, target),
            _ => Vec::new(),
        }
    }

    /// Everything that is to be run in `from`: a tenant, one of its workloads, a segment, an exit node.
    #[must_use]
    pub fn legs_of(&self, from: &str) -> Vec<Leg> {
        let mut out: Vec<Leg> = Vec::new();
        let cells = self.iter().flat_map(|(row, column, _)| {
            let mine = self.senders.get(row).is_some_and(|sender| sender.whence.is(from))
                || self.nodes.iter().any(|n| n == from);
            if mine { self.legs(row, column) } else { Vec::new() }
        });
        for leg in cells.chain(self.path.iter().map(|path| path.leg.clone())).filter(|leg| leg.from.is(from)) {
            if !out.iter().any(|have| have.ask.tried() == leg.ask.tried() && have.wants == leg.wants) {
                out.push(leg);
            }
        }
        out
    }

    /// Every cell with its row and column.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, &Cell)> {
        let width = self.targets.len().max(1);
        self.cells.iter().enumerate().filter_map(move |(n, cell)| Some((n / width, n % width, cell.as_ref()?)))
    }

    /// `tdemo → eds`.
    #[must_use]
    pub fn name(&self, row: usize, column: usize) -> String {
        let from = self.senders.get(row).map_or("", |sender| sender.name.as_str());
        let to = self.targets.get(column).map_or("", |target| target.name.as_str());
        format!("{from} → {to}")
    }

    /// How many ordered pairs of tenants there are.
    #[must_use]
    pub fn pairs(&self) -> usize {
        let tenants = self.senders.iter().filter(|sender| sender.kind == SenderKind::Tenant).count();
        tenants * tenants.saturating_sub(1)
    }

    /// How many cells are as `config` says.
    #[must_use]
    pub fn count(&self, config: Config) -> usize {
        self.iter().filter(|(.., cell)| cell.config == config).count()
    }

    /// How many cells have no traffic that counts.
    #[must_use]
    pub fn not_run(&self) -> usize {
        self.iter().filter(|(.., cell)| !matches!(cell.traffic, Traffic::Blocked | Traffic::Open { .. })).count()
    }

    /// How many cells traffic has proven to be blocked.
    #[must_use]
    pub fn proven(&self) -> usize {
        self.iter().filter(|(.., cell)| cell.traffic == Traffic::Blocked).count()
    }

    /// The cell that matters most: open by routes, open by traffic, one barrier gone, unknown; the first of them.
    #[must_use]
    pub fn worst(&self) -> Option<(usize, usize)> {
        let rank = |cell: &Cell| match (cell.config, &cell.traffic) {
            (Config::Open, _) => 0,
            (_, Traffic::Open { .. }) => 1,
            _ if matches!(cell.packets, Some(Packets::Answered(_))) => 1,
            (Config::Weak, _) => 2,
            (_, Traffic::Contradictory { .. }) => 3,
            (Config::Unknown, _) => 4,
            _ if matches!(cell.packets, Some(Packets::NotProven(_))) => 4,
            _ => 5,
        };
        let worst = self.iter().min_by_key(|(.., cell)| rank(cell)).filter(|(.., cell)| rank(cell) < 5);
        worst.map(|(row, column, _)| (row, column))
    }

    /// Whether a result of `at` is too old to count.
    #[must_use]
    pub fn aged(&self, at: Timestamp) -> bool {
        traffic::aged(at, self.at)
    }

    /// Only what concerns `tenant`, as sender or as target.
    #[must_use]
    pub fn about(&self, tenant: &str) -> Self {
        let mine = |row: usize, column: usize| {
            self.senders.get(row).is_some_and(|sender| sender.name == tenant)
                || self.targets.get(column).is_some_and(|t| t.goal == Goal::Tenant && t.name == tenant)
        };
        let width = self.targets.len().max(1);
        let cells = self.cells.iter().enumerate();
        let cells = cells.map(|(n, cell)| cell.clone().filter(|_| mine(n / width, n % width))).collect();
        Self { cells, ..self.clone() }
    }
}
