//! What has come so far.

use jiff::Timestamp;

use super::ask::Heard;
use super::expect::Expected;
use super::judge::{State, Verdict, judge};
use super::target::Target;
use super::vantage::{Column, Control, Controls, Vantage};

/// Vantage points.
const COUNT: usize = Vantage::ALL.len();

/// What is known about one name, while the answers come and when all are there.
#[derive(Debug, Clone, PartialEq)]
pub struct Gathering {
    /// When the questions were sent.
    pub at: Timestamp,
    /// What is asked.
    pub target: Target,
    /// What the index derives; `None` = not known yet.
    pub expected: Option<Expected>,
    /// Other names, asked in the same moment.
    pub controls: Vec<Control>,
    columns: [Option<Column>; COUNT],
}

impl Gathering {
    /// Nothing has come yet.
    #[must_use]
    pub fn new(at: Timestamp, target: Target, controls: &Controls) -> Self {
        Self { at, target, expected: None, controls: controls.list(), columns: [const { None }; COUNT] }
    }

    /// Takes in what came.
    pub fn take(&mut self, heard: Heard) {
        match heard {
            Heard::Expected(expected) => self.expected = Some(expected),
            Heard::Column(column) => {
                let place = self.columns.iter_mut().zip(Vantage::ALL).find(|(_, vantage)| *vantage == column.vantage);
                if let Some((place, _)) = place {
                    *place = Some(column);
                }
            }
        }
    }

    /// The vantage points in their order; `None` where nothing has come yet.
    pub fn columns(&self) -> impl Iterator<Item = (Vantage, Option<&Column>)> {
        Vantage::ALL.into_iter().zip(self.columns.iter().map(Option::as_ref))
    }

    /// Those of which something has come.
    pub fn heard(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().flatten()
    }

    /// Whether everything has come.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.expected.is_some() && self.columns.iter().all(Option::is_some)
    }

    /// Gives up on what has not come, for the reason `why`.
    pub fn stop(&mut self, why: &str) {
        let controls = self.controls.len();
        for (place, vantage) in self.columns.iter_mut().zip(Vantage::ALL) {
            place.get_or_insert_with(|| Column::silent(vantage, controls, why));
        }
        self.expected.get_or_insert_with(|| Expected::Unknown { why: why.to_owned() });
    }

    /// The state of each vantage point, and of the whole: `None` where it depends on what has not come yet. Against what
    /// is derived each stands for itself; where nothing is, they are compared with one another, once all are there.
    #[must_use]
    pub fn judge(&self) -> ([Option<State>; COUNT], Option<Verdict>) {
        let mut states = [None; COUNT];
        let Some(expected) = &self.expected else { return (states, None) };
        if !self.is_whole() && !matches!(expected, Expected::Values { .. }) {
            return (states, None);
        }
        let heard: Vec<&Column> = self.heard().collect();
        let (found, verdict) = judge(&self.target, expected, &heard);
        let places = states.iter_mut().zip(&self.columns).filter(|(_, column)| column.is_some());
        for ((place, _), state) in places.zip(found) {
            *place = Some(state);
        }
        (states, self.is_whole().then_some(verdict))
    }
}
