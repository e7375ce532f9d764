//! Leave to change something.
//!
//! Every request that changes a back end takes a [`Permit`] and there is none without an approved plan: the one place of the
//! product that grants it is `provision`, after somebody saw the plan and said yes. `tests/tidy.rs` holds the rest to that.

/// Proof that a plan was approved. Says nothing by itself: what may be changed is what the plan holds.
#[derive(Debug, PartialEq, Eq)]
pub struct Permit {
    plan: String,
}

impl Permit {
    /// Leave for one run of the plan of that id.
    #[must_use]
    pub fn grant(plan: impl Into<String>) -> Self {
        Self { plan: plan.into() }
    }

    /// The id of the plan, for logs and records of requests.
    #[must_use]
    pub fn plan(&self) -> &str {
        &self.plan
    }
}
