//! One name, asked at every vantage point at the same moment, beside what the index derives for it.
//!
//! [`Target`] is what is asked, [`Vantages`] who is asked, [`ask`] asks and tells what comes as it comes, [`Gathering`]
//! holds what has come and compares. Only facts: why two answers differ is for rules to say.

mod ask;
mod expect;
mod gather;
mod judge;
mod target;
mod vantage;

pub use ask::{Heard, ask, resolve};
pub use expect::{Expected, expect};
pub use gather::Gathering;
pub use judge::{State, Verdict, observed};
pub use target::{Place, Target, TargetError};
pub use vantage::{Column, Control, ControlOutcome, Controls, Exit, Outcome, Vantage, Vantages, WhyNot};

#[cfg(test)]
mod tests;
