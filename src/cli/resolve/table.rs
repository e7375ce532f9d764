//! The table: vantage points side by side, or below 110 columns as rows.

use std::io::Write;

use crate::cli::Failure;
use crate::cli::print::glyphs;
use crate::console::resolve::{
    Reason, code, control, expected_values, lines, reasons, said, state, title, ttl, values,
};
use crate::console::theme::Glyphs;
use crate::diagnose::resolve::Gathering;
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
pub(super) fn print(out: &mut dyn Write, found: &Gathering, width: usize) -> Result<(), Failure> {
    let glyphs = glyphs();
    let mut page = String::new();
    page.push_str(&format!("{} {} · asked {}\n", found.target.name, found.target.kind, found.at.strftime("%H:%M:%SZ")));
    page.push_str(&if width < WIDE { turned(found, glyphs) } else { wide(found, glyphs, width) });
    for Reason { who, why, help } in reasons(found) {
        page.push_str(&format!("{who}: {why}\n"));
        page.extend(help.map(|help| format!("  help: {help}\n")));
    }
    let page = if glyphs.ascii { text::to_ascii(&page).into_owned() } else { page };
    out.write_all(page.as_bytes())?;
    Ok(())
}

fn wide(found: &Gathering, glyphs: &Glyphs, width: usize) -> String {
    let count = found.columns().count() + 1;
    let cell = width.saturating_sub(LABEL) / count.max(1);
    let charset = if glyphs.ascii { Charset::Ascii } else { Charset::Unicode };
    let mut page = String::new();
    for line in lines(found, found.at) {
        let mut text = text::pad(&line.label, LABEL, charset).into_owned();
        for value in std::iter::once(&line.derived).chain(&line.cells) {
            let kept = text::cut(&said(value, glyphs), cell.saturating_sub(TIGHT), Cut::Middle, charset).into_owned();
            text.push_str(&text::pad(&kept, cell, charset));
        }
        page.push_str(text.trim_end());
        page.push('\n');
    }
    page
}

fn turned(found: &Gathering, glyphs: &Glyphs) -> String {
    let head = ["VANTAGE", "ASKED", "CODE", "ANSWER", "TTL", "STATE"].map(str::to_owned).to_vec();
    let derived = found.expected.as_ref().map(expected_values).unwrap_or_default().join(", ");
    let derived = ["EXPECTED".to_owned(), "derived".to_owned(), "–".to_owned(), derived];
    let mut rows = vec![head, derived.into_iter().chain(["–".to_owned(), String::new()]).collect()];
    let (states, _) = found.judge();
    for ((vantage, column), of) in found.columns().zip(states) {
        let Some(column) = column else { continue };
        let asked = if column.asked.is_empty() { "–".to_owned() } else { column.asked.clone() };
        let answers = values(found.target.kind, column).join(", ");
        let state = of.map_or_else(String::new, |of| said(&state(of), glyphs));
        rows.push(vec![
            title(vantage, Some(column)),
            asked,
            code(column),
            answers,
            ttl(found.target.kind, column),
            state,
        ]);
    }
    let mut page = aligned(&rows);
    for (n, asked) in found.controls.iter().enumerate() {
        page.push_str(&format!("{} {} {}\n", asked.what, asked.name, asked.kind));
        let row = |c: &crate::diagnose::resolve::Column| {
            vec![format!("  {}", title(c.vantage, Some(c))), said(&control(c.controls.get(n)), glyphs)]
        };
        page.push_str(&aligned(&found.heard().map(row).collect::<Vec<_>>()));
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
