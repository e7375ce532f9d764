//! The terminal: what the operator does comes in as plain values, frames go out as few bytes, and the terminal is
//! given back as it was however the program ends.
//!
//! [`Capabilities`] are read first; a [`Session`] takes the terminal; its inputs and the [`Signals`] are awaited by the
//! event loop, which sends [`Frame`]s to the [`Output`]. Nothing here blocks the loop. On a signal that ends, or when
//! [`guard::is_entered`] turns false after a panic somewhere, the loop ends too.

pub mod caps;
pub mod clipboard;
mod decode;
pub mod editor;
pub mod error;
pub mod guard;
pub mod input;
mod key;
pub mod output;
pub mod painter;
mod row;
mod scroll;
pub mod session;
mod sgr;
pub mod signals;
pub mod title;
pub mod tty;

pub use caps::{Capabilities, ColourDepth, Multiplexer};
pub use editor::{Edited, Editor, EditorError};
pub use error::TerminalError;
pub use guard::{Guard, Modes};
pub use input::{Button, Input, Inputs, Key, KeyCode, KeyError, Mouse, MouseKind};
pub use output::{Output, OutputStats, Shutdown};
pub use painter::{Frame, PaintOptions, Painter};
pub use session::Session;
pub use signals::{Signal, Signals};
pub use tty::Tty;
