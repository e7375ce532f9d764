//! The comparison, line by line: what is derived, then each vantage point.

use jiff::Timestamp;

use super::words::{
    self, NOTHING, address, authority, code, control, expected_values, flags, how, reached, title, ttl, values,
};
use crate::console::list::Cell;
use crate::diagnose::resolve::{Column, Expected, Gathering};
use crate::inventory::Class;

/// Label of the first line with values.
pub const ANSWER: &str = "answer";

/// A line of the comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Name.
    pub label: String,
    /// What is derived.
    pub derived: Cell,
    /// The vantage points, in their order.
    pub cells: Vec<Cell>,
}

/// All lines of `found`. What has not come yet says since when it is awaited; `now` is not read otherwise.
#[must_use]
pub fn lines(found: &Gathering, now: Timestamp) -> Vec<Line> {
    let kind = found.target.kind;
    let each = |cell: &dyn Fn(&Column) -> Cell| -> Vec<Cell> {
        found.columns().map(|(_, column)| column.map_or_else(|| Cell::text(""), cell)).collect()
    };
    let plain = |text: &dyn Fn(&Column) -> String| each(&|column| Cell::text(text(column)));
    let line =
        |label: &str, derived: &str, cells| Line { label: label.to_owned(), derived: Cell::text(derived), cells };
    let titles = found.columns().map(|(vantage, column)| Cell::text(title(vantage, column))).collect();
    let waiting = Cell::state(Class::Progress, format!("{}s", now.duration_since(found.at).as_secs().max(0)));
    let reached = found.columns().map(|(_, column)| column.map_or_else(|| waiting.clone(), reached)).collect();
    let because = match &found.expected {
        None => waiting.clone(),
        Some(Expected::Values { because, .. }) => Cell::text(because.clone()),
        Some(Expected::Nothing { .. } | Expected::Unknown { .. }) => Cell::text(NOTHING),
    };
    let mut out = vec![
        line("", "EXPECTED", titles),
        line("asked", "derived", plain(&address)),
        Line { derived: because, ..line("how", "", plain(&how)) },
        line("reached", NOTHING, reached),
        line("code", NOTHING, plain(&code)),
    ];
    out.extend(answers(found));
    out.push(line("TTL", NOTHING, plain(&|c| ttl(kind, c))));
    out.push(line("flags", NOTHING, plain(&flags)));
    out.push(line("authority", NOTHING, plain(&authority)));
    let (states, _) = found.judge();
    out.push(line("state", "", states.iter().map(|s| s.map_or_else(|| Cell::text(""), words::state)).collect()));
    for (n, asked) in found.controls.iter().enumerate() {
        let cells = each(&|c| control(c.controls.get(n)));
        out.push(line(&format!("{} {}", asked.what, asked.kind), &asked.name.to_string(), cells));
    }
    out
}

/// As many lines as the longest answer has values.
fn answers(found: &Gathering) -> Vec<Line> {
    let kind = found.target.kind;
    let values: Vec<Vec<String>> =
        found.columns().map(|(_, column)| column.map_or_else(Vec::new, |c| values(kind, c))).collect();
    let derived = found.expected.as_ref().map(expected_values).unwrap_or_default();
    let height = values.iter().map(Vec::len).chain([derived.len(), 1]).max().unwrap_or(1);
    let at = |values: &Vec<String>, n| Cell::text(values.get(n).cloned().unwrap_or_default());
    let label = |n| if n == 0 { ANSWER } else { "" };
    let line = |n| Line {
        label: label(n).to_owned(),
        derived: at(&derived, n),
        cells: values.iter().map(|v| at(v, n)).collect(),
    };
    (0..height).map(line).collect()
}
