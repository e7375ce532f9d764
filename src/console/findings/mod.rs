//! Findings on screen: the check that runs or ran last, its cursor, and the last verdict of each tenant's egress.

mod markdown;
mod sheet;
mod words;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

pub use markdown::{markdown, of_finding};
pub use sheet::sheet;
pub use words::{called, class, result, seen, severity, word};

use super::list::Cell;
use super::model::{Model, Screen};
use super::msg::{Effect, Notice};
use super::resolve::{Probe, conclude, remember};
use super::{nav, widgets::format};
use crate::diagnose::Report;
use crate::diagnose::collect::Check;
use crate::diagnose::finding::{Finding, Key, Severity};
use crate::diagnose::path::{Path, State};
use crate::inventory::{Class, ObjectId};

/// How lines of Activity about checks begin.
const PROBE: &str = "check ";

/// The check that runs, or ran last.
#[derive(Debug, Clone, PartialEq)]
pub struct Inquiry {
    /// Counts up with every check of this console: what comes under another number is an older one's.
    pub id: u64,
    /// What is looked at.
    pub check: Check,
    /// Of whom; `None` = of everybody.
    pub tenant: Option<Arc<str>>,
    /// Since when.
    pub asked: Timestamp,
    /// What came of it.
    pub came: Came,
}

/// What came of a check.
#[derive(Debug, Clone, PartialEq)]
pub enum Came {
    /// Nothing yet.
    Awaited,
    /// The operator gave it up.
    Stopped,
    /// It did not end, and why.
    Failed(String),
    /// What it found.
    Found(Found),
}

/// What a check found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Findings that concern whom was asked about.
    pub report: Report,
    /// How many findings about others were left out.
    pub others: usize,
    /// When it ended.
    pub at: Timestamp,
    /// How long it took.
    pub took: Duration,
}

/// What the last check of a tenant's egress came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Class.
    pub class: Class,
    /// When.
    pub at: Timestamp,
}

impl Inquiry {
    /// Whether something is awaited.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self.came, Came::Awaited)
    }

    /// What it found.
    #[must_use]
    pub const fn found(&self) -> Option<&Found> {
        match &self.came {
            Came::Found(found) => Some(found),
            _ => None,
        }
    }

    /// The path, where the check looks at one.
    #[must_use]
    pub fn path(&self) -> Option<Path<'_>> {
        let found = self.found()?;
        matches!(self.check, Check::Egress | Check::All).then(|| Path::of(&found.report, self.tenant.as_deref()))
    }

    /// The finding that is told first: that of the first broken leg, by its root; else the report's.
    #[must_use]
    pub fn headline(&self) -> Option<&Finding> {
        let report = &self.found()?.report;
        let of = |key: &Key| report.findings.iter().find(|f| f.key() == *key);
        let broken = self.path().and_then(|path| {
            let (_, leg) = path.broken()?;
            leg.findings.iter().copied().find(|f| f.severity == Severity::Fault)
        });
        let mut at = match broken {
            Some(finding) => of(&finding.key())?,
            None => report.headline()?,
        };
        // A circle of causes ends after as many steps as there are findings.
        for _ in &report.findings {
            match at.caused_by.as_ref().and_then(of) {
                Some(cause) => at = cause,
                None => break,
            }
        }
        Some(at)
    }

    /// Findings as they are shown: the headline with its consequences, then the rest in the report's order.
    #[must_use]
    pub fn findings(&self) -> Vec<&Finding> {
        let (Some(found), Some(first)) = (self.found(), self.headline()) else { return Vec::new() };
        let all = &found.report.findings;
        let key = first.key();
        let start = all.iter().position(|f| f.key() == key).unwrap_or(0);
        let end = all.iter().skip(start + 1).position(|f| f.caused_by.is_none()).map_or(all.len(), |n| start + 1 + n);
        let head = all.get(start..end).unwrap_or_default();
        head.iter().chain(all.iter().take(start)).chain(all.iter().skip(end)).collect()
    }

    /// How many findings are of `severity`.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.found().map_or(0, |found| found.report.findings.iter().filter(|f| f.severity == severity).count())
    }

    /// What it is called: `check egress of eds`.
    #[must_use]
    pub fn name(&self) -> String {
        let of = self.tenant.as_ref().map_or_else(String::new, |tenant| format!(" of {tenant}"));
        format!("{PROBE}{}{of}", word(self.check))
    }

    /// Whole seconds since it was asked for.
    #[must_use]
    pub fn waited(&self, now: Timestamp) -> i64 {
        now.duration_since(self.asked).as_secs().max(0)
    }
}

/// Starts a check; one that still runs is given up.
pub fn ask(model: &mut Model, check: Check, tenant: Option<Arc<str>>) -> Vec<Effect> {
    stop(model);
    let id = model.inquiry.as_ref().map_or(1, |i| i.id + 1);
    let inquiry = Inquiry { id, check, tenant: tenant.clone(), asked: model.now, came: Came::Awaited };
    remember(model, Probe { at: model.now, what: inquiry.name(), result: None });
    model.inquiry = Some(inquiry);
    if matches!(model.screen(), Screen::Finding { .. } | Screen::Cell { .. }) {
        nav::pop(model);
    }
    let screen = if check == Check::Isolation {
        // The cursor stays where it is when the table is read again.
        match model.screen() {
            Screen::Isolation { at } => Screen::Isolation { at: at.clone() },
            _ => super::isolation::screen(),
        }
    } else {
        Screen::Diagnose { cursor: None, follow: true, scroll: 0 }
    };
    match model.stack.last_mut() {
        Some(shown @ (Screen::Diagnose { .. } | Screen::Isolation { .. })) => *shown = screen,
        _ => nav::push(model, screen),
    }
    vec![Effect::Check { id, check, tenant }]
}

/// Runs the last check again.
pub fn again(model: &mut Model) -> Vec<Effect> {
    match model.inquiry.as_ref().map(|i| (i.check, i.tenant.clone())) {
        Some((check, tenant)) => ask(model, check, tenant),
        None => Vec::new(),
    }
}

/// Gives the check up that runs; whether there was one.
pub fn stop(model: &mut Model) -> bool {
    let Some(inquiry) = model.inquiry.as_mut().filter(|i| i.is_open()) else { return false };
    inquiry.came = Came::Stopped;
    conclude(model, PROBE, Cell::state(Class::Info, "given up by you"));
    true
}

/// Takes in what a check came to; that of an older one is dropped.
pub fn checked(model: &mut Model, id: u64, report: Result<Arc<Report>, String>, took: Duration) {
    let Some(inquiry) = model.inquiry.as_mut().filter(|i| i.id == id && i.is_open()) else { return };
    let (tenant, at) = (inquiry.tenant.clone(), model.now);
    match &report {
        Ok(report) => {
            let (report, others) = tenant.as_deref().map_or_else(|| ((**report).clone(), 0), |t| report.about(t));
            inquiry.came = Came::Found(Found { report, others, at, took });
        }
        Err(why) => inquiry.came = Came::Failed(why.clone()),
    }
    let looked = matches!(inquiry.check, Check::Egress | Check::All);
    let (class, text) = sentence(inquiry, at);
    let name = inquiry.name();
    conclude(model, PROBE, Cell::state(class, text.clone()));
    if !matches!(
        model.screen(),
        Screen::Diagnose { .. } | Screen::Finding { .. } | Screen::Isolation { .. } | Screen::Cell { .. }
    ) {
        model.say(Notice { class, text: format!("{name}: {text}") });
    }
    if let (true, Ok(report)) = (looked, report) {
        note(model, &report, tenant, at);
    }
}

/// Keeps the verdict of each tenant that was looked at.
fn note(model: &mut Model, report: &Report, tenant: Option<Arc<str>>, at: Timestamp) {
    let all = || model.picture().into_iter().flat_map(|inv| inv.tenants.iter().map(|t| Arc::clone(&t.name)));
    let tenants: Vec<Arc<str>> = tenant.map_or_else(|| all().collect(), |one| vec![one]);
    for tenant in tenants {
        let class = class(Path::of(report, Some(&tenant)).state());
        model.verdicts.insert(tenant, Verdict { class, at });
    }
}

/// The sentence about a check.
#[must_use]
pub fn sentence(inquiry: &Inquiry, now: Timestamp) -> (Class, String) {
    let found = match &inquiry.came {
        Came::Awaited => return (Class::Progress, format!("asking · {}s", inquiry.waited(now))),
        Came::Stopped => return (Class::Info, "given up by you: nothing is known of it".to_owned()),
        Came::Failed(why) => return (Class::Unknown, why.clone()),
        Came::Found(found) => found,
    };
    let path = inquiry.path();
    let not_run = path.as_ref().map_or(0, |path| path.count(State::NotRun));
    let legs = if not_run > 0 { format!(" · {} not run here", format::plural(not_run, "leg")) } else { String::new() };
    match inquiry.headline() {
        Some(first) if first.severity > Severity::Info => (severity(first.severity), first.title.clone()),
        _ if !found.report.unknown.is_empty() => {
            let inputs = format::plural(found.report.unknown.len(), "input");
            (Class::Unknown, format!("no fault found, but {inputs} missing{legs}"))
        }
        _ if found.report.passed.is_empty() => (Class::NotRun, "nothing was looked at".to_owned()),
        _ => {
            let passed = format::plural(found.report.passed.len(), "check");
            (Class::Fine, format!("no fault found · {passed} passed{legs}"))
        }
    }
}

/// The headline in short: its id, on what, and how many findings there are; else the sentence.
#[must_use]
pub fn short(inquiry: &Inquiry, now: Timestamp) -> (Class, String) {
    let (class, text) = sentence(inquiry, now);
    match inquiry.headline().filter(|f| f.severity > Severity::Info) {
        Some(first) => {
            let (faults, warnings) = (inquiry.count(Severity::Fault), inquiry.count(Severity::Warning));
            let faults = (faults > 0).then(|| format::plural(faults, "fault"));
            let counts = faults.into_iter().chain((warnings > 0).then(|| format::plural(warnings, "warning")));
            let counts = counts.collect::<Vec<_>>().join(", ");
            (class, format!("{} on {} {} · {counts}", first.id, first.subject.kind, first.subject.name))
        }
        None => (class, text),
    }
}

/// What a check of the row looks at, and of whom.
///
/// # Errors
/// One clause for the operator.
pub fn of_row(model: &Model) -> Result<(Check, Option<Arc<str>>), String> {
    if let (Screen::Diagnose { .. } | Screen::Finding { .. }, Some(inquiry)) = (model.screen(), &model.inquiry) {
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

/// The finding under the cursor.
#[must_use]
pub fn selected(model: &Model) -> Option<&Finding> {
    let findings = model.inquiry.as_ref()?.findings();
    let key = match model.screen() {
        Screen::Diagnose { cursor, .. } => cursor.as_ref(),
        Screen::Finding { key, .. } => Some(key.as_ref()?),
        _ => return None,
    };
    let at = key.and_then(|key| findings.iter().find(|f| f.key() == *key)).or_else(|| findings.first());
    at.copied()
}

/// Moves the cursor by findings; whether there was one to move to.
pub fn step(model: &mut Model, by: isize) -> bool {
    let keys: Vec<Key> =
        model.inquiry.as_ref().map(|i| i.findings().iter().map(|f| f.key()).collect()).unwrap_or_default();
    let at = selected(model).map(Finding::key).and_then(|key| keys.iter().position(|k| *k == key));
    let to = at.and_then(|at| at.checked_add_signed(by)).and_then(|to| keys.get(to)).cloned();
    match (model.stack.last_mut(), to) {
        (Some(Screen::Diagnose { cursor, follow, .. }), Some(key)) => {
            (*cursor, *follow) = (Some(key), true);
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
        _ => markdown(inquiry, model.look.glyphs),
    }
}
