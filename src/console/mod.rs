//! The full-screen console: model, update, pure view.
