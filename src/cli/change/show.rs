//! A plan and what came of it, for people or as a document.

use std::io::Write;

use serde_json::{Value, json};

use super::Looked;
use crate::cli::args::Format;
use crate::cli::{Failure, print};
use crate::provision::engine::Ended;
use crate::provision::fields::Difference;
use crate::provision::journal::ChangeId;
use crate::provision::plan::{Look, Preview, Question};
use crate::text::clean;

/// Names of the steps, in order.
pub(super) fn names(preview: &Preview) -> Vec<String> {
    preview.plan.steps.iter().map(|step| clean(&step.object.ensure().name()).into_owned()).collect()
}

/// A plan as it was looked at.
///
/// # Errors
/// When it cannot be written.
pub(super) fn plan(out: &mut dyn Write, looked: &Looked, format: Format) -> Result<(), Failure> {
    if format == Format::Table {
        return people(out, looked);
    }
    print::document(out, &document(&looked.preview, &looked.left), format)
}

/// What is asked before a plan runs, in one word.
const fn question(question: &Question) -> &'static str {
    match question {
        Question::Nothing => "nothing",
        Question::Yes => "yes",
        Question::PlanYes => "plan-yes",
        Question::PlanApply => "plan-apply",
        Question::Name(_) => "name",
    }
}

/// The document of a plan.
pub(super) fn document(preview: &Preview, left: &[(String, &'static str)]) -> Value {
    let steps = preview.plan.steps.iter().zip(&preview.looks).enumerate().map(|(number, (step, look))| {
        let object = step.object.ensure();
        json!({
            "number": number + 1, "where": object.place().word(), "name": object.name(), "does": preview.does(number),
            "todo": look.as_ref().ok().map(|look| &look.todo), "unknown": look.as_ref().err(), "follows": step.follows,
        })
    });
    json!({
        "schema": "deevnet-console/plan/v1", "at": preview.at, "site": preview.plan.site, "title": preview.plan.title,
        "danger": preview.danger().level(), "question": question(&preview.question()), "empty": preview.is_empty(),
        "riders": preview.riders(), "reach": preview.reach(), "steps": steps.collect::<Vec<_>>(),
        "left": left.iter().map(|(name, why)| json!({ "name": name, "why": why })).collect::<Vec<_>>(),
    })
}

fn people(out: &mut dyn Write, looked: &Looked) -> Result<(), Failure> {
    let preview = &looked.preview;
    let danger = preview.danger();
    writeln!(out, "{} · danger {} · {}", clean(&preview.plan.title), danger.level(), danger.word())?;
    let names = names(preview);
    for (number, (step, look)) in preview.plan.steps.iter().zip(&preview.looks).enumerate() {
        let state = state(preview, number, look.as_ref().ok());
        let place = step.object.ensure().place().word();
        let name = names.get(number).map(String::as_str).unwrap_or_default();
        writeln!(out, " {:>2}  {place:<4}  {name:<44}  {state}", number + 1)?;
        match look {
            Ok(look) if preview.does(number) => fields(out, &look.todo)?,
            Err(why) if !step.follows => {
                writeln!(out, "            {} {}", if why.kind.is_known() { "✗" } else { "?" }, why.text)?;
            }
            _ => {}
        }
    }
    for rider in preview.riders() {
        writeln!(out, "goes along, and is not of this plan: {}", clean(&rider))?;
    }
    let mut reach = preview.reach();
    // They were named above.
    reach.noticed.retain(|line| !preview.riders().contains(line));
    for (head, lines) in [("goes", reach.destroyed), ("stays", reach.stays), ("noticed", reach.noticed)] {
        for line in lines {
            writeln!(out, "{head:<8} {}", clean(&line))?;
        }
    }
    for (name, why) in &looked.left {
        writeln!(out, "stays as it is: {}: {why}", clean(name))?;
    }
    if preview.is_empty() {
        writeln!(out, "nothing to do: everything is as it is wanted")?;
    }
    Ok(())
}

fn state(preview: &Preview, number: usize, look: Option<&Look>) -> &'static str {
    if !preview.does(number) {
        return "as it is wanted";
    }
    match look.map(|look| &look.todo) {
        Some(Difference::Create(_)) => "+ made",
        Some(Difference::Update(_)) => "~ changed",
        Some(Difference::Delete(_)) => "- removed",
        None if !preview.plan.steps.get(number).is_some_and(|step| step.follows) => "not as it has to be",
        Some(Difference::Nothing) | None => "after the steps before it",
    }
}

fn fields(out: &mut dyn Write, todo: &Difference) -> Result<(), Failure> {
    for change in todo.changes() {
        let value = |value: &Option<String>| value.as_deref().map_or_else(|| "–".to_owned(), |v| clean(v).into_owned());
        writeln!(out, "            {}: {} → {}", clean(&change.field), value(&change.now), value(&change.will_be))?;
    }
    Ok(())
}

/// What came of a run.
///
/// # Errors
/// When it cannot be written.
pub(super) fn ended(
    out: &mut dyn Write,
    id: Option<ChangeId>,
    ended: &Ended,
    steps: &[String],
    format: Format,
) -> Result<(), Failure> {
    let number = id.map(|id| id.to_string());
    if format == Format::Table {
        match (ended, &number) {
            (Ended::Done, None) => writeln!(out, "nothing to do")?,
            (Ended::Done, Some(number)) => writeln!(out, "{number} done: {0} of {0} steps", steps.len())?,
            // Said on stderr, with what can be done.
            (Ended::Early { .. }, _) => {}
        }
        return Ok(());
    }
    let (step, trouble) = match ended {
        Ended::Done => (None, None),
        Ended::Early { step, trouble } => (Some(step + 1), Some(trouble)),
    };
    let document = json!({
        "schema": "deevnet-console/change/v1", "change": number, "done": *ended == Ended::Done, "steps": steps,
        "stopped_at": step, "trouble": trouble,
    });
    print::document(out, &document, format)
}
