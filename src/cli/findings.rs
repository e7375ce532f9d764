//! A report on stdout: for people, or as a document.

use std::io::Write;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::args::Format;
use super::{Code, Failure, contract, print, verdict};
use crate::console::theme::Glyphs;
use crate::diagnose::Report;
use crate::diagnose::contract::{Judged, State};
use crate::diagnose::finding::{Finding, Severity};
use crate::inventory::Class;
use crate::text;

/// Prints `report`, and `clauses` of the tenant contract where they were judged, each of them or what they come to. The code
/// is 1 with a fault or a warning, 3 where something is unknown, a clause too, and nothing was found, else 0.
///
/// # Errors
/// When it cannot be written.
pub(super) fn show(
    out: &mut dyn Write,
    report: &Report,
    clauses: Option<&[Judged]>,
    whole: bool,
    at: Option<Timestamp>,
    format: Format,
) -> Result<Code, Failure> {
    let printed = match format {
        Format::Table => people(out, report).and_then(|()| contract::show(out, clauses.unwrap_or_default(), whole)),
        _ => print::document(out, &document(report, clauses, at), format),
    };
    verdict(printed, code(report, clauses))
}

/// `report` as a document, with `clauses` of the tenant contract where they were judged.
pub(super) fn document(report: &Report, clauses: Option<&[Judged]>, at: Option<Timestamp>) -> Value {
    let mut document = report.document(at);
    if let (Some(clauses), Some(map)) = (clauses, document.as_object_mut()) {
        map.insert("clauses".to_owned(), json!(clauses));
    }
    document
}

/// What a report comes to, and the `clauses` that were judged by it, as an exit code. What is not run here is no doubt.
pub(super) fn code(report: &Report, clauses: Option<&[Judged]>) -> Code {
    let is = |wanted: fn(&State) -> bool| clauses.unwrap_or_default().iter().any(|one| wanted(&one.state));
    match report.worst() {
        Some(Severity::Fault | Severity::Warning) => Code::Found,
        _ if is(|state| matches!(state, State::Broken { .. })) => Code::Found,
        _ if !report.unknown.is_empty() || is(|state| matches!(state, State::Unknown { .. })) => Code::Unknown,
        _ => Code::Ok,
    }
}

/// Glyph class of a severity.
pub(super) const fn class(severity: Severity) -> Class {
    match severity {
        Severity::Fault => Class::Fault,
        Severity::Warning => Class::Warning,
        Severity::Info => Class::Info,
    }
}

fn people(out: &mut dyn Write, report: &Report) -> Result<(), Failure> {
    let glyphs = print::glyphs();
    let mut line = |text: String| -> Result<(), Failure> {
        let text = if glyphs.ascii { text::to_ascii(&text).into_owned() } else { text };
        Ok(writeln!(out, "{}", text.trim_end())?)
    };
    for f in &report.findings {
        for text in lines(f, glyphs) {
            line(text)?;
        }
    }
    for u in &report.unknown {
        let why = u.why.as_ref().map(|w| format!(": {w}")).unwrap_or_default();
        let ids = if u.ids.is_empty() { String::new() } else { format!(" (not judged: {})", u.ids.join(", ")) };
        line(format!("{} unknown: {}{why}{ids}", glyphs.of(Class::Unknown), u.missing))?;
    }
    let (found, unknown) = (report.findings.len(), report.unknown.len());
    line(format!("{found} found · {} passed · {unknown} unknown", report.passed.len()))
}

/// A finding in lines; a consequence is indented under its cause.
fn lines(f: &Finding, glyphs: &Glyphs) -> Vec<String> {
    let indent = if f.caused_by.is_some() { "    " } else { "" };
    let mut out =
        vec![format!("{indent}{} {} · {} {}", glyphs.of(class(f.severity)), f.title, f.subject.kind, f.subject.name)];
    let mut under = |head: &str, text: String| out.push(format!("{indent}  {head:<11} {text}"));
    under("id", f.id.to_owned());
    if !f.affects.is_empty() {
        under("affects", f.affects.join(", "));
    }
    if let Some((id, subject)) = &f.caused_by {
        under("caused by", format!("{id} of {} {}", subject.kind, subject.name));
    }
    for fact in &f.facts {
        under("fact", format!("{} of {}: {}", fact.key, fact.subject, fact.value));
    }
    for text in &f.not_tested {
        under("not tested", text.clone());
    }
    for (n, next) in f.next.iter().enumerate() {
        under(&format!("next {}", n + 1), format!("{} (danger {})", next.text, next.danger));
        if let Some(command) = &next.command {
            under("", format!("$ {command}"));
        }
    }
    under("evidence", f.evidence.join(", "));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::contract::CLAUSES;

    #[test]
    fn a_clause_that_is_unknown_ends_as_unknown_and_one_that_is_not_run_does_not() {
        let report = Report { findings: Vec::new(), passed: Vec::new(), unknown: Vec::new() };
        let judged = |state| {
            let first = &CLAUSES[0];
            Judged { tenant: "tdemo".into(), clause: first.id, by: first.by, says: first.says, state, not_run: None }
        };
        let ends = |states: Vec<State>| code(&report, Some(&states.into_iter().map(judged).collect::<Vec<_>>()));
        let unknown = || State::Unknown { missing: vec!["the NAT rules".to_owned()] };
        assert_eq!(ends(vec![State::Kept, State::NotRun]), Code::Ok);
        assert_eq!(ends(vec![State::Kept, unknown()]), Code::Unknown);
        assert_eq!(ends(vec![unknown(), State::Broken { by: Vec::new() }]), Code::Found);
        assert_eq!(code(&report, None), Code::Ok);
    }
}
