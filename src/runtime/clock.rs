//! The clock. Everything else is told the time.

use std::sync::Arc;

use jiff::Timestamp;

use crate::inventory::feed::Clock;
use crate::provision::world::Sleep;

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

/// Waits as the system's clock goes.
#[must_use]
pub fn sleep() -> Sleep {
    Arc::new(|length| Box::pin(tokio::time::sleep(length)))
}
