//! The only impure room of the console: clock, event loop, effect executor.

mod changes;
mod check;
pub mod clock;
mod effects;
mod event_loop;
mod probes;
pub mod who;

pub use changes::Workshop;
pub use event_loop::{End, Session, run};
