//! Cases whose inputs failed instead of being absent: denied, without an answer, ended by an error. That is why it is
//! unknown, and never an empty answer.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test that cannot go on must fail, and says what it skips"
)]

use std::collections::BTreeMap;
use std::path::Path;

use deevnet_console::diagnose::Report;
use deevnet_console::diagnose::evidence::{Item, Kind, load};
use deevnet_console::diagnose::finding::{Layer, Severity};
use serde::Deserialize;

/// What is needed of the map of the cases.
#[derive(Deserialize)]
struct Want {
    id: String,
    #[serde(default)]
    forbid: Vec<String>,
    #[serde(default)]
    also: Vec<String>,
    #[serde(default)]
    spare: Vec<String>,
}

/// Layers whose rules read commands on nodes and lists of Proxmox.
const LAYERS: [&str; 2] = ["EGR", "SDN"];

/// The item as it would have been, had it failed in some way.
fn failures(item: &Item) -> Vec<Item> {
    let with = |kind: Kind, body: &str, stderr: &str| Item {
        kind,
        body: body.to_owned(),
        stderr: stderr.to_owned(),
        ..item.clone()
    };
    match &item.kind {
        Kind::Http(http) => [(403, "Permission check failed", "{\"data\":null}"), (0, "", "")]
            .into_iter()
            .map(|(status, reason, body)| {
                let mut http = http.clone();
                http.ended.status = status;
                http.ended.reason = reason.to_owned();
                with(Kind::Http(http), body, "")
            })
            .collect(),
        Kind::Command { line, .. } => [(Some(126), "Permission denied"), (None, "")]
            .into_iter()
            .map(|(exit, stderr)| with(Kind::Command { line: line.clone(), exit }, "", stderr))
            .collect(),
        Kind::Dns(_) | Kind::Material(_) | Kind::Pasted { .. } => Vec::new(),
    }
}

#[test]
fn a_failed_input_is_no_empty_answer() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/cases/open");
    if !dir.is_dir() {
        eprintln!("SKIPPED cases: ../shared/cases/open is not there");
        return;
    }
    let map: BTreeMap<String, Want> = toml::from_str(include_str!("data/cases/map.toml")).unwrap();
    let mut bad = Vec::new();
    for (case, want) in map.iter().filter(|(case, _)| LAYERS.iter().any(|layer| case.starts_with(layer))) {
        let evidence = load(&dir.join(case)).unwrap();
        for at in 0..evidence.items.len() {
            for failed in failures(&evidence.items[at]) {
                let mut changed = evidence.clone();
                let file = failed.file.clone();
                changed.items[at] = failed;
                let report = Report::of(&changed);
                let known = |id: &str| id == want.id || want.also.iter().any(|other| other == id);
                let wrong = |f: &&deevnet_console::diagnose::finding::Finding| {
                    // That it could not be read, and why, is a finding of its own.
                    let of_reading = f.layer == Layer::Access;
                    (f.severity == Severity::Fault && !known(f.id) && !of_reading)
                        || want.forbid.iter().any(|id| id == f.id)
                };
                if let Some(f) = report.findings.iter().find(wrong) {
                    bad.push(format!("{case}, {file} failed: claims {}", f.id));
                }
                let same = report.headline().is_some_and(|f| f.id == want.id);
                if !same && report.unknown.is_empty() && !want.spare.contains(&file) {
                    bad.push(format!("{case}, {file} failed: neither the finding nor what is unknown"));
                }
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
