//! Pasted results. A text that cannot be read counts for nothing, and says why.

use super::{Facts, Reader, Sourced, Taken};
use crate::diagnose::evidence::{Item, Kind};
use crate::diagnose::pasted::{Given, Reading, read};

/// Readers of this area.
pub(super) const READERS: &[Reader] = &[pasted];

/// One pasted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pasted {
    /// Where it was run, who pasted it, when, how.
    pub given: Given,
    /// Results in it, at least one.
    pub readings: Vec<Reading>,
}

fn pasted(item: &Item, facts: &mut Facts) -> Taken {
    let Kind::Pasted { by, via } = &item.kind else { return Taken::NotMine };
    let Some(at) = item.at else {
        return Taken::Unreadable("a pasted result that does not say when it was run".to_owned());
    };
    let given = Given { from: item.from.clone(), by: by.clone(), at, via: via.clone() };
    match read(&item.body) {
        Ok(readings) => {
            facts.pasted.push(Sourced::new(Pasted { given, readings }, item));
            Taken::Read
        }
        Err(why) => Taken::Unreadable(format!("pasted by {by}: {why}")),
    }
}
