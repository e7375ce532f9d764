//! The terminal: guard, capabilities, input, painter, clipboard, editor.

pub mod input;
pub mod painter;
mod row;
mod scroll;
mod sgr;

pub use painter::{Frame, PaintOptions, Painter};
