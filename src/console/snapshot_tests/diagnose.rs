//! A check on screen: running, all well, a fault with its consequence, an input missing, given up; one finding; the
//! verdict on the board.

use std::time::Duration;

use jiff::SignedDuration;

use super::*;
use crate::console::findings;
use crate::diagnose::Report;
use crate::diagnose::collect::Check;
use crate::diagnose::finding::{Finding, Layer, Severity, Subject, Unknown};
use crate::diagnose::path::LEGS;
use crate::diagnose::report::Passed;

fn asking(size: (u16, u16), check: Check) -> Model {
    let mut model = tenants(testing::healthy(), size);
    findings::ask(&mut model, check, Some("eds".into()));
    update(&mut model, Msg::Now(testing::now() + SignedDuration::from_secs(2)));
    model
}

fn come(mut model: Model, report: Report) -> Model {
    let took = Duration::from_millis(1900);
    update(&mut model, Msg::Checked { id: 1, report: Ok(Arc::new(report)), took });
    model
}

fn zone() -> Subject {
    Subject::new("zone", "eds")
}

/// What the exit node and SDN say, and nothing of workloads and of the firewall.
fn passing(except: &[&str]) -> Report {
    let legs = LEGS.iter().skip(2).take(7).flat_map(|leg| leg.rules.iter().take(3));
    let passed = legs.filter(|id| !except.contains(id)).map(|id| Passed { id, subject: zone() }).collect();
    Report { findings: Vec::new(), passed, unknown: Vec::new() }
}

fn finding(id: &'static str, subject: Subject, title: &str) -> Finding {
    Finding {
        id,
        severity: Severity::Fault,
        layer: Layer::Egress,
        subject,
        affects: vec!["eds".to_owned(), "tdemo".to_owned()],
        title: title.to_owned(),
        facts: Vec::new(),
        caused_by: None,
        not_tested: Vec::new(),
        next: Vec::new(),
        evidence: Vec::new(),
    }
}

/// FRR is down and took the default route along; another tenant has a fault of its own.
fn broken() -> Report {
    let frr = finding("frr-down", Subject::new("node", "dv02hyp002p02"), "FRR on dv02hyp002p02 does not run (failed).")
        .fact("frr.unit", "dv02hyp002p02", "failed")
        .not_tested("whether it starts: that would be a change")
        .next("restart-frr", 3, "start FRR on the exit node and look at its log")
        .command("systemctl restart frr")
        .resting_on("030-dv02hyp002p02-exit-node.txt");
    let route = finding(
        "vrf-default-missing",
        zone(),
        "The VRF of tenant eds has no default route, so that nothing of it leaves by the transit segment.",
    )
    .fact("vrf.default", "dv02hyp002p02/eds", "none")
    .caused_by(Some(frr.key()));
    let other =
        Finding { affects: vec!["tdemo".into()], ..finding("snat-missing", Subject::new("zone", "tdemo"), "no SNAT") };
    Report { findings: vec![frr, route, other], ..passing(&["frr-down", "vrf-default-missing"]) }
}

fn unread() -> Report {
    let ids = vec!["snat-missing", "snat-wrong-source"];
    let why = Some("sudo: a password is required".to_owned());
    let missing = Unknown { missing: "the NAT rules of dv02hyp002p02".to_owned(), why, ids };
    Report { unknown: vec![missing], ..passing(&["snat-missing", "snat-wrong-source"]) }
}

#[test]
fn a_check_in_each_state() {
    for size in [COMPACT, DESIGN] {
        check(&asking(size, Check::Egress), "diagnose", "running");
        check(&come(asking(size, Check::Egress), passing(&[])), "diagnose", "pass");
        check(&come(asking(size, Check::Egress), broken()), "diagnose", "fault");
        check(&come(asking(size, Check::Egress), unread()), "diagnose", "unknown");
        let mut stopped = asking(size, Check::Egress);
        findings::stop(&mut stopped);
        check(&stopped, "diagnose", "cancelled");
    }
}

#[test]
fn one_finding_in_full() {
    for size in [COMPACT, DESIGN] {
        let mut model = come(asking(size, Check::Egress), broken());
        update::run_line(&mut model, "open");
        check(&refreshed(model), "diagnose", "finding");
    }
}

#[test]
fn the_board_says_the_last_verdict() {
    let mut model = come(asking(DESIGN, Check::Egress), broken());
    model.show(Screen::Board { tenant: "eds".into() });
    check(&refreshed(model), "diagnose", "verdict");
}
