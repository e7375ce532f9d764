//! A check on screen: running, all well, a fault with its consequence, an input missing, given up; one finding; the
//! verdict on the board.

use std::time::Duration;

use jiff::SignedDuration;

use super::*;
use crate::backends::exit_node::model::{Tracked, TrackedFlow};
use crate::console::findings;
use crate::diagnose::collect::{Check, Wanted};
use crate::diagnose::evidence::{Evidence, Item, Kind};
use crate::diagnose::finding::{Finding, Layer, Severity, Subject, Unknown};
use crate::diagnose::parts::Part;
use crate::diagnose::path::LEGS;
use crate::diagnose::report::Passed;
use crate::diagnose::{Diagnosis, OneNode, Report};

const TOOK: Duration = Duration::from_millis(1900);

fn asking(size: (u16, u16), check: Check) -> Model {
    let mut inv = testing::healthy();
    for vrf in Arc::make_mut(&mut inv).vrfs.iter_mut().filter(|vrf| &*vrf.tenant == "eds") {
        vrf.tracked = Some(Ok(tracked()));
    }
    let mut model = tenants(inv, size);
    findings::ask(&mut model, check, Some("eds".into()));
    update(&mut model, Msg::Now(testing::now() + SignedDuration::from_secs(2)));
    model
}

fn tracked() -> Tracked {
    let flow = |state: Option<&str>, sport, unreplied| TrackedFlow {
        protocol: if state.is_some() { "tcp" } else { "udp" }.to_owned(),
        state: state.map(str::to_owned),
        src: [10, 20, 130, 10].into(),
        sport: Some(sport),
        dst: [192, 0, 2, 80].into(),
        dport: Some(443),
        reply_dst: [10, 20, 50, 22].into(),
        unreplied,
    };
    let listed = vec![flow(Some("ESTABLISHED"), 50410, false), flow(None, 40001, true)];
    Tracked { total: 12, unreplied: 3, listed }
}

pub(super) fn come(mut model: Model, report: Report) -> Model {
    let diagnosis = Ok(Arc::new(judged(&model, report)));
    update(&mut model, Msg::Checked { id: 1, diagnosis, took: TOOK });
    model
}

fn judged(model: &Model, report: Report) -> Diagnosis {
    let asked = model.inquiry.as_ref().expect("a check");
    let evidence = Arc::new(Evidence { question: None, items: items() });
    let untested = [("internet answers", "needs an address to try: `internet` in the site file".to_owned())].into();
    let seen = [("leaves by transit", "a packet to 198.51.100.1 leaves by vmbr0.50".to_owned())].into();
    Diagnosis {
        evidence,
        untested,
        seen,
        ..Diagnosis::of_report(&Wanted::of(asked.check, asked.tenant.as_deref()), report)
    }
}

fn item(file: &str, line: &str, body: &str) -> Item {
    Item {
        file: file.to_owned(),
        from: "dv02hyp002p02".to_owned(),
        kind: Kind::Command { line: line.to_owned(), exit: Some(0) },
        at: Some(testing::now()),
        took: Some(Duration::from_millis(31)),
        body: body.to_owned(),
        stderr: String::new(),
        empty: false,
    }
}

fn items() -> Vec<Item> {
    let frame = "%deevnet-exit-node 1 2\nunit 3 7 0\n\nfailed\n%end\n";
    vec![
        item(
            "030-dv02hyp002p02-exit-node.txt",
            "deevnet-exit-node read out.eds.eds0/198.51.100.1/10.20.130.10/eds0",
            frame,
        ),
        item(
            "031-dv02hyp002p02-ping.txt",
            "ping -n -c 3 -I 10.20.50.22 10.20.50.1",
            "3 packets transmitted, 3 received",
        ),
    ]
}

fn zone() -> Subject {
    Subject::new("zone", "eds")
}

/// What the exit node and SDN say, and nothing of workloads and of the firewall.
pub(super) fn passing(except: &[&str]) -> Report {
    let seen = LEGS
        .iter()
        .filter(|leg| !matches!(leg.name, "workload → bridge" | "internet answers" | "nothing on management"));
    let legs = seen.flat_map(|leg| leg.decide.iter().take(3));
    let passed = legs.filter(|id| !except.contains(id)).map(|id| Passed { id, subject: zone() }).collect();
    Report { passed, ..Report::default() }
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
pub(super) fn broken() -> Report {
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
    let missing = Unknown { missing: "the NAT rules of dv02hyp002p02".to_owned(), why, ids, about: None };
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
        check(&stopped, "diagnose", "stopping");
        let why = "given up by you";
        let missing = Unknown {
            missing: "what probes on dv02hyp002p02 had not answered".into(),
            why: Some(why.into()),
            ids: LEGS
                .iter()
                .skip(5)
                .filter(|leg| !leg.awaits.is_empty())
                .flat_map(|leg| leg.rules.iter().copied())
                .collect(),
            about: None,
        };
        let report = Report { unknown: vec![missing], ..passing(&[]) };
        let diagnosis = Diagnosis { given_up: Some(why.into()), ..judged(&stopped, report) };
        update(&mut stopped, Msg::Checked { id: 1, diagnosis: Ok(Arc::new(diagnosis)), took: TOOK });
        check(&stopped, "diagnose", "given-up");
    }
}

#[test]
fn legs_that_came_and_legs_that_are_awaited() {
    for size in [COMPACT, DESIGN] {
        let mut model = asking(size, Check::Egress);
        let open = vec![Part::Tried("dv02hyp002p02".into()), Part::Perimeter];
        let diagnosis = Arc::new(Diagnosis { open, ..judged(&model, broken()) });
        update(&mut model, Msg::Checking { id: 1, diagnosis, took: TOOK });
        check(&model, "diagnose", "coming");
    }
}

#[test]
fn legs_on_two_exit_nodes() {
    for size in [COMPACT, DESIGN] {
        let model = asking(size, Check::Egress);
        let node = |name: &str, primary, whole, seen: &[(&'static str, &str)]| OneNode {
            name: name.into(),
            primary,
            whole,
            open: Vec::new(),
            untested: std::collections::BTreeMap::new(),
            seen: seen.iter().map(|(leg, text)| (*leg, (*text).to_owned())).collect(),
        };
        let gone = finding("snat-missing", zone(), "SNAT is asked for by tenant eds, and hv03 has no rule for it.")
            .fact("snat.rule", "hv03/eds", "none")
            .next("apply-sdn", 3, "look at the dry run, then apply SDN");
        let lacks = Report { findings: vec![gone], ..passing(&["snat-missing"]) };
        let nodes = vec![
            node("hv02", true, passing(&[]), &[("SNAT rule", "to 10.20.50.22 by vmbr0.50, 1 rule")]),
            node("hv03", false, lacks.clone(), &[]),
        ];
        let diagnosis = Ok(Arc::new(Diagnosis { nodes, ..judged(&model, lacks) }));
        let mut model = model;
        update(&mut model, Msg::Checked { id: 1, diagnosis, took: TOOK });
        check(&model, "diagnose", "two-nodes");
    }
}

#[test]
fn what_a_leg_rests_on_in_full() {
    for size in [COMPACT, DESIGN] {
        let mut model = come(asking(size, Check::Egress), broken());
        update::run_line(&mut model, "open");
        update::run_line(&mut model, "search failed");
        check(&model, "diagnose", "evidence");
        update::run_line(&mut model, "save-bundle");
        check(&model, "diagnose", "save");
        let mut model = come(asking(size, Check::Egress), broken());
        update::run_line(&mut model, "flows");
        check(&model, "diagnose", "flows");
    }
}

#[test]
fn the_floor_ascii_and_without_colour() {
    check(&come(asking((72, 20), Check::Egress), broken()), "diagnose", "fault");
    for (name, depth, ascii) in [("ascii", Depth::True, true), ("mono", Depth::None, false)] {
        let mut model = come(asking(COMPACT, Check::Egress), broken());
        model.look = look("dark", depth, ascii);
        check(&model, "diagnose", name);
    }
    let mut model = come(asking(DESIGN, Check::Egress), broken());
    model.look = look("light", Depth::True, false);
    check(&model, "diagnose", "light");
}

#[test]
fn the_board_says_the_last_verdict() {
    let mut model = come(asking(DESIGN, Check::Egress), broken());
    model.show(Screen::Board { tenant: "eds".into() });
    check(&refreshed(model), "diagnose", "verdict");
}

#[test]
fn clauses_of_the_contract() {
    let dead = Finding {
        layer: Layer::Access,
        ..finding("source-unreachable", Subject::new("source", "Proxmox VE"), "Proxmox VE does not answer.")
    };
    let unread = Report { findings: vec![dead], passed: Vec::new(), ..Report::default() };
    for size in [COMPACT, DESIGN] {
        check(&come(asking(size, Check::Contract), passing(&["snat-missing"])), "diagnose", "contract");
        check(&come(asking(size, Check::Contract), unread.clone()), "diagnose", "contract-unread");
    }
}

#[test]
fn a_directory_too_long_for_the_prompt() {
    let mut model = come(asking(COMPACT, Check::Egress), passing(&[]));
    model.bundles = Some(format!("/srv/{}/bundles", "deep/".repeat(20)).into());
    findings::start_saving(&mut model);
    check(&model, "save", "long");
    let Overlay::Save { field, .. } = &model.overlay else { panic!("{:?}", model.overlay) };
    let dir = field.value().to_owned();
    findings::save(&mut model, &dir);
    let why = "/srv/full holds something already; name a directory that is empty, or is not there yet";
    update(&mut model, Msg::Saved { dir: dir.into(), result: Err(why.to_owned()) });
    check(&model, "save", "refused");
}
