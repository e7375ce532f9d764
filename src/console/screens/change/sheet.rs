//! Texts about changes: a step in full, the plan as YAML, what a step told, a change of the journal.

use ratatui::layout::Rect;

use super::{folded, second};
use crate::console::change::{Sheet, handover, journal as shelf, words};
use crate::console::model::Model;
use crate::console::screens::text;
use crate::console::theme::Role;
use crate::console::widgets::canvas::{Bit, Canvas};
use crate::console::widgets::format;
use crate::console::widgets::frame::Titles;
use crate::provision::fields::{Change, Seen};
use crate::provision::journal::{Entry, Record};
use crate::text::sentence;

/// Draws a text from line `scroll` on.
pub fn draw(canvas: &mut Canvas<'_>, model: &Model, area: Rect, of: &Sheet, scroll: usize) {
    let (title, rows) = match of {
        Sheet::Step(at) => step(canvas, model, area, *at),
        Sheet::Yaml => yaml(canvas, model, area),
        Sheet::Log(at) => log(canvas, model, area, *at),
        Sheet::HandOver => hand_over(canvas, model, area),
        Sheet::Entry(id) => match shelf::entry(model, *id) {
            Some(found) => (format!("{id} · {}", found.plan.title), entry(canvas, model, area, found)),
            None => (id.to_string(), vec![vec![Bit::muted("It is not in the journal.")]]),
        },
    };
    text::page(canvas, area, &Titles { focused: true, ..Titles::new(title) }, &rows, scroll);
}

/// A field that differs: its name, what it is, what it will be.
pub(super) fn change(change: &Change) -> Vec<Bit> {
    let mut out = vec![Bit::muted(format!("{}  ", change.field))];
    match (&change.now, &change.will_be) {
        (None, Some(new)) => out.push(Bit::new(format!("+ {new}"), Role::DiffAdd)),
        (Some(old), None) => out.push(Bit::new(format!("- {old}"), Role::DiffRemove)),
        (Some(old), Some(new)) => {
            out.extend([Bit::new(format!("- {old}"), Role::DiffRemove), Bit::text("  ")]);
            out.push(Bit::new(format!("+ {new}"), Role::DiffAdd));
        }
        (None, None) => {}
    }
    out
}

type Text = (String, Vec<Vec<Bit>>);

fn step(canvas: &Canvas<'_>, model: &Model, area: Rect, at: usize) -> Text {
    let offer = model.changes.proposal.as_ref().and_then(|proposal| proposal.offer.as_ref());
    let Some((preview, step)) = offer.and_then(|o| Some((&o.preview, o.preview.plan.steps.get(at)?))) else {
        return ("step".to_owned(), vec![vec![Bit::muted("There is no plan here any more.")]]);
    };
    let object = step.object.ensure();
    let mut rows = vec![vec![Bit::muted("where     "), Bit::text(object.place().word())]];
    if let Some(level) = words::step_danger(preview, at) {
        rows.push(vec![Bit::muted("reach     "), super::danger(level)]);
    }
    rows.push(vec![Bit::muted("way back  "), Bit::text(words::undo(preview, at))]);
    if step.follows {
        rows.push(vec![Bit::muted("It is told once the steps before it ran.")]);
    }
    rows.push(Vec::new());
    match preview.looks.get(at) {
        Some(Ok(look)) => {
            rows.push(vec![Bit::new("difference", Role::Title)]);
            if look.todo.is_nothing() {
                rows.push(vec![Bit::muted("none: it is as it is wanted")]);
            }
            rows.extend(look.todo.changes().iter().map(change));
            rows.extend([Vec::new(), vec![Bit::new("what is there", Role::Title)]]);
            match &look.seen {
                Seen::Absent => rows.push(vec![Bit::muted("nothing")]),
                Seen::Present(fields) => {
                    let pair = |(name, value): (&String, &String)| {
                        vec![Bit::muted(format!("{name}  ")), Bit::text(value.clone())]
                    };
                    rows.extend(fields.iter().map(pair));
                }
            }
        }
        Some(Err(why)) => {
            rows.extend(folded(canvas, area, &sentence(&why.text), Role::Text));
            rows.extend(why.help().into_iter().flat_map(|help| folded(canvas, area, &sentence(help), Role::Muted)));
        }
        None => {}
    }
    (format!("step {} · {}", at + 1, object.name()), rows)
}

fn yaml(canvas: &Canvas<'_>, model: &Model, area: Rect) -> Text {
    let offer = model.changes.proposal.as_ref().and_then(|proposal| proposal.offer.as_ref());
    let text = offer.and_then(|offer| serde_yaml_ng::to_string(&offer.preview.plan).ok()).unwrap_or_default();
    let rows =
        text.lines().flat_map(|line| crate::console::screens::text::folded(canvas, line, area.width.saturating_sub(3)));
    ("plan · YAML".to_owned(), rows.map(|line| vec![Bit::text(line)]).collect())
}

fn log(canvas: &Canvas<'_>, model: &Model, area: Rect, at: usize) -> Text {
    let run = model.changes.run.as_ref();
    let Some((run, step)) = run.and_then(|run| Some((run, run.steps.get(at)?))) else {
        return ("step".to_owned(), Vec::new());
    };
    let name = run.offer.preview.plan.steps.get(at).map(|step| step.object.ensure().name()).unwrap_or_default();
    let mut rows = Vec::new();
    for (when, line) in &step.lines {
        for (n, part) in folded(canvas, Rect { width: area.width.saturating_sub(11), ..area }, line, Role::Text)
            .into_iter()
            .enumerate()
        {
            let lead = if n == 0 { format!("{}  ", second(*when)) } else { " ".repeat(11) };
            rows.push(std::iter::once(Bit::muted(lead)).chain(part).collect());
        }
    }
    if rows.is_empty() {
        rows.push(vec![Bit::muted("It told nothing.")]);
    }
    (format!("step {} · {name}", at + 1), rows)
}

/// The sheet for a tenant's people, and what can be done with it above it.
fn hand_over(canvas: &Canvas<'_>, model: &Model, area: Rect) -> Text {
    let mut rows: Vec<Vec<Bit>> = Vec::new();
    for (n, (word, text)) in handover::WAYS.iter().enumerate() {
        rows.push(vec![Bit::new(format!(" {}  {word:<11}", n + 1), Role::Accent), Bit::text(*text)]);
    }
    rows.push(Vec::new());
    let Some(sheet) = handover::sheet(model) else {
        return ("hand over".to_owned(), vec![vec![Bit::muted("This tenant is not in the picture.")]]);
    };
    for line in sheet.markdown().lines() {
        let role = if line.starts_with('#') { Role::Title } else { Role::Text };
        let parts = text::folded(canvas, line, area.width.saturating_sub(3));
        rows.extend(parts.into_iter().map(|part| vec![Bit::new(part, role)]));
    }
    (format!("Hand over {}", sheet.tenant), rows)
}

fn entry(canvas: &Canvas<'_>, model: &Model, area: Rect, entry: &Entry) -> Vec<Vec<Bit>> {
    let who = format!("{}@{}", entry.who.user, entry.who.host);
    let mut rows = vec![
        vec![Bit::muted("begun     "), Bit::text(format!("{} by {who}", format::stamp(entry.at, model.now)))],
        vec![Bit::muted("about     "), Bit::text(entry.plan.subject.name.clone())],
        Vec::new(),
    ];
    let name = |step: usize| {
        let name = entry.plan.steps.get(step).map(|step| step.object.ensure().name()).unwrap_or_default();
        format!("step {} {name}", step + 1)
    };
    for line in &entry.lines {
        let text = match &line.record {
            Record::Opened { takes_back: Some(change), .. } => {
                format!("opened, takes back {}", crate::text::clean(change))
            }
            Record::Opened { .. } => "opened".to_owned(),
            Record::Run { who, .. } => format!("run by {}@{}, process {}", who.user, who.host, who.pid),
            Record::Replanned { plan } => format!("planned anew: {}", plan.title),
            Record::Begun { step, .. } => format!("{}: begun", name(*step)),
            // Its value may be what gives a lock away.
            Record::Note { key, value } if value.is_empty() => format!("{key}: over"),
            Record::Note { key, .. } => format!("{key}: noted"),
            Record::Applied { step } => format!("{}: answered yes", name(*step)),
            Record::Verified { step, .. } => format!("{}: read back, as wanted", name(*step)),
            Record::Satisfied { step } => format!("{}: nothing to do", name(*step)),
            Record::Failed { step, trouble } => format!("{}: {}", name(*step), trouble.text),
            Record::Interrupted { step } => format!("{}: stopped", name(*step)),
            Record::GaveBack { what, trouble: None } => format!("{what}: given back"),
            Record::GaveBack { what, trouble: Some(why) } => format!("{what}: could not be given back: {}", why.text),
            Record::Closed { .. } => "closed".to_owned(),
        };
        for (n, part) in folded(canvas, Rect { width: area.width.saturating_sub(11), ..area }, &text, Role::Text)
            .into_iter()
            .enumerate()
        {
            let lead = if n == 0 { format!("{}  ", second(line.at)) } else { " ".repeat(11) };
            rows.push(std::iter::once(Bit::muted(lead)).chain(part).collect());
        }
    }
    rows
}
