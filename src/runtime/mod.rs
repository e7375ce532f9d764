//! The only impure room of the console: event loop, effect executor, clock.
