//! `update`: the only place that changes the model.

use super::model::Model;
use super::msg::{Effect, Msg};

/// Effects of the start: title, first wake-up.
pub fn start(model: &mut Model) -> Vec<Effect> {
    let _ = model;
    Vec::new()
}

/// Takes one message in. Pure: no I/O, no clock, no waiting.
pub fn update(model: &mut Model, msg: Msg) -> Vec<Effect> {
    let _ = (model, msg);
    Vec::new()
}
