//! What is asked of the site beside reading it.

use crate::backends::dns::RecordType;
use crate::console::commands::Call;
use crate::console::model::Model;
use crate::console::msg::{Effect, Notice};
use crate::console::resolve;

pub(in super::super) fn resolve(model: &mut Model, call: &Call<'_>) -> Vec<Effect> {
    let Some(name) = call.args.first() else { return Vec::new() };
    match call.args.get(1).map(|kind| kind.parse::<RecordType>()).transpose() {
        Ok(kind) => resolve::typed(model, name, kind),
        Err(e) => {
            model.say(Notice::warning(format!("{e}; {}", e.help())));
            Vec::new()
        }
    }
}
