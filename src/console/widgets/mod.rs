//! What screens are made of.

pub mod canvas;
pub mod format;
pub mod frame;
pub mod state;

pub mod table;

pub use canvas::{Bit, Canvas, wrap};
pub use frame::{Titles, boxed, rule};
pub use table::{Table, Turn, window};
