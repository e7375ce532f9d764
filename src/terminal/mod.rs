//! The terminal: guard, capabilities, input, painter, clipboard, editor.

pub mod input;
