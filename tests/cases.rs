//! The failures of real life in `../shared/cases/open`, judged from their evidence alone; then again with every name,
//! address and number changed, and with one input missing.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test that cannot go on must fail, says what it skips and what it counted"
)]

#[path = "cases/rename.rs"]
mod rename;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use deevnet_console::diagnose::Report;
use deevnet_console::diagnose::evidence::{Evidence, load};
use deevnet_console::diagnose::finding::Severity;
use rename::rename;
use serde::Deserialize;

/// One entry of the map.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Want {
    verdict: String,
    id: String,
    state: Vec<Vec<[String; 3]>>,
    next: Vec<Vec<String>>,
    #[serde(default)]
    forbid: Vec<String>,
    #[serde(default)]
    also: Vec<String>,
    #[serde(default)]
    spare: Vec<String>,
}

#[derive(Deserialize)]
struct Expect {
    layer: String,
    verdict: String,
    must_state: Vec<String>,
    must_offer: Vec<String>,
}

/// How well a report meets a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Grade {
    Wrong,
    Partial,
    Full,
}

fn map() -> BTreeMap<String, Want> {
    let text = include_str!("data/cases/map.toml");
    toml::from_str(text).expect("the map")
}

fn cases() -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/cases/open");
    if dir.is_dir() {
        return Some(dir);
    }
    eprintln!("SKIPPED cases: ../shared/cases/open is not there");
    None
}

/// Whether every fact of the map is among the facts of the report.
fn states(report: &Report, fact: &[String; 3]) -> bool {
    let [key, subject, value] = fact;
    report.findings.iter().flat_map(|f| &f.facts).any(|f| f.key == key && f.subject == *subject && f.value == *value)
}

fn grade(report: &Report, want: &Want) -> (Grade, Vec<String>) {
    let mut missing = Vec::new();
    let mut wrong = false;
    match report.headline() {
        Some(f) if f.id == want.id => {}
        Some(f) => {
            missing.push(format!("headline {} instead of {}", f.id, want.id));
            wrong = f.severity == Severity::Fault;
        }
        None => missing.push(format!("{} not found", want.id)),
    }
    for f in &report.findings {
        if want.forbid.iter().any(|id| id == f.id) {
            missing.push(format!("{} is forbidden", f.id));
            wrong = true;
        }
        for next in f.next.iter().filter(|n| want.forbid.iter().any(|id| id == n.id)) {
            missing.push(format!("offers {}", next.id));
            wrong = true;
        }
        let allowed = f.id == want.id || want.also.iter().any(|id| id == f.id);
        if !allowed && f.severity == Severity::Fault {
            missing.push(format!("also claims {} of {:?}", f.id, f.subject));
            wrong = true;
        }
    }
    for fact in want.state.iter().flatten().filter(|fact| !states(report, fact)) {
        missing.push(format!("fact {} of {} = {}", fact[0], fact[1], fact[2]));
    }
    let offered =
        |ids: &Vec<String>| report.findings.iter().flat_map(|f| &f.next).any(|n| ids.iter().any(|id| id == n.id));
    for ids in want.next.iter().filter(|ids| !offered(ids)) {
        missing.push(format!("next step {}", ids.join(" or ")));
    }
    let grade = match (wrong, missing.is_empty()) {
        (true, _) => Grade::Wrong,
        (_, true) => Grade::Full,
        _ => Grade::Partial,
    };
    (grade, missing)
}

/// All cases of the map with their folders, checked against what the case itself says.
fn each(dir: &Path, mut look: impl FnMut(&str, &Want, &Evidence, &str)) {
    for (case, want) in map() {
        let folder = dir.join(&case);
        let text = std::fs::read_to_string(folder.join("expect.json")).expect("expect.json");
        let expect: Expect = serde_json::from_str(&text).expect("what a case expects");
        assert_eq!(expect.verdict, want.verdict, "{case}: the case says something else now");
        assert_eq!(expect.must_state.len(), want.state.len(), "{case}: one entry of `state` for each must_state");
        assert_eq!(expect.must_offer.len(), want.next.len(), "{case}: one entry of `next` for each must_offer");
        let evidence = load(&folder).expect("a bundle");
        look(&case, &want, &evidence, &expect.layer);
    }
}

#[test]
fn every_case_has_its_cause_its_facts_and_its_next_step() {
    let Some(dir) = cases() else { return };
    let mut per_layer: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    let mut short = Vec::new();
    each(&dir, |case, want, evidence, layer| {
        let (grade, missing) = grade(&Report::of(evidence), want);
        if let Some(count) = per_layer.entry(layer.to_owned()).or_default().get_mut(grade as usize) {
            *count += 1;
        }
        if grade != Grade::Full {
            short.push(format!("{case} {grade:?}: {}", missing.join("; ")));
        }
    });
    for (layer, [wrong, partial, full]) in &per_layer {
        eprintln!("cases {layer}: {full} full, {partial} partial, {wrong} wrong");
    }
    assert!(short.is_empty(), "{}", short.join("\n"));
}

#[test]
fn every_case_holds_with_other_names_addresses_and_numbers() {
    let Some(dir) = cases() else { return };
    let mut short = Vec::new();
    each(&dir, |case, want, evidence, _| {
        let renamed = rename::evidence(evidence);
        assert_ne!(renamed, *evidence, "{case}: nothing was renamed");
        let mut want = want.clone();
        for fact in want.state.iter_mut().flatten() {
            fact[1] = rename(&fact[1]);
            fact[2] = rename(&fact[2]);
        }
        let (grade, missing) = grade(&Report::of(&renamed), &want);
        if grade != Grade::Full {
            short.push(format!("{case} renamed {grade:?}: {}", missing.join("; ")));
        }
    });
    assert!(short.is_empty(), "{}", short.join("\n"));
}

#[test]
fn a_missing_input_makes_unknown_and_nothing_else() {
    let Some(dir) = cases() else { return };
    let mut short = Vec::new();
    each(&dir, |case, want, evidence, _| {
        for gone in 0..evidence.items.len() {
            let mut less = evidence.clone();
            let file = less.items.remove(gone).file;
            let report = Report::of(&less);
            let claims = report.findings.iter().filter(|f| f.severity == Severity::Fault);
            for f in claims.filter(|f| f.id != want.id && !want.also.iter().any(|id| id == f.id)) {
                short.push(format!("{case} without {file}: claims {}", f.id));
            }
            for f in report.findings.iter().filter(|f| want.forbid.iter().any(|id| id == f.id)) {
                short.push(format!("{case} without {file}: {} is forbidden", f.id));
            }
            let same = report.headline().is_some_and(|f| f.id == want.id);
            if !same && report.unknown.is_empty() && !want.spare.contains(&file) {
                short.push(format!("{case} without {file}: neither the finding nor what is unknown"));
            }
        }
    });
    assert!(short.is_empty(), "{}", short.join("\n"));
}
