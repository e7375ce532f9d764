//! The clock. Everything else is told the time.

use std::sync::Arc;

use jiff::Timestamp;

use crate::inventory::feed::Clock;

/// The system's clock.
#[must_use]
pub fn system() -> Clock {
    Arc::new(now)
}

/// Now, by the system's clock.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the one place where the time is read")]
pub fn now() -> Timestamp {
    Timestamp::now()
}
