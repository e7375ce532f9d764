//! The comparison as Markdown, for a ticket.

use std::fmt::Write as _;

use super::words::{self, address, authority, code, expected_values, how, said, title, ttl, values};
use crate::console::list::Cell;
use crate::console::theme::Glyphs;
use crate::diagnose::resolve::{Column, Gathering};

/// `found` as Markdown: a row for each vantage point, the controls, and why one said nothing.
#[must_use]
pub fn markdown(found: &Gathering, glyphs: &Glyphs) -> String {
    let row = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| crate::text::clean(cell).replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let head = |titles: &[String]| format!("{}|{}\n", row(titles), " --- |".repeat(titles.len()));
    let mut out = format!(
        "**{} {}**, asked {}\n\n",
        found.target.name,
        found.target.kind,
        found.at.strftime("%Y-%m-%d %H:%M:%SZ")
    );
    out.push_str(&head(
        &["vantage", "asked", "how", "code", "answer", "TTL", "SOA", "took", "state"].map(str::to_owned),
    ));
    let derived = found.expected.as_ref().map(expected_values).unwrap_or_default().join(", ");
    out.push_str(&row(&["EXPECTED", "derived", "", "", &derived, "", "", "", ""].map(str::to_owned)));
    let (states, _) = found.judge();
    for ((vantage, column), state) in found.columns().zip(states) {
        let of = |cell: &dyn Fn(&Column) -> String| column.map_or_else(String::new, cell);
        let kind = found.target.kind;
        out.push_str(&row(&[
            title(vantage, column),
            of(&address),
            of(&how),
            column.map_or_else(|| "not answered yet".to_owned(), code),
            of(&|c| values(kind, c).join(", ")),
            of(&|c| ttl(kind, c)),
            of(&|c| authority(c).trim_start_matches("SOA ").to_owned()),
            of(&|c| words::reached(c).text),
            state.map_or_else(String::new, |s| said(&words::state(s), glyphs)),
        ]));
    }
    out.push_str(&controls(found, glyphs, &head, &row));
    for words::Reason { who, why, help } in words::reasons(found) {
        let help = help.map_or_else(String::new, |help| format!(" ({help})"));
        let _ = write!(out, "\n- {who}: {}{}", crate::text::clean(&why), crate::text::clean(&help));
    }
    out.push('\n');
    out
}

/// A way to write a row of a table.
type Row<'a> = &'a dyn Fn(&[String]) -> String;

fn controls(found: &Gathering, glyphs: &Glyphs, head: Row<'_>, row: Row<'_>) -> String {
    if found.controls.is_empty() {
        return String::new();
    }
    let titles = found.columns().map(|(vantage, column)| title(vantage, column));
    let mut out = format!("\n{}", head(&std::iter::once("control".to_owned()).chain(titles).collect::<Vec<_>>()));
    for (n, asked) in found.controls.iter().enumerate() {
        let cell =
            |column: Option<&Column>| column.map_or_else(|| Cell::text(""), |c| words::control(c.controls.get(n)));
        let cells = found.columns().map(|(_, column)| said(&cell(column), glyphs));
        out.push_str(&row(&std::iter::once(format!("{} {}", asked.name, asked.kind)).chain(cells).collect::<Vec<_>>()));
    }
    out
}
