//! One name, asked at every vantage point at the same moment, beside what the index derives for it.
//!
//! [`Target`] is what is asked, [`Vantages`] who is asked, [`resolve`] asks, [`judge`] compares. Only facts: why two
//! answers differ is for rules to say.

mod ask;
mod expect;
mod judge;
mod target;
mod vantage;

pub use ask::resolve;
pub use expect::{Expected, expect};
pub use judge::{State, Verdict, judge, observed};
pub use target::{Place, Target, TargetError};
pub use vantage::{Column, Control, ControlOutcome, Controls, Exit, Outcome, Vantage, Vantages, WhyNot};

use jiff::Timestamp;

/// Everything that was found about one name.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolution {
    /// When the questions were sent.
    pub at: Timestamp,
    /// What was asked.
    pub target: Target,
    /// What the index derives.
    pub expected: Expected,
    /// The vantage points, always all of them and in the order of [`Vantage::ALL`].
    pub columns: Vec<Column>,
    /// Other names, asked in the same moment.
    pub controls: Vec<Control>,
}

impl Resolution {
    /// The state of each column, in their order, and of the whole.
    #[must_use]
    pub fn judge(&self) -> (Vec<State>, Verdict) {
        judge(&self.target, &self.expected, &self.columns)
    }
}

#[cfg(test)]
mod tests;
