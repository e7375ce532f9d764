//! Which rows of a list are shown, in which order, and where the cursor is among them.

/// What was computed from the rest of the model and need not be computed again.
#[derive(Debug, Clone, Default)]
pub struct Kept {}
