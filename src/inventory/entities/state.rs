//! What a state says, and where derived and observed differ.

/// The class of a state: what its glyph says. The word beside it says the state itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// As it should be.
    Fine,
    /// Information.
    Info,
    /// Not there, and that may be right.
    Absent,
    /// Not run here.
    NotRun,
    /// Not known.
    Unknown,
    /// Under way.
    Progress,
    /// Configured, not applied.
    Pending,
    /// Other than derived.
    Differs,
    /// Needs a look.
    Warning,
    /// Broken.
    Fault,
}

/// Presence of one layer of one tenant (design §1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Presence {
    /// Looked for, not there.
    Absent,
    /// Configured, not applied.
    Pending,
    /// There, as derived.
    Present,
    /// There, other than derived.
    Differs,
    /// Not known.
    Unknown,
}

/// A difference between what the index derives and what a source shows.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct FieldDiff {
    /// The object, e.g. `subnet 10.20.130.0/24`.
    pub object: String,
    /// The field as its back end names it, e.g. `snat`.
    pub field: String,
    /// Derived value.
    pub expected: String,
    /// Observed value; `–` where there is none.
    pub observed: String,
}
