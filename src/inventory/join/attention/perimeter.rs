//! Rows about the perimeter: what it lets through, what it did not load, the way back, its resolver and forwards.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::super::entities::{Attention, ForwardRow, Inventory, Mark, ObjectId, RuleRow, Touch};
use super::super::super::{Class, Seen, SourceId};
use super::row;

/// Where the rows say they are.
const PLACE: &str = "perimeter";

pub(super) fn rows(inv: &Inventory, out: &mut Vec<Attention>) {
    for rule in &inv.rules {
        if let Some(why) = &rule.must_not_exist {
            let what = format!("{why}: {}", quoted(rule));
            let mut r = row(Class::Fault, "fault", PLACE, what, ObjectId::Rule(Arc::clone(&rule.uuid)));
            r.affects = affected(inv, rule);
            out.push(r);
        }
    }
    let all = || inv.tenants.iter().map(|t| Arc::clone(&t.name)).collect::<Vec<_>>();
    let mut fault = |what: String| {
        let mut r = row(Class::Fault, "fault", PLACE, what, ObjectId::Source(SourceId::Fw));
        r.affects = all();
        out.push(r);
    };
    if let Some(word) = broken(&inv.perimeter.route) {
        fault(word);
    }
    if let Some(word) = broken(&inv.perimeter.resolver) {
        fault(format!("the resolver is {word}: no workload resolves a name"));
    }
    let own = inv.perimeter.patterns.last().and_then(|p| p.found.as_ref().ok()).copied().unwrap_or(0);
    if own > 0 {
        fault(format!("{own} static routes or interfaces of single tenants: one route carries all"));
    }
    loading(inv, out);
    forwards(inv, out);
}

fn quoted(rule: &RuleRow) -> String {
    if rule.description.is_empty() { format!("rule {}", rule.place) } else { format!("\"{}\"", rule.description) }
}

fn affected(inv: &Inventory, rule: &RuleRow) -> Vec<Arc<str>> {
    match &rule.touches {
        Ok(Touch::Every) => inv.tenants.iter().map(|t| Arc::clone(&t.name)).collect(),
        Ok(Touch::Some(names)) => names.clone(),
        Ok(Touch::No) | Err(_) => Vec::new(),
    }
}

fn broken(mark: &Seen<Mark>) -> Option<String> {
    mark.as_ref().ok().filter(|m| m.class >= Class::Differs).map(|m| m.word.to_string())
}

/// Rules that are saved and that pf does not have; where pf refused the set, that is why.
fn loading(inv: &Inventory, out: &mut Vec<Attention>) {
    let waiting: Vec<&RuleRow> = inv.rules.iter().filter(|r| r.enabled && r.loaded == Ok(false)).collect();
    let first = waiting.first().map(|r| ObjectId::Rule(Arc::clone(&r.uuid)));
    let target = || first.clone().unwrap_or(ObjectId::Source(SourceId::Fw));
    if let Ok(Some(text)) = &inv.perimeter.rules_refused {
        let (class, kind, tail) = match waiting.len() {
            // The message stays after a later good load until somebody dismisses it.
            0 => (Class::Warning, "warning", "all rules are loaded; it may be old".to_owned()),
            n => (Class::Fault, "fault", format!("{n} enabled rules are not loaded, the old set is")),
        };
        out.push(row(class, kind, PLACE, format!("pf refused a rule set: {text}; {tail}"), target()));
    } else if let [first, rest @ ..] = waiting.as_slice() {
        let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        let what = format!("enabled and not loaded: {}{more}", quoted(first));
        out.push(row(Class::Warning, "warning", PLACE, what, target()));
    }
}

/// Forwards that ought to be there and are not, or are others: one row for tenants that miss the same.
fn forwards(inv: &Inventory, out: &mut Vec<Attention>) {
    let wrong = |f: &&ForwardRow| matches!(f.class, Class::Fault | Class::Differs | Class::Warning);
    let mut by_word: BTreeMap<Arc<str>, Vec<&ForwardRow>> = BTreeMap::new();
    for f in inv.forwards.iter().filter(|f| f.tenant.is_some()).filter(wrong) {
        by_word.entry(Arc::clone(&f.word)).or_default().push(f);
    }
    for (word, rows) in by_word {
        let mut tenants: Vec<Arc<str>> = rows.iter().filter_map(|f| f.tenant.clone()).collect();
        tenants.dedup();
        let Some(first) = rows.first() else { continue };
        let class = rows.iter().map(|f| f.class).max().unwrap_or(first.class);
        let kind = match class {
            Class::Fault => "fault",
            Class::Differs => "differs",
            _ => "warning",
        };
        let (place, what) = match tenants.as_slice() {
            [one] => {
                let domains: Vec<&str> = rows.iter().map(|f| &*f.domain).collect();
                (one.to_string(), format!("resolver forward {word}: {}", domains.join(", ")))
            }
            many => (PLACE.to_owned(), format!("resolver forwards of {} tenants {word}", many.len())),
        };
        let id = first.uuid.as_ref().unwrap_or(&first.domain);
        let mut r = row(class, kind, place, what, ObjectId::Forward(Arc::clone(id)));
        r.affects = tenants;
        out.push(r);
    }
}
