//! Routing that was written by hand is no longer running, since the platform wrote FRR's configuration anew.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::node::Node;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "frr-handwritten-lost",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "The platform writes frr.conf anew at every SDN apply and at boot, and merges frr.conf.local alone. What stood only in \
           frr.conf or in the running daemon is gone then; frr.conf.sav may still hold it. Until it is back in \
           frr.conf.local another apply makes nothing better.",
    reads: "the running configuration, frr.conf.sav, the files of /etc/frr with their dates",
    unlike: &[("frr-local-not-merged", "frr.conf.local holds it and it is not running")],
    // The cluster's own links may run over what was lost.
    explains: &["no-quorum"],
    judge,
};

/// Where an old configuration is kept.
const SAVED: &str = "frr.conf.sav";
/// What the platform merges.
const LOCAL: &str = "frr.conf.local";

/// Blocks by their first line. What every configuration has, or what ends a block, is no block.
fn blocks(text: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut head = None;
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.trim().starts_with('!')) {
        let bare = line.trim();
        if ["exit", "end"].contains(&bare) || bare.starts_with("exit-") {
            continue;
        }
        if line.starts_with(char::is_whitespace) {
            found.entry(head.unwrap_or(bare)).or_default().insert(bare);
        } else {
            head = Some(bare);
            found.entry(bare).or_default();
        }
    }
    found
}

/// Statements of `saved` that `running` lacks: whole blocks by their first line, else line by line.
fn lost(saved: &str, running: &str) -> Vec<String> {
    let heads = ["frr ", "hostname ", "log ", "service ", "line "];
    let running = blocks(running);
    let mut found = Vec::new();
    for (head, lines) in blocks(saved).into_iter().filter(|(head, _)| !heads.iter().any(|h| head.starts_with(h))) {
        match running.get(head) {
            None => found.push(head.to_owned()),
            Some(own) => found.extend(lines.difference(own).map(|line| format!("{head}: {line}"))),
        }
    }
    found
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for (name, node) in facts.nodes.iter() {
        let (saved, running) = (node.frr_configs.get(SAVED), node.frr_configs.get("running"));
        let listed = listed_older(node);
        let (Some(saved), Some(running)) = (saved, running) else {
            if listed == Some(true) || saved.is_some() {
                let what = if saved.is_none() {
                    format!("{SAVED} of {name}")
                } else {
                    format!("the running configuration of FRR of {name}")
                };
                out.unknown(what, node.why_unread("frr").or_else(|| node.why_unread("vtysh")));
            }
            continue;
        };
        let local = node.frr_configs.get(LOCAL).map(|local| blocks(&local.text));
        let kept = |line: &String| local.as_ref().is_some_and(|local| local.contains_key(line.as_str()));
        let lost: Vec<String> = lost(&saved.text, &running.text).into_iter().filter(|line| !kept(line)).collect();
        if lost.is_empty() {
            out.pass(Subject::new("node", name));
            continue;
        }
        let title = format!(
            "{} statement(s) of FRR that {SAVED} of {name} holds are not running, and no {LOCAL} brings them back.",
            lost.len()
        );
        let mut finding = out.finding(Subject::new("node", name), title).from(saved).from(running);
        for line in &lost {
            finding = finding.fact("frr.lost", name, line);
        }
        for (other, node) in facts.nodes.iter() {
            let Some(files) = &node.frr_files else { continue };
            let age = files
                .iter()
                .find(|file| file.name == LOCAL)
                .map_or_else(|| "missing".to_owned(), |file| file.day.to_string());
            finding = finding.fact("frr.conf.local", other, age).affects([other]).from(files);
        }
        let finding = finding
            .next(
                "restore-frr-local",
                2,
                format!("take what is missing out of {SAVED}, install it as {LOCAL}, then reload FRR"),
            )
            .command(format!("diff /etc/frr/{SAVED} /etc/frr/frr.conf"))
            .not_tested("whether the saved statements are still what is wanted");
        out.found(finding);
    }
}

/// Whether a saved configuration is listed beside a missing or older local one.
fn listed_older(node: &Node) -> Option<bool> {
    let files = node.frr_files.as_ref()?;
    let day = |name: &str| files.iter().find(|file| file.name == name).map(|file| file.day);
    Some(day(SAVED).is_some_and(|saved| day(LOCAL).is_none_or(|local| local < saved)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_are_gone_are_named_once() {
        let saved = "router ospf\n network 192.0.2.0/24 area 0\nexit\nrouter bgp 65000\n neighbor A peer-group\n neighbor B peer-group\nexit\n";
        let running = "frr version 10\nrouter bgp 65000\n neighbor A peer-group\nexit\n!\nend\n";
        assert_eq!(lost(saved, running), ["router bgp 65000: neighbor B peer-group", "router ospf"]);
    }
}
