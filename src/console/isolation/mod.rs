//! Isolation on screen: the table of the last check, its cursor, and what was pasted.

mod paste;
mod words;

use std::sync::Arc;

pub use paste::{Paste, of_path, open, subject, take, unpaste};
pub use words::{class, commands, counts, pasted_by, said, second, sentence, sheet, short_names, third};

use super::commands::Step;
use super::model::{Model, Screen};
use super::msg::Effect;
use super::{findings, nav};
use crate::diagnose::Diagnosis;
use crate::diagnose::collect::Check;
use crate::diagnose::evidence::Item;
use crate::diagnose::rules::matrix::{About, Config, Matrix, Traffic, markdown};

/// A cell by the names of its row and its column.
pub type At = (Arc<str>, Arc<str>);

/// What the console knows of isolation.
#[derive(Debug, Clone, Default)]
pub struct Isolation {
    /// The check that the table is of.
    pub id: u64,
    /// The table.
    pub matrix: Option<Arc<Matrix>>,
    /// The newest table of any check: of it only the legs of paths are used.
    pub paths: Option<Arc<Matrix>>,
    /// What was pasted, oldest first.
    pub pasted: Arc<[Item]>,
    /// How many were ever pasted.
    pub count: usize,
    /// Who sits here.
    pub operator: String,
}

/// Takes in the table of a check, before its report comes.
pub fn came(model: &mut Model, id: u64, matrix: Arc<Matrix>) {
    let Some(inquiry) = model.inquiry.as_ref().filter(|inquiry| inquiry.id == id) else { return };
    if matches!(inquiry.check, Check::Isolation | Check::All) {
        (model.isolation.id, model.isolation.matrix) = (id, Some(Arc::clone(&matrix)));
        pin(model);
    }
    model.isolation.paths = Some(matrix);
}

/// Holds the cursor on its cell: a later table never moves it.
fn pin(model: &mut Model) {
    let Some(matrix) = model.isolation.matrix.clone() else { return };
    let first = matrix.worst().or_else(|| matrix.iter().next().map(|(row, column, _)| (row, column)));
    let name = first.and_then(|first| name_of(&matrix, first));
    for screen in &mut model.stack {
        if let Screen::Isolation { at: at @ None } = screen {
            at.clone_from(&name);
        }
    }
}

/// Takes in what an earlier check comes to together with what was pasted since.
pub fn judged(model: &mut Model, id: u64, diagnosis: Arc<Diagnosis>, matrix: Arc<Matrix>) {
    if findings::judged(model, id, diagnosis) {
        model.isolation.paths = Some(Arc::clone(&matrix));
    }
    if model.isolation.id == id && model.isolation.matrix.is_some() {
        model.isolation.matrix = Some(matrix);
    }
}

/// The screen, on the cell that matters most.
#[must_use]
pub const fn screen() -> Screen {
    Screen::Isolation { at: None }
}

/// Shows the table; where there is none it is asked for.
pub fn show(model: &mut Model) -> Vec<Effect> {
    let open = model.inquiry.as_ref().is_some_and(|i| i.is_open() && i.check == Check::Isolation);
    if model.isolation.matrix.is_none() && !open {
        return findings::ask(model, Check::Isolation, None);
    }
    if !matches!(model.screen(), Screen::Isolation { .. }) {
        nav::push(model, screen());
        pin(model);
    }
    Vec::new()
}

/// Reads the table again, of whom it was read before.
pub fn again(model: &mut Model) -> Vec<Effect> {
    let last = model.inquiry.as_ref().filter(|inquiry| inquiry.check == Check::Isolation);
    let tenant = last.and_then(|inquiry| inquiry.tenant.clone());
    findings::ask(model, Check::Isolation, tenant)
}

/// Shows what the check behind the table found beside it.
pub fn findings(model: &mut Model) {
    if model.inquiry.as_ref().is_some_and(|inquiry| inquiry.id == model.isolation.id) {
        nav::push(model, Screen::diagnose());
    }
}

/// The table of the last check; `None` before there is one.
#[must_use]
pub fn matrix(model: &Model) -> Option<&Matrix> {
    model.isolation.matrix.as_deref()
}

/// Row and column of the cell under the cursor.
#[must_use]
pub fn cursor(model: &Model) -> Option<(usize, usize)> {
    let matrix = matrix(model)?;
    let at = match model.screen() {
        Screen::Isolation { at } => at.as_ref(),
        Screen::Cell { at, .. } => Some(at),
        _ => return None,
    };
    let named = at.and_then(|(from, to)| {
        let row = matrix.senders.iter().position(|sender| *sender.name == **from)?;
        let column = matrix.targets.iter().position(|target| *target.name == **to)?;
        Some((row, column))
    });
    named.or_else(|| matrix.worst()).or_else(|| matrix.iter().next().map(|(row, column, _)| (row, column)))
}

fn name_of(matrix: &Matrix, (row, column): (usize, usize)) -> Option<At> {
    let (from, to) = (matrix.senders.get(row)?, matrix.targets.get(column)?);
    Some((Arc::from(from.name.as_str()), Arc::from(to.name.as_str())))
}

fn put(model: &mut Model, to: (usize, usize)) {
    let Some(name) = matrix(model).and_then(|matrix| name_of(matrix, to)) else { return };
    if let Some(Screen::Isolation { at }) = model.stack.last_mut() {
        *at = Some(name);
    }
}

/// Rows on screen at a time, for paging.
const PAGE: usize = 8;

/// Moves the cursor by rows.
pub fn go(model: &mut Model, step: Step) {
    let Some((row, column)) = cursor(model) else { return };
    let rows = matrix(model).map_or(0, |matrix| matrix.senders.len());
    put(model, (step.from(row, rows, PAGE), column));
}

/// Moves the cursor by columns.
pub fn turn(model: &mut Model, by: isize) {
    let Some((row, column)) = cursor(model) else { return };
    let columns = matrix(model).map_or(0, |matrix| matrix.targets.len());
    put(model, (row, Step::By(by).from(column, columns, 1)));
}

/// Goes to the next or the previous cell that is not as it ought to be; whether there is one.
pub fn next(model: &mut Model, forwards: bool) -> bool {
    let (Some(at), Some(matrix)) = (cursor(model), matrix(model)) else { return false };
    let bad = matrix.iter().filter(|(.., cell)| {
        cell.config != Config::Blocked || matches!(cell.traffic, Traffic::Open { .. } | Traffic::Contradictory { .. })
    });
    let bad: Vec<(usize, usize)> = bad.map(|(row, column, _)| (row, column)).collect();
    let to = if forwards {
        bad.iter().find(|cell| **cell > at).or_else(|| bad.first())
    } else {
        bad.iter().rev().find(|cell| **cell < at).or_else(|| bad.last())
    };
    let Some(to) = to.copied() else { return false };
    put(model, to);
    true
}

/// Shows everything about the cell under the cursor.
pub fn describe(model: &mut Model) {
    let at = matrix(model).zip(cursor(model)).filter(|(matrix, (row, column))| matrix.cell(*row, *column).is_some());
    if let Some(at) = at.and_then(|(matrix, at)| name_of(matrix, at)) {
        nav::push(model, Screen::Cell { at, scroll: 0 });
    }
}

/// What `copy` takes: the table for a change record, or the commands of one cell.
#[must_use]
pub fn text(model: &Model) -> Option<String> {
    let matrix = matrix(model)?;
    if let Screen::Cell { .. } = model.screen() {
        let (row, column) = cursor(model)?;
        return Some(commands(&matrix.legs(row, column)));
    }
    let operator = if model.isolation.operator.is_empty() { "unknown" } else { &model.isolation.operator };
    let about = About {
        site: model.site_name.clone(),
        by: operator.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        cause: None,
    };
    Some(markdown(matrix, &about))
}
