//! The rules of the source tree that a compiler does not check: file length, direction of modules, leftovers.

#![cfg(test)]

use std::path::{Path, PathBuf};

/// What each module may use of the others (docs/architecture.md, "Direction").
const MAY_USE: [(&str, &[&str]); 11] = [
    ("text", &[]),
    ("site", &["text"]),
    ("backends", &["site", "text"]),
    ("inventory", &["backends", "site", "text"]),
    ("diagnose", &["backends", "site", "inventory", "text"]),
    ("terminal", &["text"]),
    ("provision", &["diagnose", "inventory", "backends", "site", "text"]),
    ("console", &["provision", "diagnose", "inventory", "backends", "site", "terminal", "text"]),
    ("runtime", &["console", "provision", "diagnose", "inventory", "site", "terminal", "text"]),
    ("lab", &[]),
    (
        "cli",
        &["console", "provision", "diagnose", "inventory", "runtime", "lab", "backends", "site", "terminal", "text"],
    ),
];

/// No source file is longer.
const LONGEST: usize = 600;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn files(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut todo = vec![dir.to_owned()];
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                todo.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}

fn short(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

#[test]
fn no_source_file_is_too_long() {
    let mut bad = Vec::new();
    for dir in ["src", "tests", "benches"] {
        let dir = root().join(dir);
        if !dir.exists() {
            continue;
        }
        for path in files(&dir, ".rs") {
            let lines = std::fs::read_to_string(&path).unwrap().lines().count();
            if lines > LONGEST {
                bad.push(format!("{} has {lines} lines", short(&path)));
            }
        }
    }
    assert!(bad.is_empty(), "split by meaning (at most {LONGEST} lines):\n{}", bad.join("\n"));
}

/// The part of a file before its tests; nothing of a file that is all tests.
fn product(path: &Path) -> String {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let tests_only = name.ends_with("tests.rs")
        || path.components().any(|c| matches!(c.as_os_str().to_str(), Some("testing" | "tests" | "snapshot_tests")));
    if tests_only {
        return String::new();
    }
    let text = std::fs::read_to_string(path).unwrap();
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned()
}

fn used(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|l| !l.trim_start().starts_with("//")).flat_map(|l| l.split("crate::").skip(1)).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        &rest[..end]
    })
}

#[test]
fn modules_use_only_what_lies_below_them() {
    let mut bad = Vec::new();
    for path in files(&root().join("src"), ".rs") {
        let inside = path.strip_prefix(root().join("src")).unwrap();
        let module = inside.components().next().unwrap().as_os_str().to_string_lossy().replace(".rs", "");
        let Some((_, below)) = MAY_USE.iter().find(|(name, _)| *name == module) else { continue };
        let text = product(&path);
        for other in used(&text).filter(|o| MAY_USE.iter().any(|(name, _)| name == o)) {
            if other != module && !below.contains(&other) {
                bad.push(format!("{}: uses crate::{other}", short(&path)));
            }
        }
    }
    bad.dedup();
    assert!(bad.is_empty(), "against the direction of modules:\n{}", bad.join("\n"));
}

/// Plans are made of objects, and objects know no plans: the register of objects alone names one that belongs to a plan.
#[test]
fn what_plans_are_made_of_does_not_know_them() {
    let above = ["plans", "conduct", "engine", "approve"];
    let below = ["egress", "fields", "handover", "journal", "names", "preflight", "sdn", "survey", "tenant", "vm"];
    let dir = root().join("src/provision");
    let mut bad = Vec::new();
    for path in files(&dir, ".rs") {
        let inside = path.strip_prefix(&dir).unwrap();
        let module = inside.components().next().unwrap().as_os_str().to_string_lossy().replace(".rs", "");
        let text = product(&path);
        let lines = text.lines().filter(|line| below.contains(&module.as_str()) && line.contains("use "));
        let uses = |line: &&str| above.iter().any(|above| line.contains(&format!("::{above}")));
        bad.extend(lines.filter(uses).map(|line| format!("{}: {}", short(&path), line.trim())));
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn leave_to_change_something_is_granted_in_one_place() {
    let mut bad = Vec::new();
    for path in files(&root().join("src"), ".rs") {
        let inside = path.strip_prefix(root().join("src")).unwrap();
        if product(&path).contains("Permit::grant") && inside != Path::new("provision/approve.rs") {
            bad.push(short(&path));
        }
    }
    assert!(bad.is_empty(), "only an approved plan grants a permit:\n{}", bad.join("\n"));
}

#[test]
fn every_module_is_ruled_and_described() {
    let lib = std::fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let map = std::fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    for line in lib.lines().filter_map(|l| l.strip_prefix("pub mod ")) {
        let module = line.trim_end_matches(';');
        assert!(MAY_USE.iter().any(|(name, _)| *name == module), "{module} has no rule in tests/tidy.rs");
        assert!(
            map.contains(&format!("`{module}`")) || map.contains(&format!("`{module}/`")),
            "{module} is not in docs/architecture.md"
        );
    }
}

#[test]
fn every_dependency_has_its_reason() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let map = std::fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let mut section = "";
    let mut names = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        } else if matches!(section, "[dependencies]" | "[dev-dependencies]")
            && let Some((name, _)) = line.split_once(" = ")
        {
            assert!(map.contains(&format!("`{name}`")), "{name}: no reason in docs/architecture.md");
            names.push(name);
        }
    }
    let rows = map.split("## Dependencies").nth(1).unwrap().lines().filter_map(|line| line.strip_prefix("| `"));
    for named in rows.flat_map(|row| row.split('|').next().unwrap().split([' ', ',', '`'])).filter(|n| !n.is_empty()) {
        assert!(names.contains(&named), "docs/architecture.md gives a reason for {named}, which is no dependency");
    }
}

#[test]
fn snapshots_are_accepted_or_not_there() {
    let left = files(&root().join("snapshots"), ".snap.new");
    assert!(left.is_empty(), "look at these and accept or reject them: {left:?}");
}

#[test]
fn nothing_is_left_for_later_in_the_code() {
    let mut bad = Vec::new();
    for path in files(&root().join("src"), ".rs") {
        let text = std::fs::read_to_string(&path).unwrap();
        for (n, line) in text.lines().enumerate() {
            if ["TODO", "FIXME", "XXX"]
                .iter()
                .any(|mark| line.split(|c: char| !c.is_alphanumeric()).any(|w| w == *mark))
            {
                bad.push(format!("{}:{}", short(&path), n + 1));
            }
        }
    }
    assert!(bad.is_empty(), "marks in the code: {bad:?}");
}
