//! A finding in full, and what was found as JSON.

use super::{selected, severity};
use crate::console::describe::TextLine;
use crate::console::model::{Model, Screen};
use crate::diagnose::finding::Finding;

/// The lines of the screen of one finding.
#[must_use]
pub fn sheet(model: &Model) -> Vec<TextLine> {
    let Screen::Finding { key, json, .. } = model.screen() else { return Vec::new() };
    let finding = selected(model);
    if *json {
        let diagnosis = model.inquiry.as_ref().and_then(|i| i.diagnosis());
        let whole = || {
            let mut document = diagnosis?.report.document(diagnosis?.evidence.at());
            let clauses = &diagnosis?.clauses;
            if let Some(map) = document.as_object_mut().filter(|_| !clauses.is_empty()) {
                map.insert("clauses".to_owned(), serde_json::json!(clauses));
            }
            Some(document)
        };
        let value = if key.is_some() { finding.map(Finding::document) } else { whole() };
        let text = value.and_then(|v| serde_json::to_string_pretty(&v).ok()).unwrap_or_default();
        return text.lines().map(|line| TextLine::Plain(line.to_owned())).collect();
    }
    match finding {
        Some(finding) => lines(finding),
        None => vec![TextLine::Plain("It was not found any more.".to_owned())],
    }
}

fn pair(label: &str, value: impl Into<String>) -> TextLine {
    TextLine::Pair { label: label.to_owned(), value: value.into(), class: None }
}

fn lines(f: &Finding) -> Vec<TextLine> {
    let head = |text: &str| TextLine::Head(text.to_owned());
    let mut out = vec![
        TextLine::Head(f.title.clone()),
        TextLine::Pair { label: "id".into(), value: f.id.to_owned(), class: Some(severity(f.severity)) },
        pair("about", format!("{} {}", f.subject.kind, f.subject.name)),
    ];
    if !f.affects.is_empty() {
        out.push(pair("affects", f.affects.join(", ")));
    }
    if let Some((id, subject)) = &f.caused_by {
        out.push(pair("caused by", format!("{id} of {} {}", subject.kind, subject.name)));
    }
    out.push(head("Facts"));
    out.extend(f.facts.iter().map(|fact| pair(fact.key, format!("{} · {}", fact.value, fact.subject))));
    if !f.not_tested.is_empty() {
        out.push(head("Not tested"));
        out.extend(f.not_tested.iter().map(|text| TextLine::Plain(format!("  {text}"))));
    }
    if !f.next.is_empty() {
        out.push(head("Next"));
    }
    for (n, next) in (1..).zip(&f.next) {
        out.push(pair(&format!("{n}  danger {}", next.danger), next.text.clone()));
        out.extend(next.command.iter().map(|command| pair("", format!("$ {command}"))));
    }
    if !f.evidence.is_empty() {
        out.push(head("Evidence"));
        out.extend(f.evidence.iter().map(|file| TextLine::Plain(format!("  {file}"))));
    }
    out
}
