//! What is asked before a tenant is onboarded, checked while it is typed. The sources are read beside it, again and again; each
//! letter is judged against what they said last, so that none waits for a back end.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use tui_input::Input as Field;

use super::{Order, Page, Wish, number, proposal, show};
use crate::console::model::{Model, Screen};
use crate::console::msg::{Effect, Notice};
use crate::console::nav;
use crate::console::widgets::format;
use crate::inventory::{Class, Inventory, Tenant};
use crate::provision::preflight::{self, State};
use crate::provision::survey::{Near, Survey};
use crate::site::names::{TenantName, WorkloadName};
use crate::site::numbering::TenantIndex;
use crate::text::sentences;

/// Indices that are given out; the last one is kept for drills.
const ALLOCATABLE: u8 = 62;
/// How long typing rests, and the sources, before they are asked about another name.
const RESTS: SignedDuration = SignedDuration::from_secs(2);
/// Time between two readings of the sources.
const AGAIN: SignedDuration = SignedDuration::from_secs(10);

/// A field: its key among the words of the wish, its label.
pub type Asked = (&'static str, &'static str);

/// What is asked. The first goes without a key.
pub const ASKED: [Asked; 5] =
    [("name", "Name"), ("index", "Index"), ("workload", "First VM"), ("cores", "Cores"), ("memory", "Memory MiB")];

/// A form that is filled in.
#[derive(Debug, Clone, Default)]
pub struct Form {
    /// Texts, in the order of [`ASKED`].
    pub fields: [Field; ASKED.len()],
    /// The field with the keys.
    pub at: usize,
    /// What the sources said last.
    pub survey: Option<Arc<Survey>>,
    /// Number of the reading that is awaited.
    pub awaited: Option<u64>,
    /// When the sources were asked last.
    pub asked: Option<Timestamp>,
    /// The name that was typed then.
    pub asked_for: String,
    /// When a letter was typed last.
    pub typed: Option<Timestamp>,
    /// What was read beside the lists for one name, as a whole: it is read once, and asked of many back ends one by one.
    pub near: Option<Near>,
}

/// A check of what was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What is checked.
    pub label: String,
    /// What it comes to: fine, fault, unknown, or in progress.
    pub class: Class,
    /// Why, and what to do, where it is not fine.
    pub why: Option<String>,
    /// Whether a source has yet to tell.
    pub waits: bool,
}

fn check(label: impl Into<String>, class: Class, why: Option<String>) -> Check {
    Check { label: label.into(), class, why, waits: false }
}

impl From<preflight::Check> for Check {
    fn from(of: preflight::Check) -> Self {
        let (class, why) = match &of.state {
            State::Pass => (Class::Fine, None),
            // What is to be, beside a sign that it is not, reads as if it were.
            State::Fail { why, help } => {
                return check(why, Class::Fault, Some(sentences(why, Some(help))));
            }
            State::Unknown(why) => (Class::Unknown, Some(sentences(&why.text, why.help()))),
            State::Waiting | State::Later => (Class::Progress, None),
        };
        Self { waits: of.state == State::Waiting, ..check(of.label, class, why) }
    }
}

impl Form {
    /// Text of a field.
    #[must_use]
    pub fn text(&self, key: &str) -> &str {
        let at = ASKED.iter().position(|(own, _)| *own == key);
        at.and_then(|at| self.fields.get(at)).map_or("", |field| field.value().trim())
    }

    /// The wish it comes to. What is left out is chosen when the plan is made, by what is there then.
    #[must_use]
    pub fn wish(&self) -> Wish {
        let typed = |(key, _): &Asked| Some(format!("{key}={}", self.text(key))).filter(|_| !self.text(key).is_empty());
        let others = ASKED.iter().skip(1).filter_map(typed);
        Wish { name: "onboard", words: std::iter::once(self.text("name").to_owned()).chain(others).collect() }
    }

    /// The index that was typed; `None` where none was, an error where it is none.
    fn index(&self) -> Result<Option<TenantIndex>, String> {
        let typed = self.text("index");
        if typed.is_empty() {
            return Ok(None);
        }
        let index = typed.parse().ok().and_then(|number| TenantIndex::new(number).ok());
        let index = index.filter(|index| index.is_allocatable());
        index.map(Some).ok_or_else(|| format!("{typed:?} is no index: give one from 1 to {ALLOCATABLE}."))
    }
}

/// The lowest index that nobody has, as far as the picture knows all.
fn lowest(inv: &Inventory) -> Option<u8> {
    let used = |n: &u8| inv.tenants.iter().any(|t| t.index == *n);
    (1..=ALLOCATABLE).find(|n| !used(n)).filter(|_| inv.tenants_gap.is_none())
}

/// The index that the tenant would get, where that can be told: of the sources, else of the picture.
fn proposed(model: &Model) -> Option<TenantIndex> {
    let (form, inv) = (model.changes.form.as_ref()?, model.picture()?);
    match (form.text("name").parse::<TenantName>(), &form.survey) {
        (Ok(tenant), Some(survey)) => survey.index_for(&inv.site, &tenant, None).ok(),
        _ => TenantIndex::new(u64::from(lowest(inv)?)).ok(),
    }
}

/// The tenant of that name, where there is one.
#[must_use]
pub fn own(model: &Model) -> Option<&Tenant> {
    let name = model.changes.form.as_ref()?.text("name");
    model.picture()?.tenants.iter().find(|tenant| *tenant.name == *name)
}

/// What is proposed where a field is left empty, or what follows from it.
#[must_use]
pub fn hint(model: &Model, key: &str) -> Option<String> {
    let form = model.changes.form.as_ref()?;
    match key {
        "index" => {
            let index = proposed(model).map_or_else(|| "not known".to_owned(), |index| index.get().to_string());
            let word = if own(model).is_some() { "its own" } else { "lowest free" };
            Some(format!("{word}: {index}")).filter(|_| form.text("index") != index)
        }
        "workload" if form.text("workload").is_empty() => Some("none; a name such as app makes one".to_owned()),
        "workload" => workload(model),
        "cores" if form.text("cores").is_empty() => Some("2".to_owned()),
        "memory" if form.text("memory").is_empty() => Some("2048".to_owned()),
        _ => None,
    }
}

/// Number and address of the first workload: those of the guest that has its name, else those that it would get, the lowest
/// ordinal of the index that no guest has.
fn workload(model: &Model) -> Option<String> {
    let (form, inv) = (model.changes.form.as_ref()?, model.picture()?);
    let index = form.index().ok()?.or_else(|| proposed(model))?;
    let (tenant, name) = (form.text("name").parse::<TenantName>().ok()?, form.text("workload").parse().ok()?);
    let guests: BTreeMap<u32, Option<&str>> =
        form.survey.as_ref()?.guests().ok()?.map(|(_, guest)| (guest.vmid, guest.name.as_deref())).collect();
    let (plan, own) = (&inv.site.numbering, tenant.vm(&name));
    let numbers = || (0..plan.vmids_per_tenant).filter_map(|k| Some((k, plan.vmid(index, k)?)));
    let there = numbers().find(|(_, vmid)| guests.get(vmid) == Some(&Some(own.as_str())));
    let (ordinal, vmid) = there.or_else(|| numbers().find(|(_, vmid)| !guests.contains_key(vmid)))?;
    let address = plan.workload_address(index, ordinal)?;
    let word = if there.is_some() { " · is there" } else { "" };
    Some(format!("ordinal {ordinal} · VM {vmid} · {address}{word}"))
}

/// Asks the sources, unless they are being asked.
fn read(model: &mut Model) -> Vec<Effect> {
    let id = number(model);
    let now = model.now;
    let Some(form) = model.changes.form.as_mut().filter(|form| form.awaited.is_none()) else { return Vec::new() };
    (form.awaited, form.asked, form.asked_for) = (Some(id), Some(now), form.text("name").to_owned());
    let known = form.near.as_ref().map(|near| &near.tenant);
    let tenant = form.asked_for.parse().ok().filter(|tenant| known != Some(tenant));
    vec![Effect::Change(Order::Survey { id, tenant })]
}

/// What the sources said. What was read for one name stands until it is read for another, or did not come whole.
pub(super) fn surveyed(model: &mut Model, id: u64, survey: Arc<Survey>) {
    let Some(form) = model.changes.form.as_mut().filter(|form| form.awaited == Some(id)) else { return };
    form.awaited = None;
    let mut survey = Arc::unwrap_or_clone(survey);
    if survey.near.is_some() {
        form.near = survey.near.clone().filter(|_| survey.near_is_whole());
    } else {
        survey.near.clone_from(&form.near);
    }
    form.survey = Some(Arc::new(survey));
}

/// A letter was typed.
pub fn typed(model: &mut Model) {
    let now = model.now;
    if let Some(form) = &mut model.changes.form {
        form.typed = Some(now);
    }
}

/// When the sources are to be read again, while the form is on screen.
#[must_use]
pub fn due(model: &Model) -> Option<Timestamp> {
    let form = model.changes.form.as_ref().filter(|_| matches!(super::page(model), Some(Page::Form)))?;
    if form.awaited.is_some() {
        return None;
    }
    // A fresh one has yet to ask.
    let Some(asked) = form.asked else { return Some(model.now) };
    let named = form.text("name").parse::<TenantName>().is_ok() && form.text("name") != form.asked_for;
    let rests = form.typed.map_or(asked, |typed| typed.max(asked));
    if named { rests.checked_add(RESTS) } else { asked.checked_add(AGAIN) }.ok()
}

/// Reads the sources again where it is time.
pub(super) fn take_time(model: &mut Model) -> Vec<Effect> {
    if due(model).is_some_and(|at| at <= model.now) { read(model) } else { Vec::new() }
}

/// Opens the form, with a name where one was given; what was typed before is kept.
pub fn open(model: &mut Model, name: Option<&str>) -> Vec<Effect> {
    let form = model.changes.form.get_or_insert_default();
    if let Some(name) = name {
        *form = Form::default();
        if let Some(field) = form.fields.first_mut() {
            *field = Field::new(name.to_owned());
        }
    }
    form.at = 0;
    // Whoever comes back to it finds what is there now.
    form.near = None;
    if !matches!(super::page(model), Some(Page::Form)) {
        show(model, Page::Form);
    }
    read(model)
}

/// A tenant was onboarded: its draft is done with, and the form starts afresh. Another's that was begun meanwhile stays.
pub(super) fn done(model: &mut Model, tenant: &str) {
    if let Some(form) = model.changes.form.as_mut().filter(|form| form.text("name") == tenant) {
        *form = Form::default();
        nav::forget(model, &Screen::Change(Page::Form));
    }
}

/// The field with the keys, where the form is on screen.
pub fn field(model: &mut Model) -> Option<&mut Field> {
    if !matches!(super::page(model), Some(Page::Form)) {
        return None;
    }
    let form = model.changes.form.as_mut()?;
    form.fields.get_mut(form.at)
}

/// To the next field, or the one before it.
pub fn turn(model: &mut Model, by: isize) {
    if let Some(form) = &mut model.changes.form {
        let len = form.fields.len();
        form.at = if by > 0 { form.at + 1 } else { form.at + len - 1 } % len;
    }
}

/// Enter: on to the plan, where nothing speaks against it.
pub fn next(model: &mut Model) -> Vec<Effect> {
    let checks = checks(model);
    let failed = checks.iter().filter(|check| check.class == Class::Fault).count();
    let Some(form) = &model.changes.form else { return Vec::new() };
    if form.text("name").is_empty() {
        return Vec::new();
    }
    if failed > 0 {
        let text = format!("{} cannot go on: {} failed", form.text("name"), format::plural(failed, "check"));
        model.say(Notice::warning(text));
        return Vec::new();
    }
    let wish = form.wish();
    proposal::ask(model, wish)
}

/// The checks of what is typed now.
#[must_use]
pub fn checks(model: &Model) -> Vec<Check> {
    let Some(form) = &model.changes.form else { return Vec::new() };
    let typed = form.text("name");
    let mut out = Vec::new();
    let index = match form.index() {
        Ok(index) => index,
        Err(why) => {
            out.push(check("the index", Class::Fault, Some(why)));
            None
        }
    };
    match model.picture() {
        _ if typed.is_empty() => out.push(check("a name", Class::Progress, None)),
        None => out.push(check("the site", Class::Progress, None)),
        Some(inv) => {
            let machine = !form.text("workload").is_empty();
            let all = preflight::judge(&inv.site, form.survey.as_deref(), typed, (index, machine));
            out.extend(all.into_iter().map(Check::from));
            if let Some(there) = own(model) {
                let why = format!("{typed} is tenant {} of this site: the plan makes only what it lacks.", there.index);
                out.push(check("not a tenant yet", Class::Warning, Some(why)));
            }
        }
    }
    out.extend(of_first(form));
    out
}

/// The first workload, where one is asked for.
fn of_first(form: &Form) -> Vec<Check> {
    let mut out = Vec::new();
    let (name, mut numbers) =
        (form.text("workload"), ["cores", "memory"].into_iter().filter(|k| !form.text(k).is_empty()));
    if !name.is_empty() {
        out.push(match name.parse::<WorkloadName>() {
            Ok(_) => check("a name for the first VM", Class::Fine, None),
            Err(e) => check("a name for the first VM", Class::Fault, Some(format!("{e}; {}", e.help()))),
        });
    }
    let no_number = |key: &&str| form.text(key).parse::<u32>().ok().is_none_or(|number| number == 0);
    if let Some(bad) = numbers.clone().find(no_number) {
        let why = format!("{bad}: {:?} is no number above 0", form.text(bad));
        out.push(check("the size of the first VM", Class::Fault, Some(why)));
    } else if name.is_empty() && numbers.next().is_some() {
        let why = "a size without a VM: name the first VM, or leave its size out".to_owned();
        out.push(check("the size of the first VM", Class::Fault, Some(why)));
    }
    out
}
