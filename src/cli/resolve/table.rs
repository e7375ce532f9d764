//! The table: vantage points side by side, or below 110 columns as rows.

use std::io::Write;

use crate::backends::dns::Answer;
use crate::cli::Failure;
use crate::cli::print::glyphs;
use crate::console::theme::Glyphs;
use crate::diagnose::resolve::{Column, ControlOutcome, Expected, Outcome, Resolution, State, Vantage, observed};
use crate::inventory::Class;
use crate::text::{self, Charset, Cut};

/// From this width on the vantage points stand side by side.
const WIDE: usize = 110;
/// Width where stdout is no terminal and says none.
const ELSEWHERE: usize = 120;
/// Width of the names of the rows.
const LABEL: usize = 11;
/// Between two columns.
const GAP: usize = 2;
/// The same where five vantage points share the width.
const TIGHT: usize = 1;

/// Columns of the terminal on stdout, of `COLUMNS`, or 120.
pub(in crate::cli) fn width_of_stdout() -> usize {
    let terminal = rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| usize::from(size.ws_col));
    let told = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal.or_else(told).filter(|width| *width > 0).unwrap_or(ELSEWHERE)
}

/// Prints `found` for a terminal `width` wide.
pub(super) fn print(out: &mut dyn Write, found: &Resolution, states: &[State], width: usize) -> Result<(), Failure> {
    let glyphs = glyphs();
    let mut page = String::new();
    page.push_str(&format!("{} {} · asked {}\n", found.target.name, found.target.kind, found.at.strftime("%H:%M:%SZ")));
    page.push_str(&if width < WIDE { turned(found, states, glyphs) } else { wide(found, states, glyphs, width) });
    page.push_str(&reasons(found));
    let page = if glyphs.ascii { text::to_ascii(&page).into_owned() } else { page };
    out.write_all(page.as_bytes())?;
    Ok(())
}

fn title(found: &Resolution, vantage: Vantage) -> String {
    match vantage {
        Vantage::Authoritative => "AUTHORITATIVE".to_owned(),
        Vantage::Perimeter => "PERIMETER".to_owned(),
        Vantage::Substrate => "SUBSTRATE".to_owned(),
        Vantage::Vrf => {
            let how = found.columns.iter().find(|c| c.vantage == Vantage::Vrf).map_or("", |c| c.how.as_str());
            how.split_once("in ").map_or_else(|| "FROM VRF".to_owned(), |(_, vrf)| format!("FROM {vrf}"))
        }
        Vantage::Host => "THIS HOST".to_owned(),
    }
}

/// `✓ as expected` and its like.
fn state(state: State, glyphs: &Glyphs) -> String {
    let class = match state {
        State::AsExpected | State::Same => Class::Fine,
        State::Differs => Class::Differs,
        State::Unknown => Class::Unknown,
        State::NotCompared => return "–".to_owned(),
    };
    format!("{} {}", glyphs.of(class), state.word())
}

fn answer(column: &Column) -> Option<&Answer> {
    match &column.outcome {
        Outcome::Answered(answer) => Some(answer),
        _ => None,
    }
}

/// `NOERROR aa`; the word for what there is instead.
fn code(column: &Column) -> String {
    match &column.outcome {
        Outcome::Answered(answer) => {
            let aa = answer.flags.is_some_and(|flags| flags.aa);
            format!("{}{}", answer.rcode, if aa { " aa" } else { "" })
        }
        Outcome::Failed { .. } => "no answer".to_owned(),
        Outcome::Denied { .. } => "denied".to_owned(),
        Outcome::NotAsked { .. } => "not asked".to_owned(),
    }
}

fn values(found: &Resolution, column: &Column) -> Vec<String> {
    let Some(answer) = answer(column) else { return vec!["–".to_owned()] };
    let values = observed(answer, found.target.kind);
    if values.is_empty() { vec!["– none".to_owned()] } else { values }
}

fn expected_values(found: &Resolution) -> Vec<String> {
    match &found.expected {
        Expected::Values { values, .. } => values.clone(),
        Expected::Nothing { .. } => vec!["– nothing".to_owned()],
        Expected::Unknown { .. } => vec!["? unknown".to_owned()],
    }
}

fn because(found: &Resolution) -> String {
    match &found.expected {
        Expected::Values { because, .. } => because.clone(),
        Expected::Nothing { .. } | Expected::Unknown { .. } => "–".to_owned(),
    }
}

fn ttl(found: &Resolution, column: &Column) -> String {
    let records = answer(column).map(|answer| answer.answers.as_slice()).unwrap_or_default();
    let ttl = records.iter().filter(|r| r.kind == found.target.kind).map(|r| r.ttl).min();
    ttl.map_or_else(|| "–".to_owned(), |ttl| ttl.to_string())
}

/// The SOA that dates a negative answer.
fn authority(column: &Column) -> String {
    let Some(answer) = answer(column) else { return "–".to_owned() };
    match answer.soa() {
        Some((_, soa)) => format!("SOA {}", soa.serial),
        None => "–".to_owned(),
    }
}

fn reached(column: &Column, glyphs: &Glyphs) -> String {
    match &column.outcome {
        Outcome::Answered(answer) => format!("{} {} ms", glyphs.of(Class::Fine), answer.took.as_millis()),
        Outcome::Failed { .. } => format!("{} no answer", glyphs.of(Class::Unknown)),
        Outcome::Denied { .. } => format!("{} denied", glyphs.of(Class::Unknown)),
        Outcome::NotAsked { .. } => "–".to_owned(),
    }
}

fn control(outcome: Option<&ControlOutcome>, glyphs: &Glyphs) -> String {
    match outcome {
        Some(ControlOutcome::Answers(values)) => {
            format!("{} {}", glyphs.of(Class::Fine), values.first().map_or("", String::as_str))
        }
        Some(ControlOutcome::Empty(rcode)) => format!("{} {rcode}, none", glyphs.of(Class::Differs)),
        Some(ControlOutcome::Failed(_)) => format!("{} no answer", glyphs.of(Class::Unknown)),
        Some(ControlOutcome::NotAsked(why)) => format!("– {why}"),
        None => "–".to_owned(),
    }
}

/// Whom a column asks, without what its title and [`how`] say.
fn address(column: &Column) -> String {
    let end = [" via ", " (system)"].iter().filter_map(|tail| column.asked.find(tail)).min();
    column.asked.get(..end.unwrap_or(column.asked.len())).unwrap_or_default().to_owned()
}

/// How a column asks; from a VRF, through which node.
fn how(column: &Column) -> String {
    let via = column.asked.split_once(" via ").map(|(_, node)| format!("in VRF via {node}"));
    via.unwrap_or_else(|| column.how.clone())
}

/// A line of `wide`: its name, what is expected, each vantage point.
type Row = (String, String, Vec<String>);

fn wide(found: &Resolution, states: &[State], glyphs: &Glyphs, width: usize) -> String {
    let each = |cell: &dyn Fn(&Column) -> String| found.columns.iter().map(cell).collect::<Vec<_>>();
    let dash = || "–".to_owned();
    let titles = found.columns.iter().map(|c| title(found, c.vantage)).collect();
    let mut rows: Vec<Row> = vec![
        (String::new(), "EXPECTED".to_owned(), titles),
        ("asked".to_owned(), "derived".to_owned(), each(&address)),
        ("how".to_owned(), because(found), each(&how)),
        ("reached".to_owned(), dash(), each(&|c| reached(c, glyphs))),
        ("code".to_owned(), dash(), each(&code)),
    ];
    let answers: Vec<Vec<String>> = found.columns.iter().map(|c| values(found, c)).collect();
    let derived = expected_values(found);
    let height = answers.iter().map(Vec::len).chain([derived.len()]).max().unwrap_or(1);
    for line in 0..height {
        let label = if line == 0 { format!("answer {}", found.target.kind) } else { String::new() };
        let at = |values: &Vec<String>| values.get(line).cloned().unwrap_or_default();
        rows.push((label, at(&derived), answers.iter().map(at).collect()));
    }
    rows.push(("TTL".to_owned(), dash(), each(&|c| ttl(found, c))));
    rows.push(("authority".to_owned(), dash(), each(&authority)));
    rows.push(("state".to_owned(), String::new(), states.iter().map(|s| state(*s, glyphs)).collect()));
    for (n, asked) in found.controls.iter().enumerate() {
        let label = format!("{} {}", asked.what, asked.kind);
        rows.push((label, asked.name.to_string(), each(&|c| control(c.controls.get(n), glyphs))));
    }
    let count = found.columns.len() + 1;
    let cell = width.saturating_sub(LABEL) / count.max(1);
    let charset = if glyphs.ascii { Charset::Ascii } else { Charset::Unicode };
    let mut page = String::new();
    for (label, derived, cells) in rows {
        let mut line = text::pad(&label, LABEL, charset).into_owned();
        for value in std::iter::once(&derived).chain(&cells) {
            let value = if value.is_empty() && label == "asked" { "–" } else { value.as_str() };
            let kept = text::cut(value, cell.saturating_sub(TIGHT), Cut::Middle, charset);
            line.push_str(&text::pad(&kept, cell, charset));
        }
        page.push_str(line.trim_end());
        page.push('\n');
    }
    page
}

fn turned(found: &Resolution, states: &[State], glyphs: &Glyphs) -> String {
    let head = ["VANTAGE", "ASKED", "CODE", "ANSWER", "TTL", "STATE"].map(str::to_owned).to_vec();
    let derived = ["EXPECTED".to_owned(), "derived".to_owned(), "–".to_owned(), expected_values(found).join(", ")];
    let mut rows = vec![head, derived.into_iter().chain(["–".to_owned(), String::new()]).collect()];
    for (column, of) in found.columns.iter().zip(states) {
        let asked = if column.asked.is_empty() { "–".to_owned() } else { column.asked.clone() };
        let answers = values(found, column).join(", ");
        let name = title(found, column.vantage);
        rows.push(vec![name, asked, code(column), answers, ttl(found, column), state(*of, glyphs)]);
    }
    let mut page = aligned(&rows);
    for (n, asked) in found.controls.iter().enumerate() {
        page.push_str(&format!("{} {} {}\n", asked.what, asked.name, asked.kind));
        let rows: Vec<Vec<String>> = found
            .columns
            .iter()
            .map(|c| vec![format!("  {}", title(found, c.vantage)), control(c.controls.get(n), glyphs)])
            .collect();
        page.push_str(&aligned(&rows));
    }
    page
}

fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |n: usize| rows.iter().filter_map(|row| row.get(n)).map(|cell| text::width(cell)).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut page = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| {
            let space = width.saturating_sub(text::width(cell)) + GAP;
            format!("{cell}{}", " ".repeat(space))
        });
        page.push_str(cells.collect::<String>().trim_end());
        page.push('\n');
    }
    page
}

/// Why a vantage point said nothing, with the remedy; what the servers said beside their answers.
fn reasons(found: &Resolution) -> String {
    let mut lines = Vec::new();
    match &found.expected {
        Expected::Nothing { why } => lines.push(format!("expected: nothing is derived: {why}")),
        Expected::Unknown { why } => lines.push(format!("expected: unknown: {why}")),
        Expected::Values { .. } => {}
    }
    for column in &found.columns {
        let name = column.vantage.word();
        match &column.outcome {
            Outcome::Failed { why, help } | Outcome::Denied { why, help } => {
                lines.push(format!("{name}: {why}\n  help: {help}"));
            }
            Outcome::NotAsked { why, .. } => lines.push(format!("{name}: not asked: {why}")),
            Outcome::Answered(answer) => {
                let said = answer.extended.iter().map(|e| format!("{name}: extended error {} {}", e.code, e.text));
                lines.extend(said.map(|line| line.trim_end().to_owned()));
                if !answer.strays.is_empty() {
                    lines.push(format!("{name}: ignored answers: {}", answer.strays.words()));
                }
            }
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}
