//! Completion of the `:` line, and the cleaning of text that comes from outside.

use super::commands::{self, ArgKind, Command, PLACES};
use super::lists::def;
use super::model::{Model, Overlay};
use super::nav;
use super::query::fold;
use crate::inventory::{ObjectId, SourceId};
use crate::provision::plans::table::MAKERS;

/// Candidates at most: more than any screen shows.
const MOST: usize = 200;

/// One candidate of the `:` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The whole line when it is taken.
    pub line: String,
    /// What is shown, e.g. `refresh [SOURCE]` or `tdemo/app`.
    pub label: String,
    /// Beside it: title of a command, kind of an object.
    pub words: String,
    /// Why it cannot run now; shown after `–`.
    pub disabled: Option<String>,
}

/// Candidates for the `:` line as it stands, best first; empty when the line is not open.
#[must_use]
pub fn candidates(model: &Model) -> Vec<Candidate> {
    match &model.overlay {
        Overlay::Command { field, .. } => of_line(model, field.value()),
        _ => Vec::new(),
    }
}

/// Candidates for `line`.
#[must_use]
pub fn of_line(model: &Model, line: &str) -> Vec<Candidate> {
    let line = line.trim_start();
    match line.split_once(char::is_whitespace) {
        None => of_commands(model, line),
        Some((name, rest)) => commands::find(name).map_or_else(Vec::new, |c| of_arguments(model, c, rest)),
    }
}

/// Commands that begin with `word`, then those that hold it; those that can run first.
fn of_commands(model: &Model, word: &str) -> Vec<Candidate> {
    let word = fold(word);
    let rank = |c: &&Command| match (c.name.starts_with(&word), c.name.contains(&word) || fold(c.title).contains(&word))
    {
        (true, _) => Some(0),
        (false, true) => Some(1),
        _ => None,
    };
    let mut found: Vec<_> = commands::all()
        .filter_map(|c| Some((rank(&c)?, c)))
        .map(|(rank, c)| {
            let disabled = c.availability(model).reason().map(str::to_owned);
            let blank = if c.args.is_empty() { "" } else { " " };
            let line = format!("{}{blank}", c.name);
            ((disabled.is_some(), rank), Candidate { line, label: c.usage(), words: c.title.to_owned(), disabled })
        })
        .collect();
    found.sort_by_key(|(order, _)| *order);
    found.into_iter().map(|(_, c)| c).collect()
}

/// Values for the argument that is being typed.
fn of_arguments(model: &Model, command: &'static Command, rest: &str) -> Vec<Candidate> {
    let done = rest.split_whitespace().count() - usize::from(!rest.is_empty() && !rest.ends_with(char::is_whitespace));
    let Some(arg) = command.args.get(done) else { return Vec::new() };
    let word =
        if rest.ends_with(char::is_whitespace) { "" } else { rest.split_whitespace().last().unwrap_or_default() };
    let before: String = rest.split_whitespace().take(done).flat_map(|w| [w, " "]).collect();
    let typed = fold(word);
    // The selected object first, then what begins with what was typed, then what holds it.
    let selected = selected_value(model, arg.kind);
    let mut values = values(model, arg.kind, &typed);
    values.sort_by_cached_key(|(v, _)| (Some(v) != selected.as_ref(), !fold(v).starts_with(&typed)));
    let disabled = command.availability(model).reason().map(str::to_owned);
    let candidate = |(value, words): (String, String)| Candidate {
        line: format!("{} {before}{value}", command.name),
        label: value,
        words,
        disabled: disabled.clone(),
    };
    values.into_iter().take(MOST).map(candidate).collect()
}

/// The values of a kind that hold `typed`, each with what it is.
fn values(model: &Model, kind: ArgKind, typed: &str) -> Vec<(String, String)> {
    let inv = model.picture();
    let fits = |value: &str| fold(value).contains(typed);
    let plain = |names: &mut dyn Iterator<Item = String>, what: &str| {
        names.filter(|n| fits(n)).map(|n| (n, what.to_owned())).collect()
    };
    match kind {
        ArgKind::Place => plain(&mut PLACES.iter().map(|(name, _)| (*name).to_owned()), "place"),
        ArgKind::Tenant => {
            let tenants = inv.iter().flat_map(|inv| &inv.tenants).filter(|t| fits(&t.name));
            tenants.map(|t| (t.name.to_string(), format!("index {}, {}", t.index, t.subnet))).collect()
        }
        ArgKind::Workload => {
            let all = inv.iter().flat_map(|inv| &inv.workloads);
            let named = all.map(|w| (format!("{}/{}", w.tenant, w.name), w)).filter(|(name, _)| fits(name));
            named.map(|(name, w)| (name, format!("VM {}, {}", w.vmid, w.status))).collect()
        }
        ArgKind::Source => {
            let all = SourceId::ALL.into_iter().filter(|s| fits(s.label()));
            all.map(|s| (s.label().to_owned(), s.words().to_owned())).collect()
        }
        ArgKind::Column => {
            let columns = model.focused().map_or(&[][..], |(list, _)| def(list).columns);
            let shown = columns.iter().filter(|c| c.max > 0 && fits(c.key));
            shown.map(|c| (c.key.to_owned(), c.title.to_owned())).collect()
        }
        ArgKind::Theme => plain(&mut model.themes.iter().map(|t| t.name.clone()), "theme"),
        ArgKind::Extent => plain(&mut ["row", "table"].into_iter().map(str::to_owned), "of this list"),
        ArgKind::RecordType => {
            plain(&mut ["A", "AAAA", "CNAME", "NS", "PTR", "SOA", "TXT"].into_iter().map(str::to_owned), "type")
        }
        ArgKind::Check => {
            plain(&mut ["egress", "isolation", "keys", "fabric", "all"].into_iter().map(str::to_owned), "check")
        }
        ArgKind::Plan => plain(&mut MAKERS.iter().map(|maker| maker.name.to_owned()), "plan"),
        ArgKind::Change => {
            let all = model.changes.shelf.iter().flat_map(|shelf| &shelf.entries);
            let named = all.map(|entry| (entry.id.to_string(), entry.plan.title.clone()));
            named.filter(|(id, _)| fits(id)).collect()
        }
        ArgKind::Number | ArgKind::Word | ArgKind::Text => Vec::new(),
    }
}

/// The selected object as a value of `kind`.
fn selected_value(model: &Model, kind: ArgKind) -> Option<String> {
    match (kind, model.selected()) {
        (ArgKind::Tenant, _) => model.tenant().map(|t| t.to_string()),
        (ArgKind::Workload, Some(id @ ObjectId::Workload(_))) => Some(nav::name_of(model.picture()?, id)),
        _ => None,
    }
}

/// The grey rest that `→` takes: what the first (or chosen) candidate adds to the line.
#[must_use]
pub fn rest(model: &Model) -> String {
    let Overlay::Command { field, at, .. } = &model.overlay else { return String::new() };
    let typed = field.value().trim_start();
    if typed.is_empty() && at.is_none() {
        return String::new();
    }
    let candidate = candidates(model).into_iter().nth(at.unwrap_or(0));
    candidate.and_then(|c| c.line.strip_prefix(typed).map(str::to_owned)).unwrap_or_default()
}

/// The line that `→` makes: the candidate walked to, else what was typed with the grey rest.
#[must_use]
pub fn taken(model: &Model) -> Option<String> {
    let Overlay::Command { field, at, .. } = &model.overlay else { return None };
    match at {
        Some(at) => candidates(model).into_iter().nth(*at).map(|c| c.line),
        None => Some(rest(model)).filter(|r| !r.is_empty()).map(|rest| format!("{}{rest}", field.value())),
    }
}

/// `text` as one clean line: breaks and tabs become blanks, what [`clean`](crate::text::clean) drops goes.
#[must_use]
pub fn clean_line(text: &str) -> String {
    let blank = |c: char| if matches!(c, '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}') { ' ' } else { c };
    let line: String = text.chars().map(blank).collect();
    crate::text::clean(line.trim()).into_owned()
}
