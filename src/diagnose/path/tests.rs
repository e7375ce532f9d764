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
    Report { passed, ..Report::default() }
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
fn a_leg_of_which_nothing_was_read_is_unknown_and_not_run_only_where_a_workload_alone_sees_it() {
    let guests = LEGS.iter().filter(|leg| leg.place == WORKLOAD).count();
    let all_dark = |path: &Path<'_>| (path.count(State::NotRun), path.count(State::Unknown));
    let dark = (guests, LEGS.len() - guests);
    let path_of = |report: &Report| all_dark(&Path::of(report, Some("eds")));
    let empty = Report::default();
    assert_eq!(path_of(&empty), dark);
    assert_eq!(Path::of(&empty, None).state(), State::Unknown);
    assert_eq!(path_of(&passing(&zone("eds"))), (0, 0));
    let mut shared = passing(&Subject::new("node", "hv02"));
    assert_eq!(path_of(&shared), dark, "nothing names the tenant");
    assert_eq!(Path::of(&shared, Some("eds")).state(), State::Unknown);
    shared.passed.push(Passed { id: "inter-tenant-leak", subject: zone("eds") });
    assert_eq!(path_of(&shared), (0, 0));
    assert_eq!(path_of(&passing(&zone("tdemo"))), dark, "another tenant's pass is no pass");
    assert_eq!(path_of(&passing(&Subject::new("workload", "2040"))), dark, "whose is it?");
}

#[test]
fn what_the_site_gives_nothing_to_test_with_is_not_run() {
    let empty = Report::default();
    let why = Untested::from([("internet answers", "no address".to_owned())]);
    let path = Path::so_far(&empty, Some("eds"), &[], &why);
    assert_eq!(state(&path, "internet answers"), State::NotRun);
    let healthy = passing(&zone("eds"));
    let path = Path::so_far(&healthy, Some("eds"), &[], &why);
    assert_eq!(state(&path, "internet answers"), State::Pass);
}

#[test]
fn a_rule_that_looks_at_one_thing_beside_the_leg_does_not_pass_it() {
    for leg in &LEGS {
        assert!(leg.decide.iter().all(|id| leg.rules.contains(id)) && !leg.decide.is_empty(), "{}", leg.name);
    }
    let mut report = Report::default();
    let node = || Subject::new("node", "hv02");
    report.passed = vec![Passed { id: "rp-filter-drops", subject: node() }];
    assert_eq!(state(&Path::of(&report, None), "transit forwards"), State::Unknown);
    report.passed.push(Passed { id: "transit-forwarding-off", subject: node() });
    assert_eq!(state(&Path::of(&report, None), "transit forwards"), State::Pass);
}

#[test]
fn a_source_that_answers_nothing_is_told_on_every_leg_that_hangs_on_it() {
    let mut report = Report::default();
    let dead = found("source-unreachable", Severity::Fault, Subject::new("source", "Proxmox VE"), &[]);
    report.findings = vec![Finding { layer: Layer::Access, ..dead }];
    for tenant in [None, Some("eds")] {
        let path = Path::of(&report, tenant);
        for leg in path.legs.iter().filter(|leg| leg.leg.place != WORKLOAD) {
            let told = leg.findings.iter().any(|f| f.id == "source-unreachable");
            assert!(leg.state == State::Unknown && told, "{}", leg.leg.name);
        }
        assert_eq!((path.state(), path.broken()), (State::Unknown, None));
    }
}

#[test]
fn a_missing_input_is_unknown_whatever_else_passed() {
    let mut report = passing(&zone("eds"));
    report.unknown.push(Unknown { missing: "the NAT rules".into(), why: None, ids: vec!["snat-missing"], about: None });
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
    let report = Report {
        findings: vec![found("exit-node-unreachable", Severity::Fault, Subject::new("node", "hv02"), &["eds"])],
        passed: vec![
            Passed { id: "workload-stopped", subject: zone("eds") },
            Passed { id: "uplink-down", subject: zone("eds") },
        ],
        ..Report::default()
    };
    let path = Path::of(&report, Some("eds"));
    for leg in &path.legs {
        let there = leg.leg.place == EXIT_NODE;
        assert!(!there || leg.state == State::Unknown && !leg.findings.is_empty(), "{}", leg.leg.name);
    }
    assert_eq!(state(&path, "workload runs"), State::Pass, "Proxmox VE told");
    assert_eq!(state(&path, "nothing on management"), State::NotRun);
    let of_another = Path::of(&report, Some("tdemo"));
    let snat = of_another.legs.iter().find(|leg| leg.leg.name == "SNAT rule").unwrap();
    assert!(snat.state == State::Unknown && snat.findings.is_empty(), "not of its node");
}

#[test]
fn a_fault_on_no_leg_breaks_the_path() {
    let mut report = passing(&zone("eds"));
    report.findings = vec![found("of-its-own-kind", Severity::Fault, zone("eds"), &[])];
    let path = Path::of(&report, Some("eds"));
    assert_eq!((path.state(), path.broken()), (State::Fail, None));
}
