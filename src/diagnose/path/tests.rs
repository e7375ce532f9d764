//! Legs and what they come to.

use std::collections::BTreeSet;

use super::*;
use crate::diagnose::report::Passed;
use crate::diagnose::rules;

fn zone(name: &str) -> Subject {
    Subject::new("zone", name)
}

fn found(id: &'static str, severity: Severity, subject: Subject, affects: &[&str]) -> Finding {
    Finding {
        id,
        severity,
        layer: Layer::Egress,
        subject,
        affects: affects.iter().map(|who| (*who).to_owned()).collect(),
        title: id.to_owned(),
        facts: Vec::new(),
        caused_by: None,
        not_tested: Vec::new(),
        next: Vec::new(),
        evidence: Vec::new(),
    }
}

fn passing(subject: &Subject) -> Report {
    let passed = LEGS.iter().flat_map(|leg| leg.rules).map(|id| Passed { id, subject: subject.clone() }).collect();
    Report { findings: Vec::new(), passed, unknown: Vec::new() }
}

fn state(path: &Path<'_>, name: &str) -> State {
    path.legs.iter().find(|leg| leg.leg.name == name).unwrap().state
}

#[test]
fn every_leg_names_rules_and_every_fault_of_egress_is_on_one() {
    let ids: Vec<&str> = LEGS.iter().flat_map(|leg| leg.rules.iter().copied()).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "one leg a rule");
    for id in &ids {
        assert!(rules::rule(id).is_some(), "there is no rule {id}");
    }
    for rule in rules::all().filter(|rule| rule.layer == Layer::Egress && rule.severity == Severity::Fault) {
        assert!(ids.contains(&rule.id), "{} is on no leg", rule.id);
    }
}

#[test]
fn what_breaks_the_way_out_in_the_contract_is_on_a_leg() {
    let clause = crate::diagnose::contract::clause("E1").unwrap();
    let shared = ["vni-shared", "vnet-not-on-node", "subnet-overlap-inside", "exit-outside-zone"];
    let beyond = ["nat-missing-for-transit", "route-wrong-gateway"];
    for id in clause.rules.iter().copied().chain(shared).chain(beyond) {
        assert!(on_a_leg(id), "{id} is on no leg");
    }
}

#[test]
fn the_first_broken_leg_is_the_one_told() {
    let mut report = passing(&zone("eds"));
    let fault = |id| found(id, Severity::Fault, zone("eds"), &["eds"]);
    report.findings = vec![fault("gateway-unreachable"), fault("snat-missing")];
    let path = Path::of(&report, Some("eds"));
    let (number, leg) = path.broken().unwrap();
    assert_eq!((number, leg.leg.name, leg.findings[0].id), (7, "SNAT rule", "snat-missing"));
    assert_eq!((path.state(), state(&path, "VRF up")), (State::Fail, State::Pass));
}

#[test]
fn a_leg_that_no_rule_looked_at_was_not_run() {
    let path_of = |report: &Report| Path::of(report, Some("eds")).count(State::NotRun);
    let empty = Report { findings: Vec::new(), passed: Vec::new(), unknown: Vec::new() };
    assert_eq!(path_of(&empty), LEGS.len());
    assert_eq!(Path::of(&empty, None).state(), State::NotRun);
    let silent = LEGS.iter().filter(|leg| leg.rules.is_empty()).count();
    assert_eq!(path_of(&passing(&zone("eds"))), silent);
    let mut shared = passing(&Subject::new("node", "hv02"));
    assert_eq!(path_of(&shared), LEGS.len(), "nothing names the tenant");
    assert_eq!(Path::of(&shared, Some("eds")).state(), State::Unknown);
    shared.passed.push(Passed { id: "inter-tenant-leak", subject: zone("eds") });
    assert_eq!(path_of(&shared), silent);
    assert_eq!(path_of(&passing(&zone("tdemo"))), LEGS.len(), "another tenant's pass is no pass");
    assert_eq!(path_of(&passing(&Subject::new("workload", "2040"))), LEGS.len(), "whose is it?");
}

#[test]
fn a_missing_input_is_unknown_whatever_else_passed() {
    let mut report = passing(&zone("eds"));
    report.unknown.push(Unknown { missing: "the NAT rules".into(), why: None, ids: vec!["snat-missing"] });
    let path = Path::of(&report, Some("eds"));
    assert_eq!((state(&path, "SNAT rule"), state(&path, "VRF up")), (State::Unknown, State::Pass));
    assert_eq!((path.state(), path.broken()), (State::Unknown, None));
}

#[test]
fn what_others_have_breaks_no_leg_and_what_is_unclear_is_unknown() {
    let mut report = passing(&zone("eds"));
    report.passed.push(Passed { id: "snat-missing", subject: zone("tdemo") });
    report.findings = vec![
        found("snat-missing", Severity::Fault, zone("tdemo"), &["tdemo"]),
        found("workload-stopped", Severity::Fault, Subject::new("workload", "2040"), &[]),
        found("exit-primary-missing", Severity::Warning, zone("eds"), &[]),
    ];
    let path = Path::of(&report, Some("eds"));
    assert_eq!(state(&path, "SNAT rule"), State::Pass);
    assert_eq!(state(&path, "workload runs"), State::Unknown);
    assert_eq!(state(&path, "zone and VNet applied"), State::Weak);
    assert_eq!(Path::of(&report, None).state(), State::Fail);
}

#[test]
fn what_is_looked_at_on_a_node_that_cannot_be_asked_is_unknown_and_not_unlooked() {
    let mut report = Report { findings: Vec::new(), passed: Vec::new(), unknown: Vec::new() };
    report.findings = vec![found("exit-node-unreachable", Severity::Fault, Subject::new("node", "hv02"), &["eds"])];
    report.passed = vec![
        Passed { id: "workload-stopped", subject: zone("eds") },
        Passed { id: "uplink-down", subject: zone("eds") },
    ];
    let path = Path::of(&report, Some("eds"));
    for leg in &path.legs {
        let there = leg.leg.place == EXIT_NODE;
        assert!(!there || leg.state == State::Unknown && !leg.findings.is_empty(), "{}", leg.leg.name);
    }
    assert_eq!(state(&path, "workload runs"), State::Pass, "Proxmox VE told");
    assert_eq!(state(&path, "nothing on management"), State::NotRun);
    assert_eq!(state(&Path::of(&report, Some("tdemo")), "SNAT rule"), State::NotRun, "not of its node");
}

#[test]
fn a_fault_on_no_leg_breaks_the_path() {
    let mut report = passing(&zone("eds"));
    report.findings = vec![found("of-its-own-kind", Severity::Fault, zone("eds"), &[])];
    let path = Path::of(&report, Some("eds"));
    assert_eq!((path.state(), path.broken()), (State::Fail, None));
}
