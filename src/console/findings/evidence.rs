//! What was read for a leg or a finding, as text: the values first, then each item with where, when and how it was read.

use serde_json::Value;

use super::{Inquiry, finding_at, result, seen};
use crate::console::model::Spot;
use crate::console::resolve::said;
use crate::console::theme::Glyphs;
use crate::console::widgets::format::plural;
use crate::diagnose::evidence::{Item, Kind, redact};
use crate::diagnose::finding::Finding;
use crate::diagnose::parts::{self, Part};
use crate::diagnose::path::State;
use crate::text::clean;

/// Lines of answers shown at most: the bundle has the rest.
const MOST: usize = 20_000;
/// The largest answer whose JSON is laid out, in bytes.
const LAID_OUT: usize = 512 << 10;

/// A line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A heading.
    Head(String),
    /// A label with its value.
    Pair(String, String),
    /// A line of an answer, or running text.
    Text(String),
}

impl Line {
    /// As it is copied and searched.
    #[must_use]
    pub fn plain(&self) -> String {
        match self {
            Self::Head(text) | Self::Text(text) => text.clone(),
            Self::Pair(label, value) => format!("  {label}: {value}"),
        }
    }
}

/// Lines as text to copy.
pub(super) fn text(lines: &[Line]) -> String {
    lines.iter().map(Line::plain).collect::<Vec<_>>().join("\n")
}

/// The first line from `from` on that holds `text`, around the end; backwards where `back`.
#[must_use]
pub fn find(lines: &[Line], text: &str, from: usize, back: bool) -> Option<usize> {
    let wanted = text.to_lowercase();
    let holds = |at: &usize| lines.get(*at).is_some_and(|line| line.plain().to_lowercase().contains(&wanted));
    let from = from.min(lines.len());
    if wanted.is_empty() {
        return None;
    }
    if back {
        (0..from).rev().chain((from..lines.len()).rev()).find(holds)
    } else {
        (from..lines.len()).chain(0..from).find(holds)
    }
}

/// Where something was read from, and how it ended.
pub type Origin = Vec<String>;

/// `hv02`, `11:02:40Z`, `exit 0`, `31 ms`: as far as it was kept.
#[must_use]
pub fn origin(item: &Item) -> Origin {
    let from = match &item.kind {
        Kind::Dns(dns) => dns.asked_from.as_ref().map(|who| format!("{} asked from {who}", item.from)),
        _ => None,
    };
    let mut out = vec![clean(&from.unwrap_or_else(|| item.from.clone())).into_owned()];
    out.extend(item.at.map(|at| at.strftime("%H:%M:%SZ").to_string()));
    out.extend(ended(item));
    out.extend(item.took.map(|took| {
        if took.as_secs() < 10 { format!("{} ms", took.as_millis()) } else { format!("{} s", took.as_secs()) }
    }));
    out
}

/// The same without where and when.
#[must_use]
pub fn origin_short(item: &Item) -> Origin {
    origin(item).into_iter().skip(if item.at.is_some() { 2 } else { 1 }).collect()
}

fn ended(item: &Item) -> Option<String> {
    match &item.kind {
        Kind::Http(http) if http.ended.status == 0 => {
            Some(format!("no answer: {}", clean(&redact(&http.ended.reason))))
        }
        Kind::Http(http) => {
            Some(format!("{} {}", http.ended.status, clean(&redact(&http.ended.reason))).trim_end().to_owned())
        }
        Kind::Command { exit: Some(exit), .. } => Some(format!("exit {exit}")),
        Kind::Command { exit: None, .. } => Some("did not run to its end".to_owned()),
        Kind::Pasted { by, .. } => Some(format!("pasted by {}, not measured", clean(by))),
        Kind::Dns(_) | Kind::Material(_) => None,
    }
}

/// What was asked: its label, and the request or command.
pub type Spelt = (&'static str, String);

/// How an item was asked for.
#[must_use]
pub fn spelt(item: &Item) -> Spelt {
    let (label, text) = match &item.kind {
        Kind::Http(http) => ("request", http.request()),
        Kind::Command { line, .. } => ("command", line.clone()),
        Kind::Dns(dns) => ("query", dns.question.clone()),
        Kind::Pasted { via, .. } => ("by way of", via.clone()),
        Kind::Material(what) => ("file", what.clone()),
    };
    (label, clean(&redact(&text)).into_owned())
}

/// The items that what is at `spot` rests on: those that its findings name; where nothing was found, those that were read
/// for it.
#[must_use]
pub fn items_of<'i>(inquiry: &'i Inquiry, spot: &Spot) -> Vec<&'i Item> {
    let Some(diagnosis) = inquiry.diagnosis() else { return Vec::new() };
    let named = |findings: &[&Finding]| {
        let mut files: Vec<&String> = findings.iter().flat_map(|f| &f.evidence).collect();
        let mut known = std::collections::BTreeSet::new();
        files.retain(|file| known.insert(*file));
        files.into_iter().filter_map(|file| diagnosis.item(file)).collect::<Vec<_>>()
    };
    let at = match spot {
        Spot::Finding(_) => return named(&finding_at(inquiry, spot).into_iter().collect::<Vec<_>>()),
        Spot::Leg(at) => *at,
    };
    let legs = inquiry.legs();
    let Some(row) = legs.get(at) else { return Vec::new() };
    let found = named(&row.findings());
    if !found.is_empty() {
        return found;
    }
    if row.state == State::NotRun {
        return Vec::new();
    }
    // What everybody needs of Proxmox is told with the leg that is looked at there.
    let only_fabric = row.leg.awaits == [parts::Kind::Fabric];
    let here = |item: &&Item| {
        Part::of(item).is_some_and(|part| {
            row.leg.awaits.contains(&part.kind()) && (only_fabric || part.kind() != parts::Kind::Fabric)
        })
    };
    diagnosis.evidence.items.iter().filter(here).collect()
}

/// The values that are told first: the facts of the findings there, else what was seen.
#[must_use]
pub fn values(inquiry: &Inquiry, spot: &Spot) -> Vec<(String, String)> {
    let facts = |finding: &Finding| {
        finding.facts.iter().map(|f| (f.key.to_owned(), format!("{} · {}", f.value, f.subject))).collect::<Vec<_>>()
    };
    match spot {
        Spot::Finding(_) => finding_at(inquiry, spot).map(facts).unwrap_or_default(),
        Spot::Leg(at) => {
            let legs = inquiry.legs();
            let Some(row) = legs.get(*at) else { return Vec::new() };
            let found: Vec<_> = row.findings().into_iter().flat_map(facts).collect();
            let label = match row.state {
                State::Asking => "waiting",
                State::NotRun => "not run",
                State::Unknown => "unknown",
                _ => "seen",
            };
            if found.is_empty() { vec![(label.to_owned(), seen(row))] } else { found }
        }
    }
}

/// All of what is at `spot`.
#[must_use]
pub fn lines(inquiry: &Inquiry, spot: &Spot, glyphs: &Glyphs) -> Vec<Line> {
    let mut out = heading(inquiry, spot, glyphs);
    readings(&items_of(inquiry, spot), &mut out);
    out
}

/// What goes before the items.
pub(super) fn heading(inquiry: &Inquiry, spot: &Spot, glyphs: &Glyphs) -> Vec<Line> {
    let mut out = vec![Line::Head(title(inquiry, spot, glyphs))];
    out.extend(values(inquiry, spot).into_iter().map(|(key, value)| Line::Pair(key, value)));
    let finding = finding_at(inquiry, spot);
    if let Some(finding) = finding {
        about(finding, &mut out);
    }
    let legs = inquiry.legs();
    if let Spot::Leg(at) = spot
        && let Some(row) = legs.get(*at)
    {
        for missing in &row.judged.missing {
            let why = missing.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
            out.push(Line::Pair("missing".into(), clean(&format!("{}{why}", missing.missing)).into_owned()));
        }
        if !row.judged.passed.is_empty() {
            out.push(Line::Pair("nothing found by".into(), row.judged.passed.join(", ")));
        }
    }
    out
}

/// The items, one after the other.
fn readings(items: &[&Item], out: &mut Vec<Line>) {
    if items.is_empty() {
        out.extend([Line::Text(String::new()), Line::Text("Nothing was read for it.".to_owned())]);
    }
    let all = items.len();
    let before = out.len();
    for (n, item) in (1..).zip(items) {
        self::item(item, &format!("evidence {n} of {all} · {}", item.file), out);
        if out.len() > before + MOST {
            out.truncate(before + MOST);
            out.push(Line::Text("More was read than is shown here: save it as a bundle.".to_owned()));
            break;
        }
    }
}

fn title(inquiry: &Inquiry, spot: &Spot, glyphs: &Glyphs) -> String {
    match spot {
        Spot::Finding(_) => {
            finding_at(inquiry, spot).map_or_else(|| "It was not found any more.".into(), |f| f.title.clone())
        }
        Spot::Leg(at) => inquiry.legs().get(*at).map_or_else(String::new, |row| {
            format!("leg {} · {} · {} · {}", row.number, row.leg.name, row.leg.place, said(&result(row.state), glyphs))
        }),
    }
}

fn about(finding: &Finding, out: &mut Vec<Line>) {
    let mut pair = |label: &str, text: String| out.push(Line::Pair(label.to_owned(), text));
    pair("finding", format!("{} on {} {}", finding.id, finding.subject.kind, finding.subject.name));
    if !finding.affects.is_empty() {
        pair("affects", finding.affects.join(", "));
    }
    if let Some((id, subject)) = &finding.caused_by {
        pair("caused by", format!("{id} of {} {}", subject.kind, subject.name));
    }
    finding.not_tested.iter().for_each(|text| pair("not tested", text.clone()));
    for (n, next) in (1..).zip(&finding.next) {
        pair(&format!("next {n}"), format!("{} (danger {})", next.text, next.danger));
        next.command.iter().for_each(|command| pair("", format!("$ {command}")));
    }
}

fn item(item: &Item, head: &str, out: &mut Vec<Line>) {
    out.extend([Line::Text(String::new()), Line::Head(clean(head).into_owned())]);
    let mut pair = |label: &str, text: String| out.push(Line::Pair(label.to_owned(), text));
    pair("where", origin(item).join(", "));
    let (label, text) = spelt(item);
    pair(label, text);
    if let Kind::Http(http) = &item.kind
        && let Some(sent) = &http.sent
    {
        pair("sent", clean(&redact(sent)).into_owned());
    }
    for line in redact(&item.stderr).lines().filter(|line| !line.trim().is_empty()) {
        pair("said", clean(line).into_owned());
    }
    let body = laid_out(&redact(&item.body));
    if body.trim().is_empty() {
        pair("answer", "empty".to_owned());
        return;
    }
    pair("answer", plural(body.lines().count(), "line"));
    out.extend(body.lines().take(MOST).map(|line| Line::Text(clean(line).into_owned())));
}

/// JSON with a line for each value, anything else as it is.
fn laid_out(body: &str) -> String {
    let json = body.trim_start().starts_with(['{', '[']) && body.len() <= LAID_OUT;
    let value = json.then(|| serde_json::from_str::<Value>(body).ok()).flatten();
    value.and_then(|value| serde_json::to_string_pretty(&value).ok()).unwrap_or_else(|| body.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(all: &[&str]) -> Vec<Line> {
        all.iter().map(|line| Line::Text((*line).to_owned())).collect()
    }

    #[test]
    fn a_search_goes_around_the_end_both_ways() {
        let lines = text(&["Alpha", "beta", "alpha"]);
        assert_eq!(find(&lines, "ALPHA", 1, false), Some(2));
        assert_eq!(find(&lines, "alpha", 3, false), Some(0));
        assert_eq!(find(&lines, "alpha", 2, true), Some(0));
        assert_eq!(find(&lines, "alpha", 0, true), Some(2));
        assert_eq!((find(&lines, "", 0, false), find(&lines, "none", 0, false)), (None, None));
    }

    #[test]
    fn json_is_laid_out_and_secrets_and_controls_leave() {
        let kind = Kind::Command { line: "cat x".into(), exit: Some(0) };
        let body = "{\"a\":{\"cipassword\":\"CANARY\",\"b\":\"\\u001b[2J\"}}";
        let item = Item {
            file: "001.txt".into(),
            from: "hv\u{1b}02".into(),
            kind,
            at: Some("2026-11-29T11:02:40Z".parse().expect("a time")),
            took: Some(std::time::Duration::from_millis(31)),
            body: body.into(),
            stderr: "token PVEAPIToken=a@b!c=CANARY\n".into(),
            empty: false,
        };
        let mut out = Vec::new();
        super::item(&item, "evidence 1 of 1", &mut out);
        let all = super::text(&out);
        assert!(all.contains("11:02:40Z, exit 0, 31 ms") && all.contains("  \"a\": {"), "{all}");
        assert!(!all.contains("CANARY") && !all.contains('\u{1b}'), "{all}");
    }
}
