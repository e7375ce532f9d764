//! A report on stdout: for people, or as a document.

use std::io::Write;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::args::Format;
use super::{Code, Failure, contract, print, verdict};
use crate::console::theme::Glyphs;
use crate::diagnose::Report;
use crate::diagnose::contract::{Judged, State};
use crate::diagnose::finding::{Finding, Layer, Severity, Unknown};
use crate::diagnose::report::{inputs, together};
use crate::inventory::Class;
use crate::text;

/// Most inputs that are told by name.
const FEW: usize = 3;

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
    let mut left: Vec<&Unknown> = report.unknown.iter().collect();
    let alone = report.findings.iter().filter(|f| f.severity > Severity::Info && f.caused_by.is_none()).count() == 1;
    for f in &report.findings {
        for text in lines(f, glyphs) {
            line(text)?;
        }
        let (under, others): (Vec<&Unknown>, Vec<&Unknown>) = left.into_iter().partition(|u| hides(f, alone, u));
        left = others;
        if !under.is_empty() {
            line(format!("  {:<11} {}", "unknown", many(&under)))?;
        }
    }
    for u in told_apart(&left) {
        line(format!("{} unknown: {u}", glyphs.of(Class::Unknown)))?;
    }
    let (found, unknown) = (report.findings.len(), report.unknown.len());
    line(format!("{found} found · {} passed · {unknown} unknown", report.passed.len()))
}

/// Whether `unknown` is unknown for what `finding` says, and is told by a count under it: nobody could ask, or be answered.
/// Where all of a source is silent, and that is the only cause, it is the reason of every input that gives no other.
fn hides(finding: &Finding, alone: bool, unknown: &Unknown) -> bool {
    const SILENT: [&str; 2] = ["source-unreachable", "exit-node-unreachable"];
    let silent = SILENT.contains(&finding.id);
    if finding.layer != Layer::Access && !silent {
        return false;
    }
    let own = !unknown.ids.is_empty() && unknown.ids.iter().all(|id| *id == finding.id);
    let same = unknown.why.as_ref().is_some_and(|why| finding.facts.iter().any(|fact| fact.value == *why));
    let bare = unknown.why.as_ref().is_none_or(|why| why == "no answer");
    own || same || silent && alone && bare
}

/// The first few of `unknown`, how many more there are, and where all of them are told.
fn many(unknown: &[&Unknown]) -> String {
    let whole = if unknown.len() > FEW { " (all of them: -o json)" } else { "" };
    format!("{}{whole}", inputs(unknown))
}

/// What is unknown, a line each; what has the same reason is one line.
fn told_apart(unknown: &[&Unknown]) -> Vec<String> {
    let line = |group: Vec<&Unknown>| {
        let why = group.first().and_then(|u| u.why.as_ref()).map(|w| format!(": {w}")).unwrap_or_default();
        let ids = match group.as_slice() {
            [one] if !one.ids.is_empty() => format!(" (not judged: {})", one.ids.join(", ")),
            _ => String::new(),
        };
        format!("{}{why}{ids}", many(&group))
    };
    together(unknown).into_iter().map(line).collect()
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
        let report = Report::default();
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

    fn unknown(missing: &str, why: Option<&str>, ids: &[&'static str]) -> Unknown {
        Unknown { missing: missing.to_owned(), why: why.map(str::to_owned), ids: ids.to_vec(), about: None }
    }

    fn printed(report: &Report) -> String {
        let mut out = Vec::new();
        people(&mut out, report).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_one_cause_hides_is_counted_under_it() {
        let finding = |id, layer, subject: &str, fact: &str| {
            crate::diagnose::finding::Finding {
                id,
                severity: Severity::Fault,
                layer,
                subject: crate::diagnose::finding::Subject::new("node", subject),
                affects: Vec::new(),
                title: format!("{id} of {subject}"),
                facts: Vec::new(),
                caused_by: None,
                not_tested: Vec::new(),
                next: Vec::new(),
                evidence: Vec::new(),
            }
            .fact("node.answer", subject, fact)
        };
        let refused = "ssh: Connection refused";
        let of_node: Vec<Unknown> =
            (0..5).map(|n| unknown(&format!("table {n}"), Some(refused), &["vrf-default-missing"])).collect();
        let mut report = Report { passed: Vec::new(), unknown: of_node, ..Report::default() };
        report.unknown.push(unknown("the forward chain", None, &["forward-policy-drop"]));
        let once = |text: &str| {
            text.matches(refused).count() == 1 && text.contains("5 inputs: table 0, table 1, table 2 and 2 more")
        };
        let bare = printed(&report);
        assert!(
            once(&bare) && bare.contains("? unknown: the forward chain (not judged: forward-policy-drop)"),
            "{bare}"
        );
        report.findings = vec![finding("exit-node-unreachable", Layer::Egress, "hv02", refused)];
        let under = printed(&report);
        assert!(under.contains("unknown     6 inputs: table 0") && !under.contains("? unknown"), "{under}");
        // Beside another cause what gives no reason may be its.
        report.findings.push(finding("snat-missing", Layer::Egress, "eds", "none"));
        let beside = printed(&report);
        assert!(beside.contains("unknown     5 inputs") && beside.contains("? unknown: the forward chain"), "{beside}");
        report.findings.remove(0);
        assert!(printed(&report).contains("? unknown: 5 inputs"), "a fault of routes hides nothing");
    }
}
