//! What is said of steps: what is there, what it will be, how it is taken back.

use crate::console::list::Cell;
use crate::inventory::Class;
use crate::provision::fields::{Change, Difference, Seen};
use crate::provision::object::{Danger, Object, Undo};
use crate::provision::plan::{Plan, Preview, Question, Step};
use crate::provision::plans::names::zones;
use crate::site::Site;
use crate::site::names::TenantName;
use crate::site::numbering::TenantIndex;

/// `danger 3 · shared`.
#[must_use]
pub fn danger(danger: Danger) -> String {
    format!("danger {} · {}", danger.level(), danger.word())
}

/// Whether a step changes something for itself, as far as can be told.
#[must_use]
pub fn changes(preview: &Preview, number: usize) -> bool {
    let Some(step) = preview.plan.steps.get(number).filter(|_| preview.does(number)) else { return false };
    step.object.ensure().for_itself() && step_danger(preview, number).is_some_and(|danger| danger > Danger::Look)
}

/// The numbers of a tenant that a plan makes, as they follow from its index: of the plan in one line, its network as it is
/// handed on, its zones.
#[must_use]
pub fn numbers(site: &Site, plan: &Plan) -> Option<[String; 3]> {
    let own = plan.steps.iter().find_map(|step| match &step.object {
        Object::OwnIndex(own) => Some(own),
        _ => None,
    })?;
    let (tenant, index) = (own.tenant.parse::<TenantName>().ok()?, TenantIndex::new(u64::from(own.index)).ok()?);
    let numbering = &site.numbering;
    let (vrf, tag) = (numbering.vrf_vni(index), numbering.vnet_vni_base_of(index));
    let net = format!("{} · gateway {}", numbering.subnet(index), numbering.gateway(index));
    let vnet = tenant.vnet(0).unwrap_or_default();
    Some([
        format!("index {} · VRF {vrf} · tag {tag} · {net}", own.index),
        format!("VRF {vrf} · {vnet} · {net}"),
        zones(site, &tenant, index).join(" · "),
    ])
}

/// Which of the four parts of an onboarding a page is; empty where the plan is none.
#[must_use]
pub fn part(plan: &Plan, number: u8, word: &str) -> String {
    let onboards = plan.steps.iter().any(|step| matches!(step.object, Object::OwnIndex(_)));
    if onboards { format!(" · step {number} of 4: {word}") } else { String::new() }
}

/// What is there of a step.
#[must_use]
pub fn now(preview: &Preview, number: usize) -> Cell {
    let follows = preview.plan.steps.get(number).is_some_and(|step| step.follows);
    match preview.looks.get(number) {
        Some(Ok(look)) => match (&look.seen, &look.todo) {
            // As it is now says nothing of it: the steps before it come first.
            (_, Difference::Nothing) if follows && preview.does(number) => Cell::muted("told later"),
            (Seen::Absent, _) => Cell::state(Class::Absent, "absent"),
            (Seen::Present(_), Difference::Nothing) => Cell::state(Class::Fine, "as wanted"),
            (Seen::Present(_), Difference::Update(changes)) => Cell::state(Class::Differs, values(changes, false)),
            (Seen::Present(_), _) => Cell::text("present"),
        },
        Some(Err(_)) if follows => Cell::muted("told later"),
        Some(Err(why)) if why.kind.is_known() => Cell::state(Class::Fault, "in the way"),
        Some(Err(_)) => Cell::state(Class::Unknown, "unknown"),
        None => Cell::muted(""),
    }
}

/// What it will be.
#[must_use]
pub fn will_be(preview: &Preview, number: usize) -> Cell {
    let Some(step) = preview.plan.steps.get(number) else { return Cell::muted("") };
    let does = preview.does(number);
    match preview.looks.get(number) {
        Some(Ok(look)) => match &look.todo {
            Difference::Nothing if !does => Cell::muted("same"),
            Difference::Create(changes) => Cell::text(format!("+ {}", values(changes, true))),
            _ if step.object.ensure().undo(&Difference::Nothing) == Undo::Again => Cell::text("→ applied".to_owned()),
            Difference::Update(changes) => Cell::text(format!("→ {}", values(changes, true))),
            Difference::Delete(_) => Cell::text("gone".to_owned()),
            Difference::Nothing => Cell::text("told later".to_owned()),
        },
        _ => Cell::text(assumed(step).to_owned()),
    }
}

const fn assumed(step: &Step) -> &'static str {
    match step.wanted {
        crate::provision::fields::Wanted::Absent => "gone",
        crate::provision::fields::Wanted::Present(_) => "as wanted",
    }
}

/// Fields that say whose an object is, or the same of every object.
const DULL: [&str; 7] = ["account", "comments", "description", "enabled", "kind", "type", "update-serial"];

/// The values of changes in one line: a single field without its name where it is plain what it is.
fn values(changes: &[Change], after: bool) -> String {
    let value = |change: &Change| {
        let side = if after { &change.will_be } else { &change.now };
        side.clone().unwrap_or_else(|| "–".to_owned())
    };
    // What tells least of an object comes last: a line is cut at its end.
    let (telling, rest): (Vec<_>, Vec<_>) = changes.iter().partition(|change| !DULL.contains(&change.field.as_str()));
    let all = telling.into_iter().chain(rest);
    all.map(|change| format!("{} {}", change.field, value(change))).collect::<Vec<_>>().join(", ")
}

/// How a step is taken back.
#[must_use]
pub fn undo(preview: &Preview, number: usize) -> String {
    let Some(step) = preview.plan.steps.get(number) else { return String::new() };
    let nothing = Difference::Nothing;
    let todo = preview.looks.get(number).and_then(|look| look.as_ref().ok()).map_or(&nothing, |look| &look.todo);
    match step.object.ensure().undo(todo) {
        _ if !preview.does(number) => "nothing to do".to_owned(),
        Undo::Inverse => match todo {
            Difference::Create(_) => "undo: removed again".to_owned(),
            Difference::Delete(_) => "undo: made again".to_owned(),
            _ => "undo: as it was".to_owned(),
        },
        Undo::Again => "undo: applied again".to_owned(),
        Undo::First => "given back at the end".to_owned(),
        Undo::Nothing => "changes nothing".to_owned(),
        Undo::None(why) => format!("no undo: {why}"),
    }
}

/// What is asked before the plan runs, and by which key.
#[must_use]
pub fn asks(question: &Question) -> String {
    match question {
        Question::Nothing => "nothing is asked: A runs it".to_owned(),
        Question::Yes | Question::PlanYes => "A asks, y says yes".to_owned(),
        Question::PlanApply => "A applies it".to_owned(),
        Question::Name(_) => "A asks for the name".to_owned(),
    }
}

/// How far a step reaches, where it has something to do.
#[must_use]
pub fn step_danger(preview: &Preview, number: usize) -> Option<Danger> {
    let look = preview.looks.get(number)?.as_ref().ok()?;
    let step = preview.plan.steps.get(number)?;
    preview.does(number).then(|| step.object.ensure().danger(&look.todo))
}
