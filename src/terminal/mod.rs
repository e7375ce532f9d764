//! The terminal: guard, capabilities, input, painter, clipboard, editor.

pub mod error;
pub mod guard;
pub mod input;
pub mod output;
pub mod painter;
mod row;
mod scroll;
mod sgr;
pub mod tty;

pub use error::TerminalError;
pub use guard::{Guard, Modes};
pub use output::{Output, OutputStats, Shutdown};
pub use painter::{Frame, PaintOptions, Painter};
pub use tty::Tty;
