//! The sheet for a tenant's people, on screen; and the secret of their key, which goes into a file or onto the clipboard and is
//! never drawn.

use std::path::PathBuf;
use std::sync::Arc;

use tui_input::Input as Field;

use super::{Page, Sheet as Text, number, page, show};
use crate::console::model::{Model, Overlay, Saving};
use crate::console::msg::{Effect, Notice};
use crate::inventory::Class;
use crate::provision::handover::{Keys, Part, Sheet, UpdateKey};
use crate::provision::object::Object;
use crate::provision::plan::Plan;
use crate::provision::trouble::Trouble;
use crate::site::secret::Secret;

/// A secret on its way. Two are equal where they are one.
#[derive(Debug, Clone)]
pub struct Whispered(pub Arc<Secret>);

impl PartialEq for Whispered {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// What is kept in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The sheet.
    Sheet,
    /// The key with its secret.
    Key,
}

/// A sheet that was asked for.
#[derive(Debug, Clone)]
pub struct HandOver {
    /// Number of the newest order for it.
    pub id: u64,
    /// Tenant.
    pub tenant: Arc<str>,
    /// Who may write its zones; `None` while that is read.
    pub keys: Option<Result<Keys, Trouble>>,
    /// What the prompt for a file is about.
    pub what: What,
    /// Number of the newest order to keep something, or to fetch the secret.
    pub awaited: Option<u64>,
    /// Whether a secret that comes may go to the clipboard: nothing else was copied since, and the sheet was not left.
    pub clipboard: bool,
}

/// Ways on from the sheet, by number.
pub const WAYS: [(&str, &str); 3] = [
    ("save", "the sheet into a new file"),
    ("key file", "the update key with its secret, into a new 0600 file"),
    ("clipboard", "the secret alone, to your own clipboard; it is never shown here"),
];

/// The tenant that a hand-over is about now.
#[must_use]
pub fn tenant(model: &Model) -> Option<Arc<str>> {
    match page(model) {
        Some(Page::Run { .. }) => {
            let run = model.changes.run.as_ref().filter(|run| run.succeeded())?;
            super::run::checked(run).map(Arc::from)
        }
        Some(Page::Text { of: Text::HandOver, .. }) => model.changes.handover.as_ref().map(|of| Arc::clone(&of.tenant)),
        Some(_) => None,
        None => model.tenant(),
    }
}

/// What a sheet of the page's tenant waits for.
///
/// # Errors
/// One clause, where there is no tenant yet, or none at all.
pub fn ready(model: &Model) -> Result<Arc<str>, String> {
    if let Some(tenant) = tenant(model) {
        return Ok(tenant);
    }
    let onboards = |plan: &Plan| plan.steps.iter().any(|step| matches!(step.object, Object::OwnIndex(_)));
    let run = model.changes.run.as_ref().filter(|_| matches!(page(model), Some(Page::Run { .. })));
    let planned = model.changes.proposal.as_ref().and_then(|proposal| proposal.offer.as_ref());
    let planned = planned.filter(|_| matches!(page(model), Some(Page::Plan { .. })));
    Err(match (run.filter(|run| onboards(&run.offer.preview.plan)), planned) {
        (Some(run), _) if run.ended.is_none() => {
            let (name, at, all) = (run.name(), run.current() + 1, run.steps.len());
            format!("it waits for the end of {name}, which is at step {at} of {all}")
        }
        (Some(run), _) => format!("{} did not come to its end: go on with it first", run.name()),
        (None, Some(offer)) if onboards(&offer.preview.plan) => "there is no tenant before this plan ran".to_owned(),
        _ => "there is no tenant here: name it".to_owned(),
    })
}

/// Shows the sheet of a tenant, and asks who may write its zones.
pub fn open(model: &mut Model, tenant: Arc<str>) -> Vec<Effect> {
    let Some(row) = model.picture().and_then(|inv| inv.tenants.iter().find(|row| row.name == tenant)) else {
        model.say(Notice::warning(format!("{tenant} is not in the picture yet: r reads it again")));
        return Vec::new();
    };
    let zones = vec![row.forward_zone.clone(), row.reverse_zone.clone()];
    let id = number(model);
    let before = model.changes.handover.take().filter(|of| of.tenant == tenant);
    let (awaited, clipboard) = before.map_or((None, false), |of| (of.awaited, of.clipboard));
    model.changes.handover = Some(HandOver { id, tenant, keys: None, what: What::Sheet, awaited, clipboard });
    if !is_shown(model) {
        show(model, Page::Text { of: Text::HandOver, scroll: 0 });
    }
    vec![Effect::Change(super::Order::Keys { id, zones })]
}

/// Whether the sheet is on screen.
#[must_use]
pub fn is_shown(model: &Model) -> bool {
    matches!(page(model), Some(Page::Text { of: Text::HandOver, .. }))
}

/// The sheet as it stands.
#[must_use]
pub fn sheet(model: &Model) -> Option<Sheet> {
    let of = model.changes.handover.as_ref()?;
    Sheet::of(model.picture()?, &of.tenant, of.keys.as_ref(), model.now)
}

fn key(model: &Model) -> Result<UpdateKey, String> {
    match sheet(model).map(|sheet| sheet.names.key) {
        Some(Part::Known(key)) => Ok(key),
        Some(Part::Unknown { unknown }) => Err(format!("the key is not known: {unknown}")),
        None => Err("there is no sheet here".to_owned()),
    }
}

/// Takes a way on.
pub fn take(model: &mut Model, number: usize) -> Vec<Effect> {
    let what = match number {
        1 => What::Sheet,
        2 => What::Key,
        3 => return to_clipboard(model),
        _ => {
            model.say(Notice::info(format!("there is no way {number} here")));
            return Vec::new();
        }
    };
    let name = match what {
        What::Sheet => model.changes.handover.as_ref().map(|of| format!("{}-handover.md", of.tenant)),
        What::Key => match key(model) {
            Ok(key) => Some(format!("{}.key", key.name)),
            Err(why) => {
                model.say(Notice::warning(why));
                None
            }
        },
    };
    if let (Some(name), Some(of)) = (name, &mut model.changes.handover) {
        of.what = what;
        model.overlay = Overlay::Save { field: Field::new(name), saving: Saving::Asked };
    }
    Vec::new()
}

/// The number of a new order: what came of an older one is too late.
fn awaited(model: &mut Model, clipboard: bool) -> u64 {
    let id = number(model);
    if let Some(of) = &mut model.changes.handover {
        (of.awaited, of.clipboard) = (Some(id), clipboard);
    }
    id
}

fn to_clipboard(model: &mut Model) -> Vec<Effect> {
    match key(model) {
        Ok(key) => {
            let id = awaited(model, true);
            model.say(Notice::progress(format!("fetching the secret of {}", key.name)));
            vec![Effect::Change(super::Order::Secret { id, key: key.name, to: None })]
        }
        Err(why) => {
            model.say(Notice::warning(why));
            Vec::new()
        }
    }
}

/// Title, remark and foot of the prompt for a file, where it is about the sheet.
#[must_use]
pub fn prompt(model: &Model) -> Option<[&'static str; 3]> {
    let of = model.changes.handover.as_ref().filter(|_| is_shown(model))?;
    Some(match of.what {
        What::Sheet => ["Save the sheet", "no secret is in it", "a file that is not there yet"],
        What::Key => {
            ["Save the update key", "with its secret", "a file that is not there yet; it becomes yours alone, 0600"]
        }
    })
}

/// Keeps what was asked for in the file at `path`. The prompt stays until that is done.
pub fn save(model: &mut Model, path: &str) -> Vec<Effect> {
    let id = awaited(model, false);
    let what = model.changes.handover.as_ref().map(|of| of.what);
    let path = path.trim();
    let order = match (what, path) {
        (_, "") => Err("name a file".to_owned()),
        (Some(What::Key), path) => {
            key(model).map(|key| super::Order::Secret { id, key: key.name, to: Some(PathBuf::from(path)) })
        }
        (_, path) => sheet(model)
            .map(|sheet| super::Order::Keep { id, path: PathBuf::from(path), text: sheet.markdown() })
            .ok_or_else(|| "there is no sheet here".to_owned()),
    };
    let Overlay::Save { saving, .. } = &mut model.overlay else { return Vec::new() };
    match order {
        Ok(order) => {
            *saving = Saving::Running;
            vec![Effect::Change(order)]
        }
        Err(why) => {
            *saving = Saving::Refused(why);
            Vec::new()
        }
    }
}

/// Who may write the zones was read.
pub(super) fn read(model: &mut Model, id: u64, keys: Result<Keys, Trouble>) {
    if let Some(of) = model.changes.handover.as_mut().filter(|of| of.id == id) {
        of.keys = Some(keys);
    }
}

/// Whether an order is the newest of this sheet.
fn is_newest(model: &Model, id: u64) -> bool {
    model.changes.handover.as_ref().is_some_and(|of| of.awaited == Some(id))
}

/// The secret came. It goes to the clipboard only where that is waited for still: what somebody copied since is theirs.
pub(super) fn fetched(model: &mut Model, id: u64, secret: Whispered) -> Vec<Effect> {
    if !is_newest(model, id) {
        return Vec::new();
    }
    if is_shown(model) && model.changes.handover.as_ref().is_some_and(|of| of.clipboard) {
        return vec![Effect::CopySecret(secret)];
    }
    model.say(Notice::warning("the secret came too late and was not copied: 3 on the sheet fetches it again"));
    Vec::new()
}

/// A secret on its way does not go over what is copied meanwhile, or to a clipboard that nobody thinks of any more.
pub(in crate::console) fn mind(model: &mut Model, effects: &[Effect]) {
    let copied = effects.iter().any(|effect| matches!(effect, Effect::Copy(_)));
    let late = copied || !is_shown(model);
    if let Some(of) = model.changes.handover.as_mut().filter(|_| late) {
        of.clipboard = false;
    }
}

/// What was to be kept is, or is not. A file that is there is always told; the prompt is told of its own order alone.
pub(super) fn kept(model: &mut Model, id: u64, came: Result<String, String>) {
    let newest = is_newest(model, id);
    if !newest && came.is_err() {
        return;
    }
    let (class, text) = match came {
        Ok(text) => (Class::Fine, text),
        Err(why) => (Class::Warning, why),
    };
    let prompt = newest && is_shown(model);
    if let (true, Overlay::Save { saving: saving @ Saving::Running, .. }) = (prompt, &mut model.overlay) {
        if class == Class::Warning {
            *saving = Saving::Refused(text);
            return;
        }
        model.overlay = Overlay::None;
    }
    model.say(Notice { class, text });
}

/// How the sheet stands, in one sentence.
#[must_use]
pub fn sentence(model: &Model) -> Option<(Class, String)> {
    let of = model.changes.handover.as_ref()?;
    Some(match (&of.keys, sheet(model)) {
        (_, None) => (Class::Warning, format!("{} is not in the picture any more", of.tenant)),
        (None, _) => (Class::Progress, "reading who may write the zones".to_owned()),
        (_, Some(sheet)) if sheet.has_unknown() => {
            (Class::Unknown, format!("parts of the sheet of {} are not known: it says which", of.tenant))
        }
        _ => (Class::Info, format!("no secret is on this sheet: 2 and 3 fetch that of {}'s key", of.tenant)),
    })
}
