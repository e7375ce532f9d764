//! Findings on screen: the check that runs or ran last, its cursor, what was read for it, and the last verdict of each
//! tenant's egress.

mod clauses;
mod evidence;
mod flows;
mod inquiry;
mod legs;
mod markdown;
mod save;
mod sheet;
mod words;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

pub use clauses::{clause, contract, elsewhere};
pub use evidence::{Line, Origin, Spelt, find, items_of, lines, origin, origin_short, spelt, values};
pub use flows::tracked;
pub use inquiry::{Came, Found, Inquiry};
pub use legs::{OnNode, Row};
pub use markdown::{markdown, of_finding};
pub use save::{save, saved, start as start_saving};
pub use sheet::sheet;
pub use words::{called, class, result, seen, sentence, severity, short, waiting, word};

use inquiry::PROBE;

use super::list::Cell;
use super::model::{Model, Screen, Spot};
use super::msg::{Effect, Notice};
use super::nav;
use super::resolve::{Probe, conclude, remember};
use crate::diagnose::Diagnosis;
use crate::diagnose::collect::Check;
use crate::diagnose::finding::{Finding, Severity};
use crate::diagnose::path::State;
use crate::inventory::{Class, ObjectId};

/// What the last check of a tenant's egress came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Class.
    pub class: Class,
    /// When.
    pub at: Timestamp,
}

/// Starts a check; one that still runs is given up.
pub fn ask(model: &mut Model, check: Check, tenant: Option<Arc<str>>) -> Vec<Effect> {
    // The same looked at again: the cursor stays where it is.
    let same = model.inquiry.as_ref().is_some_and(|old| old.check == check && old.tenant == tenant);
    let effects = begin(model, check, tenant);
    while matches!(model.screen(), Screen::Finding { .. } | Screen::Evidence { .. } | Screen::Cell { .. }) {
        nav::pop(model);
    }
    let screen = if check == Check::Isolation { super::isolation::screen() } else { Screen::diagnose() };
    match model.stack.last_mut() {
        // The cursor stays where it is when the table is read again.
        Some(Screen::Isolation { .. }) if check == Check::Isolation => {}
        Some(Screen::Diagnose { .. }) if same => {}
        Some(shown @ (Screen::Diagnose { .. } | Screen::Isolation { .. })) => *shown = screen,
        _ => nav::push(model, screen),
    }
    effects
}

/// Starts a check where nobody looks at one; what it comes to is shown where it belongs.
pub fn begin(model: &mut Model, check: Check, tenant: Option<Arc<str>>) -> Vec<Effect> {
    stop(model);
    let id = model.inquiry.as_ref().map_or(1, |i| i.id + 1);
    let (asked, came) = (model.now, Came::Awaited);
    let inquiry = Inquiry { id, check, tenant: tenant.clone(), asked, came, found: None };
    remember(model, Probe { at: model.now, what: inquiry.name(), result: None });
    model.inquiry = Some(inquiry);
    vec![Effect::Check { id, check, tenant }]
}

/// Runs the last check again.
pub fn again(model: &mut Model) -> Vec<Effect> {
    match model.inquiry.as_ref().map(|i| (i.check, i.tenant.clone())) {
        Some((check, tenant)) => ask(model, check, tenant),
        None => Vec::new(),
    }
}

/// Gives up what has not come of the check that runs; whether there was one. What came is judged.
pub fn stop(model: &mut Model) -> bool {
    let Some(inquiry) = model.inquiry.as_mut().filter(|i| i.is_open()) else { return false };
    inquiry.came = Came::Stopped;
    conclude(model, PROBE, Cell::state(Class::Info, "given up by you"));
    true
}

/// Takes in what has come of a check so far; that of an older one is dropped.
pub fn came(model: &mut Model, id: u64, diagnosis: Arc<Diagnosis>, took: Duration) {
    let (at, before) = (model.now, opened(model));
    if let Some(inquiry) = model.inquiry.as_mut().filter(|i| i.id == id && i.is_open()) {
        inquiry.found = Some(Found { diagnosis, at, took });
        reopen(model, before);
    }
}

/// Of the evidence that is open: what goes before its items, and their files.
type Opened = (Vec<Line>, Vec<String>);

fn opened(model: &Model) -> Option<Opened> {
    let (Screen::Evidence { spot: Some(spot), .. }, Some(inquiry)) = (model.screen(), &model.inquiry) else {
        return None;
    };
    let files = items_of(inquiry, spot).iter().map(|item| item.file.clone()).collect();
    Some((evidence::heading(inquiry, spot, model.look.glyphs), files))
}

/// Evidence that is open shows what has come since. An item of one check never changes: where it is the same items as
/// `before`, what they look like is kept. Laying them out anew takes long.
fn reopen(model: &mut Model, before: Option<Opened>) {
    let (glyphs, now) = (model.look.glyphs, opened(model));
    let (Some(Screen::Evidence { spot: Some(spot), lines, .. }), Some(inquiry)) =
        (model.stack.last_mut(), &model.inquiry)
    else {
        return;
    };
    match (before, now) {
        (Some(before), Some(now)) if before == now => {}
        (Some((old, files)), Some((new, same))) if files == same => {
            let kept = lines.get(old.len()..).unwrap_or_default();
            *lines = new.iter().chain(kept).cloned().collect();
        }
        _ => *lines = self::lines(inquiry, spot, glyphs).into(),
    }
}

/// Takes in what a check came to in the end; that of an older one is dropped.
pub fn checked(model: &mut Model, id: u64, came: Result<Arc<Diagnosis>, String>, took: Duration) {
    let (at, before) = (model.now, opened(model));
    let awaited = |i: &&mut Inquiry| i.id == id && matches!(i.came, Came::Awaited | Came::Stopped);
    let Some(inquiry) = model.inquiry.as_mut().filter(awaited) else { return };
    let stopped = inquiry.came == Came::Stopped;
    match &came {
        Ok(diagnosis) => {
            inquiry.found = Some(Found { diagnosis: Arc::clone(diagnosis), at, took });
            inquiry.came = Came::Ended;
        }
        Err(why) => inquiry.came = Came::Failed(why.clone()),
    }
    let (class, text) = sentence(inquiry, at);
    let name = inquiry.name();
    if !stopped {
        conclude(model, PROBE, Cell::state(class, text.clone()));
    }
    if !is_check(model.screen()) {
        model.say(Notice { class, text: format!("{name}: {text}") });
    }
    reopen(model, before);
    if let Ok(diagnosis) = came {
        note(model, &diagnosis, at);
    }
}

/// Takes in what the check that is on screen comes to together with what was pasted since; whether it is that one.
pub fn judged(model: &mut Model, id: u64, diagnosis: Arc<Diagnosis>) -> bool {
    let inquiry = model.inquiry.as_mut().filter(|i| i.id == id && !i.is_open());
    let Some(found) = inquiry.and_then(|i| i.found.as_mut()) else { return false };
    let at = found.at;
    found.diagnosis = Arc::clone(&diagnosis);
    reopen(model, None);
    note(model, &diagnosis, at);
    true
}

/// Whether `screen` is about a check.
const fn is_check(screen: &Screen) -> bool {
    matches!(
        screen,
        Screen::Diagnose { .. }
            | Screen::Finding { .. }
            | Screen::Evidence { .. }
            | Screen::Isolation { .. }
            | Screen::Cell { .. }
    )
}

/// Keeps the verdict of each tenant that was looked at.
fn note(model: &mut Model, diagnosis: &Diagnosis, at: Timestamp) {
    if let (Some(tenant), Some(state)) = (&diagnosis.wanted.tenant, diagnosis.state()) {
        model.verdicts.insert(tenant.as_str().into(), Verdict { class: class(state), at });
    }
    if diagnosis.wanted.tenant.is_some() || diagnosis.path().is_none() {
        return;
    }
    let all = || model.picture().into_iter().flat_map(|inv| inv.tenants.iter().map(|t| Arc::clone(&t.name)));
    for tenant in all().collect::<Vec<_>>() {
        let state = diagnosis.verdicts.get(&*tenant).copied().unwrap_or(State::Unknown);
        model.verdicts.insert(tenant, Verdict { class: class(state), at });
    }
}

/// What a check of the row looks at, and of whom.
///
/// # Errors
/// One clause for the operator.
pub fn of_row(model: &Model) -> Result<(Check, Option<Arc<str>>), String> {
    if let (Screen::Diagnose { .. } | Screen::Finding { .. } | Screen::Evidence { .. }, Some(inquiry)) =
        (model.screen(), &model.inquiry)
    {
        return Ok((inquiry.check, inquiry.tenant.clone()));
    }
    let (Some(id), Some(inv)) = (model.selected(), model.picture()) else {
        return model.tenant().map(|t| (Check::Egress, Some(t))).ok_or_else(|| "there is no row here".to_owned());
    };
    match (nav::tenant_of(inv, id).or_else(|| model.tenant()), id) {
        (Some(tenant), _) => Ok((Check::Egress, Some(tenant))),
        (None, ObjectId::Node(_) | ObjectId::Zone(_) | ObjectId::Pending(..) | ObjectId::Vnet(_)) => {
            Ok((Check::Fabric, None))
        }
        (None, ObjectId::Attention(_) | ObjectId::Source(_)) => Ok((Check::All, None)),
        (None, _) => Err("this row belongs to no tenant".to_owned()),
    }
}

/// Where the cursor can be: the legs, then the findings.
fn spots(inquiry: &Inquiry) -> Vec<Spot> {
    let legs = (0..inquiry.leg_count()).map(Spot::Leg);
    let findings = if inquiry.is_open() { Vec::new() } else { inquiry.findings() };
    legs.chain(findings.into_iter().map(|f| Spot::Finding(f.key()))).collect()
}

/// What is under the cursor: on a screen about one thing that thing, else where the cursor was put, else the first
/// leg that is broken, unknown or weak, else the first finding, else the first of all.
#[must_use]
pub fn spot(model: &Model) -> Option<Spot> {
    let inquiry = model.inquiry.as_ref()?;
    let put = match model.screen() {
        Screen::Diagnose { cursor, .. } => cursor.clone(),
        Screen::Finding { key, .. } => return Some(Spot::Finding(key.clone()?)),
        Screen::Evidence { spot, .. } => return spot.clone(),
        _ => return None,
    };
    put.filter(|put| spots(inquiry).contains(put)).or_else(|| first(model))
}

/// Where the cursor is before it is put anywhere.
#[must_use]
pub fn first(model: &Model) -> Option<Spot> {
    let inquiry = model.inquiry.as_ref()?;
    let legs = inquiry.legs();
    let of = |state| legs.iter().find(|row| row.state == state).map(|row| Spot::Leg(row.number - 1));
    let worst = of(State::Fail).or_else(|| of(State::Unknown)).or_else(|| of(State::Weak));
    // What was found elsewhere is told before a path on which all is well.
    let found = || inquiry.findings().into_iter().find(|f| f.severity > Severity::Info).map(|f| Spot::Finding(f.key()));
    let found = if inquiry.is_open() { None } else { found() };
    worst.or(found).or_else(|| spots(inquiry).into_iter().next())
}

/// The finding that `spot` is about: itself, or the first one of the leg.
#[must_use]
pub fn finding_at<'m>(inquiry: &'m Inquiry, spot: &Spot) -> Option<&'m Finding> {
    let report = &inquiry.diagnosis()?.report;
    match spot {
        Spot::Finding(key) => report.findings.iter().find(|f| f.key() == *key),
        Spot::Leg(at) => inquiry.legs().get(*at)?.findings().into_iter().next(),
    }
}

/// The finding under the cursor, or of the leg under it.
#[must_use]
pub fn selected(model: &Model) -> Option<&Finding> {
    finding_at(model.inquiry.as_ref()?, &spot(model)?)
}

/// Moves the cursor; whether there was something to move to.
pub fn step(model: &mut Model, by: isize) -> bool {
    let spots = model.inquiry.as_ref().map(spots).unwrap_or_default();
    let at = spot(model).and_then(|spot| spots.iter().position(|s| *s == spot));
    let to = at.and_then(|at| at.checked_add_signed(by)).and_then(|to| spots.get(to)).cloned();
    match (model.stack.last_mut(), to) {
        (Some(Screen::Diagnose { cursor, follow, .. }), Some(spot)) => {
            (*cursor, *follow) = (Some(spot), true);
            true
        }
        _ => false,
    }
}

/// What is on screen as text: JSON where that is shown, else Markdown.
#[must_use]
pub fn text(model: &Model) -> Option<String> {
    let inquiry = model.inquiry.as_ref()?;
    match model.screen() {
        Screen::Finding { json: true, .. } => Some(super::describe::plain(&sheet(model))),
        Screen::Finding { .. } => selected(model).map(|f| of_finding(f, model.look.glyphs)),
        Screen::Evidence { lines, .. } => Some(evidence::text(lines)),
        _ => markdown(inquiry, model.look.glyphs),
    }
}

/// The next steps of what is under the cursor, as they are numbered on screen.
#[must_use]
pub fn steps(model: &Model) -> Vec<crate::diagnose::finding::Next> {
    selected(model).map(|finding| finding.next.clone()).unwrap_or_default()
}
