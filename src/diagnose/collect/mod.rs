//! Collecting evidence from a live site: clients work as always, and what goes over the wire is kept as items.
//!
//! Everything that is judged goes through [`Evidence`], also live: a saved bundle is judged exactly as the site was.

mod sink;

pub use sink::Sink;
