//! The full-screen console: model, update, pure view.
//!
//! `update(&mut Model, Msg) -> Vec<Effect>` is the only place that changes the model; `view(&Model) -> Screen` draws it.
//! Both are pure: no I/O, no clock, no await. Time arrives as a message, effects are data, identity is an
//! [`ObjectId`](crate::inventory::ObjectId) and never a row number.

pub mod change;
pub mod commands;
pub mod complete;
pub mod describe;
pub mod file;
pub mod findings;
pub mod isolation;
pub mod keymap;
pub mod list;
pub mod lists;
pub mod model;
pub mod msg;
pub mod nav;
pub mod query;
pub mod resolve;
pub mod screens;
pub mod select;
#[cfg(test)]
mod snapshot_tests;
pub mod theme;
pub mod update;
pub mod view;
pub mod widgets;

pub use model::Model;
pub use msg::{Effect, Msg, Screenful};
pub use update::{start, update};
pub use view::view;
