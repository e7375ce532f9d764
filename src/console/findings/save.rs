//! What was read, kept as a bundle: where the operator says.

use std::path::PathBuf;

use tui_input::Input as Field;

use crate::console::change::handover;
use crate::console::list::Cell;
use crate::console::model::{Model, Overlay, Saving};
use crate::console::msg::{Effect, Notice};
use crate::console::resolve::{Probe, conclude, remember};
use crate::console::widgets::format::plural;
use crate::inventory::Class;

/// How lines of Activity about bundles begin.
const KEPT: &str = "save ";

/// Asks where to; what is offered lies in the directory of bundles.
pub fn start(model: &mut Model) {
    let Some(inquiry) = &model.inquiry else { return };
    let of = inquiry.tenant.as_ref().map_or_else(String::new, |tenant| format!("-{tenant}"));
    let at = model.now.strftime("%Y%m%dT%H%M%SZ");
    let name = format!("{}{of}-{at}", super::word(inquiry.check));
    let dir = model.bundles.as_ref().map_or_else(|| PathBuf::from(&name), |dir| dir.join(&name));
    model.overlay = Overlay::Save { field: Field::new(dir.display().to_string()), saving: Saving::Asked };
}

/// Keeps what was read in `dir`. A prompt that is open stays until it is kept: what is refused is there to be mended.
pub fn save(model: &mut Model, dir: &str) -> Vec<Effect> {
    let evidence = model.inquiry.as_ref().and_then(|i| i.diagnosis()).map(|d| d.evidence.clone());
    let mut tell = |now: Saving| {
        if let Overlay::Save { saving, .. } = &mut model.overlay {
            *saving = now;
        }
    };
    let Some(evidence) = evidence else {
        tell(Saving::Refused("nothing was read yet that could be kept".to_owned()));
        return Vec::new();
    };
    if dir.trim().is_empty() {
        tell(Saving::Refused("name a directory".to_owned()));
        return Vec::new();
    }
    tell(Saving::Running);
    let dir = PathBuf::from(dir.trim());
    remember(model, Probe { at: model.now, what: format!("{KEPT}{}", shown(&dir)), result: None });
    vec![Effect::Save { dir, evidence }]
}

/// What came of it.
pub fn saved(model: &mut Model, dir: &std::path::Path, result: Result<usize, String>) {
    let (class, text) = match result {
        Ok(items) => (Class::Fine, format!("{} kept in {}, only yours to read", plural(items, "item"), shown(dir))),
        Err(why) => (Class::Warning, format!("not kept: {why}")),
    };
    conclude(model, KEPT, Cell::state(class, text.clone()));
    // Only the prompt that waits for it is told: one that was edited since, or is of a sheet, is about something else.
    let prompt = !handover::is_shown(model);
    if let Overlay::Save { field, saving: saving @ Saving::Running } = &mut model.overlay
        && prompt
        && std::path::Path::new(field.value().trim()) == dir
    {
        if class == Class::Warning {
            *saving = Saving::Refused(crate::text::clean(&text).into_owned());
            return;
        }
        model.overlay = Overlay::None;
    }
    model.say(Notice { class, text });
}

fn shown(dir: &std::path::Path) -> String {
    crate::text::clean(&dir.display().to_string()).into_owned()
}
