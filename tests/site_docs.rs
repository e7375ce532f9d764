//! `docs/configuration.md` against the table of keys, in both directions, and its example against the reader.

#![cfg(test)]

use std::path::Path;

use deevnet_console::site::Site;
use deevnet_console::site::file::keys::{Key, Need, SITE, Section, Shape, USER};

fn doc() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/configuration.md")).unwrap()
}

fn heading(section: &Section) -> String {
    match section.shape {
        Shape::Top => "### At the top of the file".to_owned(),
        Shape::One => format!("### `[{}]`", section.name),
        Shape::Many => format!("### `[[{}]]`", section.name),
    }
}

/// Key, value and need of every row below `heading`, up to the next heading.
fn rows(doc: &str, heading: &str) -> Vec<String> {
    let mut lines = doc.lines().skip_while(|line| *line != heading);
    assert!(lines.next().is_some(), "docs/configuration.md has no line `{heading}`");
    let rows = lines.take_while(|line| !line.starts_with('#')).filter(|line| line.starts_with("| `"));
    rows.map(|row| row.split('|').map(str::trim).take(4).collect::<Vec<_>>().join(" | ")).collect()
}

fn row(key: &Key) -> String {
    let need = match key.need {
        Need::Required => "required".to_owned(),
        Need::Default(text) => format!("default `{text}`"),
        Need::Optional => "optional".to_owned(),
    };
    format!(" | `{}` | {} | {need}", key.name, key.kind.describe())
}

#[test]
fn every_key_is_documented_as_it_is_read_and_no_other() {
    let doc = doc();
    for section in SITE {
        let expected: Vec<_> = section.keys.iter().map(row).collect();
        assert_eq!(rows(&doc, &heading(section)), expected, "{}", heading(section));
    }
    let expected: Vec<_> = USER.iter().flat_map(|section| section.keys).map(row).collect();
    assert_eq!(rows(&doc, "## Your preferences: `config.toml`"), expected);
    let sections = doc.lines().filter(|line| line.starts_with("### ")).count();
    assert_eq!(sections, SITE.len(), "the document describes a section that is not read");
}

fn example() -> String {
    let doc = doc();
    let (_, rest) = doc.split_once("```toml\n").unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_example_is_a_site_without_warnings() {
    let site = Site::parse(&example(), Path::new("/etc/deevnet-console/sites/mobile.toml"));
    let site = site.unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(site.warnings, Vec::<String>::new());
    assert_eq!(site.name, "mobile");
    assert!(site.internet.is_some() && site.registry.is_some() && site.bootstrap.is_some() && site.state_dir.is_some());
}

#[test]
fn the_example_leaves_no_section_out() {
    let example = example();
    for section in SITE.iter().filter(|section| section.shape != Shape::Top) {
        assert!(example.lines().any(|line| line == section.title()), "{}", section.title());
    }
}

/// A default that its own kind refuses would silently be no default.
#[test]
fn every_default_is_read() {
    let least =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sites/good/home.toml")).unwrap();
    let more = "\n[powerdns]\nmode = \"dns-only\"\ndns = \"[2001:db8::53]:5353\"\n";
    let site = Site::parse(&(least + more), Path::new("home.toml")).unwrap_or_else(|errors| panic!("{errors}"));
    let powerdns = site.powerdns.unwrap();
    assert_eq!((powerdns.url, powerdns.api_key, powerdns.update_networks), (None, None, Vec::new()));
    assert_eq!(powerdns.dns, "[2001:db8::53]:5353".parse().unwrap());
    assert_eq!(site.numbering.vmids_per_tenant, 40);
}
