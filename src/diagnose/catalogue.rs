//! The rules as a document: `docs/findings.md` is made of it.

use std::fmt::Write as _;

use super::finding::{Layer, Severity};
use super::rules::{Rule, all};

/// Layers in the order of the document.
const LAYERS: [(Layer, &str); 8] = [
    (Layer::Access, "Access"),
    (Layer::Fabric, "Fabric"),
    (Layer::Workload, "Workload"),
    (Layer::Egress, "Egress"),
    (Layer::Isolation, "Isolation"),
    (Layer::Perimeter, "Perimeter"),
    (Layer::Dns, "DNS"),
    (Layer::Bootstrap, "Bootstrap"),
];

/// The catalogue in Markdown.
#[must_use]
pub fn markdown() -> String {
    let mut out = String::new();
    for (layer, title) in LAYERS {
        let mut rules: Vec<&Rule> = all().filter(|r| r.layer == layer).collect();
        if rules.is_empty() {
            continue;
        }
        rules.sort_by_key(|r| r.id);
        let _ = writeln!(out, "\n## {title}");
        for rule in rules {
            entry(&mut out, rule);
        }
    }
    out
}

fn entry(out: &mut String, rule: &Rule) {
    let severity = match rule.severity {
        Severity::Fault => "fault",
        Severity::Warning => "warning",
        Severity::Info => "info",
    };
    // Writing to a string cannot fail.
    let _ = writeln!(out, "\n### {}\n\n{} *{severity}*\n\n- reads: {}", rule.id, rule.says, rule.reads);
    for (id, how) in rule.unlike {
        let _ = writeln!(out, "- not `{id}`: {how}");
    }
    if !rule.explains.is_empty() {
        let ids: Vec<String> = rule.explains.iter().map(|id| format!("`{id}`")).collect();
        let _ = writeln!(out, "- explains: {}", ids.join(", "));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_are_unique_and_words() {
        let ids: Vec<&str> = all().map(|r| r.id).collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
        for id in ids {
            assert!(
                id.split('-').all(|w| !w.is_empty() && w.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())),
                "{id}"
            );
        }
    }

    #[test]
    fn every_rule_names_real_rules() {
        let ids: BTreeSet<&str> = all().map(|r| r.id).collect();
        for rule in all() {
            for id in rule.explains.iter().chain(rule.unlike.iter().map(|(id, _)| id)) {
                assert!(ids.contains(id), "{}: there is no {id}", rule.id);
                assert_ne!(*id, rule.id);
            }
        }
    }

    #[test]
    fn no_rule_explains_its_own_cause() {
        for rule in all() {
            for other in all().filter(|r| rule.explains.contains(&r.id)) {
                assert!(!other.explains.contains(&rule.id), "{} and {} explain each other", rule.id, other.id);
            }
        }
    }
}
