//! What was found as Markdown, for a ticket.

use std::fmt::Write as _;

use super::{Inquiry, result, seen, severity};
use crate::console::resolve::said;
use crate::console::theme::Glyphs;
use crate::diagnose::finding::Finding;

fn cell(text: &str) -> String {
    crate::text::clean(text).replace('|', "\\|")
}

/// What `inquiry` found: the path, the findings, what is unknown; `None` where nothing came.
#[must_use]
pub fn markdown(inquiry: &Inquiry, glyphs: &Glyphs) -> Option<String> {
    let (found, diagnosis) = (inquiry.found()?, inquiry.diagnosis()?);
    let mut out = format!("**{}**, {}\n", inquiry.name(), found.at.strftime("%Y-%m-%d %H:%M:%SZ"));
    let legs = inquiry.legs();
    if !legs.is_empty() {
        out.push_str("\n| | leg | where | result | what was seen |\n| --- | --- | --- | --- | --- |\n");
    }
    for row in &legs {
        let (n, leg, state) = (row.number, row.leg, said(&result(row.state), glyphs));
        // Writing to a string cannot fail.
        let _ = writeln!(out, "| {n} | {} | {} | {state} | {} |", leg.name, leg.place, cell(&seen(row)));
    }
    for finding in inquiry.findings() {
        out.push('\n');
        out.push_str(&of_finding(finding, glyphs));
    }
    for of_tenant in diagnosis.clauses.chunk_by(|a, b| a.tenant == b.tenant) {
        let _ = writeln!(out, "\n**{}**\n", super::contract(of_tenant).1);
        for one in of_tenant {
            let (class, why) = super::clause(one);
            let why = if why.is_empty() { why } else { format!(" ({})", cell(&why)) };
            let _ = writeln!(out, "- {} {} {}{why}", glyphs.of(class), one.clause, one.says);
        }
    }
    if !diagnosis.report.unknown.is_empty() {
        out.push('\n');
    }
    for unknown in &diagnosis.report.unknown {
        let why = unknown.why.as_ref().map_or_else(String::new, |why| format!(": {}", crate::text::clean(why)));
        let _ = writeln!(out, "- unknown: {}{why}", unknown.missing);
    }
    if diagnosis.others > 0 {
        let _ = writeln!(out, "\nLeft out: {} about other tenants.", diagnosis.others);
    }
    Some(out)
}

/// One finding as a list.
#[must_use]
pub fn of_finding(f: &Finding, glyphs: &Glyphs) -> String {
    let mut out = format!("**{} {}** ({})\n\n", glyphs.of(severity(f.severity)), f.title, f.id);
    let mut line = |head: &str, text: &str| {
        let _ = writeln!(out, "- {head}: {text}");
    };
    if !f.affects.is_empty() {
        line("affects", &f.affects.join(", "));
    }
    if let Some((id, subject)) = &f.caused_by {
        line("caused by", &format!("{id} of {} {}", subject.kind, subject.name));
    }
    for fact in &f.facts {
        line("fact", &format!("{} of {}: `{}`", fact.key, fact.subject, fact.value));
    }
    for text in &f.not_tested {
        line("not tested", text);
    }
    for next in &f.next {
        let command = next.command.as_ref().map_or_else(String::new, |command| format!(" `{command}`"));
        line("next", &format!("{} (danger {}){command}", next.text, next.danger));
    }
    line("evidence", &f.evidence.join(", "));
    out
}
