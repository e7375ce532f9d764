//! The generated parts of `docs/access-*.md`, and that no right or endpoint of the tables is missing there.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::rights;
use crate::backends::exit_node::helper;
use crate::backends::{opnsense, powerdns, proxmox};

const BEGIN: &str = "<!-- rights: generated, UPDATE_DOCS=1 -->\n";
const END: &str = "<!-- end of rights -->\n";
const WRITING: (&str, &str) =
    ("<!-- rights to write: generated, UPDATE_DOCS=1 -->\n", "<!-- end of rights to write -->\n");

fn path(name: &str) -> String {
    format!("{}/docs/{name}.md", env!("CARGO_MANIFEST_DIR"))
}

/// Compares what stands between the markers of `name` with `generated`; `UPDATE_DOCS=1` writes it.
fn check(name: &str, generated: &str) -> String {
    check_part(name, (BEGIN, END), generated)
}

/// Two parts of one document are written one after the other: by one test.
fn check_part(name: &str, (begin, end): (&str, &str), generated: &str) -> String {
    let document = std::fs::read_to_string(path(name)).unwrap();
    let (head, rest) = document.split_once(begin).unwrap_or_else(|| panic!("{name} has no first marker"));
    let (old, tail) = rest.split_once(end).unwrap_or_else(|| panic!("{name} has no last marker"));
    let generated = format!("\n{generated}\n");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path(name), format!("{head}{begin}{generated}{end}{tail}")).unwrap();
    } else {
        assert_eq!(old, generated, "docs/{name}.md is out of date: run this test with UPDATE_DOCS=1");
    }
    document
}

fn code<'a>(words: impl IntoIterator<Item = &'a str>, between: &str) -> String {
    words.into_iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(between)
}

#[test]
fn every_right_of_proxmox_is_documented() {
    let mut text = String::new();
    for right in rights::proxmox() {
        let need = if right.later { "not asked for yet" } else { "needed" };
        let (any, path) = (code(right.any_of.iter().copied(), " or "), &right.path);
        writeln!(text, "### {any} on `{path}` ({need})\n").unwrap();
        writeln!(text, "Without it: {}\n", code(right.endpoints.iter().copied(), ", ")).unwrap();
        let lack = rights::PveLack {
            privilege: right.least(),
            path: right.path.clone(),
            endpoints: right.endpoints.clone(),
            later: right.later,
        };
        let commands = rights::pveum(&[&lack], Some("console@pve!read")).join("\n");
        writeln!(text, "```sh\n{commands}\n```\n").unwrap();
    }
    text.push_str("Every valid token may ask: ");
    let open = proxmox::endpoints::ALL.iter().filter(|e| e.privilege.any_of.is_empty());
    writeln!(text, "{}.", code(open.map(|e| e.path), ", ")).unwrap();
    let document = check("access-proxmox", &text);
    for endpoint in proxmox::endpoints::ALL {
        assert!(text.contains(&format!("`{}`", endpoint.path)), "{}", endpoint.path);
        for privilege in endpoint.privilege.any_of {
            assert!(text.contains(&format!("`{privilege}`")), "{privilege}");
        }
    }
    let needed = rights::proxmox().into_iter().filter(|right| !right.later).map(|right| right.least());
    let line = document.lines().find(|line| line.starts_with("pveum role add")).unwrap();
    for privilege in needed {
        assert!(line.contains(privilege), "the role of the first commands lacks {privilege}");
    }
    check_part("access-proxmox", WRITING, &rights_to_write());
}

/// The role of a token that writes, and what each right is for.
fn rights_to_write() -> String {
    let rights = rights::proxmox_writing();
    let least: BTreeSet<&str> = rights.iter().filter_map(|right| right.need.any_of.first().copied()).collect();
    let least = least.into_iter().collect::<Vec<_>>().join(",");
    let mut text = format!("```sh\npveum role add DeevnetConsoleWrite --privs '{least}'\n```\n\n");
    text.push_str("| right | on | for |\n|---|---|---|\n");
    for right in &rights {
        let requests = right.requests.iter().map(|(method, path, parameters)| match parameters {
            [] => format!("`{method} {path}`"),
            some => format!("`{method} {path}` with {}", code(some.iter().copied(), ", ")),
        });
        let requests = requests.collect::<Vec<_>>().join("<br>");
        let any_of = code(right.need.any_of.iter().copied(), " or ");
        writeln!(text, "| {any_of} | `{}` | {requests} |", right.need.path).unwrap();
    }
    for endpoint in proxmox::endpoints::WRITES {
        assert!(text.contains(&format!("`{} {}`", endpoint.method, endpoint.path)), "{}", endpoint.path);
    }
    text
}

#[test]
fn every_privilege_of_opnsense_is_documented() {
    let mut text = "| tick | id | opens |\n|---|---|---|\n".to_owned();
    for (need, members) in rights::opnsense() {
        let optional = if members.iter().all(|e| rights::opnsense_is_optional(e)) { " (not needed)" } else { "" };
        let names: Vec<&str> = need.iter().map(|p| p.name).collect();
        let ids = code(need.iter().map(|p| p.id), " or ");
        let opens = code(members.iter().map(|e| e.path), ", ");
        writeln!(text, "| {}{optional} | {ids} | {opens} |", names.join(" *or* ")).unwrap();
    }
    text.push_str("\nSent for an approved plan alone, under the same privileges:\n\n| changes | id |\n|---|---|\n");
    for endpoint in opnsense::endpoints::WRITES {
        writeln!(text, "| `{}` | {} |", endpoint.path, code(endpoint.need.iter().map(|p| p.id), " or ")).unwrap();
    }
    check("access-opnsense", &text);
    for endpoint in opnsense::endpoints::ALL.iter().chain(&opnsense::endpoints::WRITES) {
        assert!(text.contains(&format!("`{}`", endpoint.path)), "{}", endpoint.path);
        for privilege in endpoint.need {
            assert!(text.contains(privilege.name) && text.contains(&format!("`{}`", privilege.id)), "{privilege:?}");
        }
    }
}

#[test]
fn every_request_to_powerdns_is_documented() {
    let mut text = "| request | right |\n|---|---|\n".to_owned();
    for endpoint in powerdns::endpoints::ALL {
        writeln!(text, "| `{} /api/v1{}` | the key |", endpoint.method, endpoint.path).unwrap();
    }
    for endpoint in powerdns::endpoints::WRITES {
        writeln!(text, "| `{} /api/v1{}` | the key, and an approved plan |", endpoint.method, endpoint.path).unwrap();
    }
    let document = check("access-powerdns", &text);
    for line in rights::pdns_api(Some([10, 20, 99, 95].into())).iter().map(String::as_str).chain(rights::PDNS_UPDATES) {
        assert!(document.contains(&format!("\n{line}\n")), "{line}");
    }
}

#[test]
fn the_helper_is_installed_as_the_checks_say() {
    let document = std::fs::read_to_string(path("exit-node-access")).unwrap();
    for line in helper::INSTALL {
        assert!(document.contains(&format!("\n{line}\n")), "{line}");
    }
}
