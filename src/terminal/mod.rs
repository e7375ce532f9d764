//! The terminal: guard, capabilities, input, painter, clipboard, editor.
