//! Comparing the columns: with what is derived, or with one another.

use super::expect::Expected;
use super::target::Target;
use super::vantage::{Column, Outcome};
use crate::backends::dns::{Answer, Data, Rcode, RecordType};

/// What a column is to what it is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It answers what is derived.
    AsExpected,
    /// Nothing is derived, and it answers what the others answer.
    Same,
    /// It answers something else.
    Differs,
    /// It could not be asked, or did not answer.
    Unknown,
    /// It has no part in this question: the site does not have it, or the name is not its own.
    NotCompared,
}

impl State {
    /// The word, as in documents.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::AsExpected => "as expected",
            Self::Same => "same",
            Self::Differs => "differs",
            Self::Unknown => "unknown",
            Self::NotCompared => "not compared",
        }
    }
}

/// The whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Every vantage point that can be used answers as expected, or the same where nothing is expected.
    Agree,
    /// At least one answers something else.
    Differ,
    /// None differs, and something is not known.
    Unknown,
}

impl Verdict {
    /// The word, as in documents.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Agree => "agree",
            Self::Differ => "differ",
            Self::Unknown => "unknown",
        }
    }
}

/// The values in `answer` that are compared: of an SOA the primary server alone, since a resolver's copy may rightly be of
/// an older serial (`facts/dns.md` §7).
#[must_use]
pub fn observed(answer: &Answer, kind: RecordType) -> Vec<String> {
    if kind != RecordType::SOA {
        return answer.values(kind);
    }
    let primary = |data: &Data| match data {
        Data::Soa(soa) => Some(soa.mname.clone()),
        _ => None,
    };
    answer.answers.iter().filter_map(|record| primary(&record.data)).collect()
}

/// The state of each column, and of the whole.
#[must_use]
pub(super) fn judge(target: &Target, expected: &Expected, columns: &[&Column]) -> (Vec<State>, Verdict) {
    let said = |answer: &Answer| (answer.rcode, observed(answer, target.kind));
    let reference = match expected {
        Expected::Values { values, .. } => Some((Rcode::NOERROR, values.clone())),
        Expected::Nothing { .. } | Expected::Unknown { .. } => {
            columns.iter().find_map(|column| match &column.outcome {
                Outcome::Answered(answer) if !is_foreign(column, expected) => Some(said(answer)),
                _ => None,
            })
        }
    };
    let right = if matches!(expected, Expected::Values { .. }) { State::AsExpected } else { State::Same };
    let states: Vec<State> = columns
        .iter()
        .map(|column| match &column.outcome {
            Outcome::Answered(_) if is_foreign(column, expected) => State::NotCompared,
            Outcome::Answered(answer) if Some(said(answer)) == reference => right,
            Outcome::Answered(_) => State::Differs,
            Outcome::Failed { .. } | Outcome::Denied { .. } => State::Unknown,
            Outcome::NotAsked { .. } => State::NotCompared,
        })
        .collect();
    let verdict = verdict(&states, expected);
    (states, verdict)
}

/// An authority that refuses a name that nothing says is its own (`facts/dns.md` §6: the zone is not there).
fn is_foreign(column: &Column, expected: &Expected) -> bool {
    column.vantage == super::vantage::Vantage::Authoritative
        && matches!(expected, Expected::Nothing { .. })
        && matches!(&column.outcome, Outcome::Answered(answer) if answer.rcode == Rcode::REFUSED)
}

fn verdict(states: &[State], expected: &Expected) -> Verdict {
    let compared = states.iter().any(|state| matches!(state, State::AsExpected | State::Same));
    if states.contains(&State::Differs) {
        Verdict::Differ
    } else if states.contains(&State::Unknown) || matches!(expected, Expected::Unknown { .. }) || !compared {
        Verdict::Unknown
    } else {
        Verdict::Agree
    }
}
