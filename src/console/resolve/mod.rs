//! One name at every vantage point: the question on screen, and what was asked before.

mod markdown;
mod sheet;
mod words;

use jiff::Timestamp;

pub use markdown::markdown;
pub use sheet::{ANSWER, Line, lines};
pub use words::{
    Reason, address, code, control, expected_values, flags, how, reasons, said, state, title, ttl, values,
};

use super::list::Cell;
use super::model::{Model, Screen};
use super::msg::{Effect, Notice};
use super::nav;
use crate::backends::dns::RecordType;
use crate::diagnose::resolve::{Controls, Expected, Gathering, Heard, Target, Verdict, expect};
use crate::inventory::{Class, Inventory, ObjectId};

/// How many probes are remembered.
const PROBES: usize = 200;
/// How lines of Activity about questions begin.
const PROBE: &str = "resolve ";

/// The question that is, or was last, on screen.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Counts up with every question of this console: what comes under another number is an older one's.
    pub id: u64,
    /// What has come.
    pub found: Gathering,
    /// Whether the operator gave up on what had not come.
    pub stopped: bool,
}

impl Question {
    /// Whether something is awaited.
    #[must_use]
    pub fn is_open(&self) -> bool {
        !self.found.is_whole()
    }
}

/// Something that this console asked or tried, for Activity.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// When.
    pub at: Timestamp,
    /// What, e.g. `resolve app.tdemo.mobile.deevnet.net A`.
    pub what: String,
    /// What came of it; `None` = not known yet.
    pub result: Option<Cell>,
}

/// Asks everybody for `target`; a question that is still open is given up.
pub fn ask(model: &mut Model, inv: &Inventory, target: Target) -> Vec<Effect> {
    stop(model);
    let id = model.question.as_ref().map_or(1, |q| q.id + 1);
    let found = Gathering::new(model.now, target.clone(), &Controls::of_site(&inv.site));
    let what = format!("{PROBE}{} {}", target.name, target.kind);
    remember(model, Probe { at: model.now, what, result: None });
    model.question = Some(Question { id, found, stopped: false });
    match model.stack.last_mut() {
        Some(Screen::Resolve { scroll }) => *scroll = 0,
        _ => nav::push(model, Screen::Resolve { scroll: 0 }),
    }
    vec![Effect::Resolve { id, target }]
}

/// Asks the question on screen again.
pub fn again(model: &mut Model) -> Vec<Effect> {
    let Some((target, inv)) = model.question.as_ref().map(|q| q.found.target.clone()).zip(model.picture().cloned())
    else {
        return Vec::new();
    };
    ask(model, &inv, target)
}

/// Takes in what came; what came of an older question is dropped.
pub fn heard(model: &mut Model, id: u64, heard: Heard) {
    let Some(question) = model.question.as_mut().filter(|q| q.id == id && !q.stopped) else { return };
    question.found.take(heard);
    if question.found.is_whole() {
        let result = verdict(&question.found);
        conclude(model, PROBE, result);
    }
}

/// Derives again what was unknown when it was asked, now that more has been read; what was known stays, so that the answers
/// keep the expectation of their own moment.
pub fn picture_came(model: &mut Model) {
    let Some(inv) = model.inv.clone() else { return };
    let Some(question) = model.question.as_mut().filter(|q| !q.stopped) else { return };
    if !matches!(question.found.expected, Some(Expected::Unknown { .. })) {
        return;
    }
    let expected = expect(&inv.site, &inv, &question.found.target);
    if matches!(expected, Expected::Unknown { .. }) {
        return;
    }
    question.found.take(Heard::Expected(expected));
    let result = question.found.is_whole().then(|| verdict(&question.found));
    let last = model.probes.iter_mut().rev().find(|probe| probe.what.starts_with(PROBE));
    if let Some((probe, result)) = last.zip(result) {
        probe.result = Some(result);
    }
}

/// Gives up on what has not come; whether there was something to give up on.
pub fn stop(model: &mut Model) -> bool {
    let Some(question) = model.question.as_mut().filter(|q| q.is_open()) else { return false };
    question.found.stop("given up by you before it answered");
    question.stopped = true;
    conclude(model, PROBE, Cell::state(Class::Info, "given up by you"));
    true
}

/// Lists `probe` in Activity.
pub fn remember(model: &mut Model, probe: Probe) {
    if model.probes.len() >= PROBES {
        model.probes.remove(0);
    }
    model.probes.push(probe);
}

/// Says what came of the last probe that begins with `head` and is still open.
pub fn conclude(model: &mut Model, head: &str, result: Cell) {
    let open = |p: &&mut Probe| p.result.is_none() && p.what.starts_with(head);
    if let Some(probe) = model.probes.iter_mut().rev().find(open) {
        probe.result = Some(result);
    }
}

/// What came of a whole, in a few words.
fn verdict(found: &Gathering) -> Cell {
    match found.judge().1 {
        Some(Verdict::Agree) => Cell::state(Class::Fine, "all agree"),
        Some(Verdict::Differ) => Cell::state(Class::Differs, "answers differ"),
        Some(Verdict::Unknown) | None => Cell::state(Class::Unknown, "not everybody answered"),
    }
}

/// The sentence about the question on screen.
#[must_use]
pub fn sentence(question: &Question) -> (Class, String) {
    let (found, name) = (&question.found, &question.found.target.name);
    let silent = found.columns().filter(|(_, column)| column.is_none()).count();
    if silent > 0 || found.expected.is_none() {
        return (Class::Progress, format!("{name}: asking; {} of 5 have answered", 5 - silent));
    }
    let cell = verdict(found);
    let text = if question.stopped { "given up before everybody had answered".to_owned() } else { cell.text };
    (cell.class.unwrap_or(Class::Unknown), format!("{name}: {text}"))
}

/// What `resolve` asks of a row: text and type as they are typed; `Err` says why the row has none.
///
/// # Errors
/// One clause for the operator.
pub fn of_row(inv: &Inventory, id: &ObjectId) -> Result<(String, Option<RecordType>), String> {
    match id {
        ObjectId::Workload(vmid) => {
            let found = inv.workloads.iter().find(|w| w.vmid == *vmid).ok_or("it is not there any more")?;
            Ok((format!("{}/{}", found.tenant, found.name), None))
        }
        ObjectId::Record(name, kind) => {
            Ok((name.to_string(), Some(kind.parse().map_err(|_| format!("{kind} records are not asked for"))?)))
        }
        ObjectId::DnsZone(zone) => Ok((zone.to_string(), Some(RecordType::SOA))),
        ObjectId::Forward(_) => {
            let named = |f: &&crate::inventory::ForwardRow| matches!(id, ObjectId::Forward(id) if f.uuid.as_ref().unwrap_or(&f.domain) == id);
            let found = inv.forwards.iter().find(named).ok_or("it is not there any more")?;
            Ok((found.domain.to_string(), Some(RecordType::SOA)))
        }
        ObjectId::Tenant(tenant) => Ok((format!("{tenant}.{}", inv.site.domain), Some(RecordType::SOA))),
        _ => Err("this row has no name to ask for".to_owned()),
    }
}

/// Asks for what was typed.
pub fn typed(model: &mut Model, text: &str, kind: Option<RecordType>) -> Vec<Effect> {
    let Some(inv) = model.picture().cloned() else { return Vec::new() };
    match Target::parse(&inv.site, text, kind) {
        Ok(target) => ask(model, &inv, target),
        Err(e) => {
            model.say(Notice::warning(format!("{e}; {}", e.help())));
            Vec::new()
        }
    }
}
