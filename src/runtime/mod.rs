//! The only impure room of the console: clock, event loop, effect executor.

pub mod clock;
