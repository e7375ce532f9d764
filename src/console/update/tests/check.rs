//! `check` and `explain`: what is asked, what comes of it, what is too late, and the verdict that stays.

use std::time::Duration;

use super::*;
use crate::console::findings::{Came, Inquiry};
use crate::diagnose::Report;
use crate::diagnose::collect::Check;
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};
use crate::diagnose::path::LEGS;
use crate::diagnose::report::Passed;

const TOOK: Duration = Duration::from_millis(1900);

fn line(model: &mut Model, text: &str) -> Vec<Effect> {
    press(model, ":");
    type_text(model, text);
    press(model, "enter")
}

fn asked(effects: &[Effect]) -> Vec<(u64, Check, Option<&str>)> {
    let asked = effects.iter().filter_map(|effect| match effect {
        Effect::Check { id, check, tenant } => Some((*id, *check, tenant.as_deref())),
        _ => None,
    });
    asked.collect()
}

fn inquiry(model: &Model) -> &Inquiry {
    model.inquiry.as_ref().unwrap()
}

fn passing(tenants: &[&str]) -> Report {
    let of = |tenant: &&str| {
        let subject = Subject::new("zone", tenant);
        // Two legs are for pasted results alone.
        let pasted = |id: &&&str| !matches!(**id, "workload-gateway-silent" | "management-traffic-seen");
        let ids = LEGS.iter().flat_map(|leg| leg.rules).filter(pasted);
        ids.map(move |id| Passed { id, subject: subject.clone() }).collect::<Vec<_>>()
    };
    Report { findings: Vec::new(), passed: tenants.iter().flat_map(of).collect(), unknown: Vec::new() }
}

fn fault(id: &'static str, tenant: &str) -> Finding {
    Finding {
        id,
        severity: Severity::Fault,
        layer: Layer::Egress,
        subject: Subject::new("zone", tenant),
        affects: vec![tenant.to_owned()],
        title: format!("{id} of {tenant}"),
        facts: Vec::new(),
        caused_by: None,
        not_tested: Vec::new(),
        next: Vec::new(),
        evidence: vec!["001.txt".to_owned()],
    }
}

/// Several tenants, `eds` without SNAT and its gateway silent.
fn broken() -> Report {
    let findings =
        vec![fault("gateway-unreachable", "eds"), fault("snat-missing", "eds"), fault("snat-missing", "tdemo")];
    Report { findings, ..passing(&["tdemo", "eds"]) }
}

fn come(model: &mut Model, id: u64, report: Report) {
    update(model, Msg::Checked { id, report: Ok(Arc::new(report)), took: TOOK });
}

fn diagnosed(report: Report) -> Model {
    let mut m = given((120, 40));
    assert_eq!(asked(&line(&mut m, "check egress eds")), [(1, Check::Egress, Some("eds"))]);
    come(&mut m, 1, report);
    m
}

#[test]
fn a_line_asks_and_the_screen_waits_without_blocking() {
    let mut m = given((120, 40));
    let effects = line(&mut m, "check egress eds");
    assert_eq!(asked(&effects), [(1, Check::Egress, Some("eds"))]);
    let second = now() + SignedDuration::from_secs(1);
    assert!(effects.contains(&Effect::WakeAt(second)), "the wait is counted: {effects:?}");
    assert!(matches!(m.screen(), Screen::Diagnose { .. }) && inquiry(&m).is_open());
    assert!(m.probes[0].result.is_none() && m.probes[0].what == "check egress of eds");
    press(&mut m, "g t");
    assert_eq!(*m.screen(), Screen::Tenants, "keys work meanwhile");
    come(&mut m, 1, broken());
    assert!(said(&m).contains("check egress of eds: snat-missing of eds"), "{}", said(&m));
    assert!(m.probes[0].result.as_ref().is_some_and(|r| r.class == Some(Class::Fault)), "{:?}", m.probes);
}

#[test]
fn what_is_no_check_or_no_tenant_is_said_and_not_asked() {
    let mut m = given((120, 40));
    for (text, said_of_it) in [("check nothing", "egress, isolation, fabric, all"), ("check egress radi", "no tenant")]
    {
        assert_eq!(asked(&line(&mut m, text)), []);
        assert!(m.inquiry.is_none() && said(&m).contains(said_of_it), "{text}: {}", said(&m));
    }
    assert_eq!(asked(&line(&mut m, "check isolation")), [(1, Check::Isolation, None)]);
}

#[test]
fn x_checks_the_tenant_under_the_cursor() {
    let mut m = given((120, 40));
    press(&mut m, "j");
    assert_eq!(asked(&press(&mut m, "x")), [(1, Check::Egress, Some("eds"))]);
    press(&mut m, "g t");
    assert_eq!(m.board.as_deref(), Some("eds"), "left before the board had followed");
    press(&mut m, "g f");
    assert_eq!(asked(&press(&mut m, "x")), [(2, Check::Fabric, None)]);
    press(&mut m, "g a");
    assert_eq!(asked(&press(&mut m, "x")), []);
    assert!(!said(&m).is_empty());
}

#[test]
fn what_comes_of_an_older_check_is_dropped() {
    let mut m = given((120, 40));
    line(&mut m, "check egress eds");
    assert_eq!(asked(&line(&mut m, "check egress tdemo")), [(2, Check::Egress, Some("tdemo"))]);
    come(&mut m, 1, broken());
    assert!(inquiry(&m).is_open() && m.verdicts.is_empty());
    assert_eq!(m.probes[0].result.as_ref().unwrap().text, "given up by you");
    come(&mut m, 2, passing(&["tdemo"]));
    assert!(inquiry(&m).headline().is_none() && !inquiry(&m).is_open());
    let stack = m.stack.iter().filter(|s| matches!(s, Screen::Diagnose { .. })).count();
    assert_eq!(stack, 1, "one screen, whatever was asked");
}

#[test]
fn esc_gives_up_first_and_goes_back_then() {
    let mut m = given((120, 40));
    line(&mut m, "check egress eds");
    assert!(press(&mut m, "esc").contains(&Effect::StopCheck));
    assert!(matches!(m.screen(), Screen::Diagnose { .. }) && inquiry(&m).came == Came::Stopped);
    come(&mut m, 1, passing(&["eds"]));
    assert!(inquiry(&m).came == Came::Stopped && m.verdicts.is_empty(), "it was given up");
    assert!(!press(&mut m, "esc").contains(&Effect::StopCheck));
    assert_eq!(*m.screen(), Screen::Tenants);
}

#[test]
fn a_check_that_does_not_end_leaves_no_verdict() {
    let mut m = given((120, 40));
    line(&mut m, "check egress eds");
    update(&mut m, Msg::Checked { id: 1, report: Err("not done within 60s".into()), took: TOOK });
    assert_eq!(inquiry(&m).came, Came::Failed("not done within 60s".into()));
    assert!(m.verdicts.is_empty());
    assert_eq!(m.probes[0].result.as_ref().unwrap().class, Some(Class::Unknown));
    assert_eq!(asked(&press(&mut m, "r")), [(2, Check::Egress, Some("eds"))]);
}

#[test]
fn the_first_broken_leg_is_the_headline_and_others_are_left_out() {
    let m = diagnosed(broken());
    assert_eq!(inquiry(&m).headline().unwrap().id, "snat-missing");
    let ids: Vec<&str> = inquiry(&m).findings().iter().map(|f| f.id).collect();
    assert_eq!(ids, ["snat-missing", "gateway-unreachable"]);
    assert_eq!(inquiry(&m).found().unwrap().others, 1);
}

#[test]
fn the_headline_of_a_consequence_is_its_cause() {
    let cause = fault("frr-down", "eds");
    let effect = fault("vrf-default-missing", "eds").caused_by(Some(cause.key()));
    let m = diagnosed(Report { findings: vec![fault("conntrack-full", "eds"), cause, effect], ..passing(&["eds"]) });
    assert_eq!(inquiry(&m).headline().unwrap().id, "frr-down");
    let ids: Vec<&str> = inquiry(&m).findings().iter().map(|f| f.id).collect();
    assert_eq!(ids, ["frr-down", "vrf-default-missing", "conntrack-full"], "a consequence stays under its cause");
}

#[test]
fn the_verdict_of_a_tenant_stays_with_its_time() {
    let mut m = diagnosed(broken());
    let of = |m: &Model, tenant: &str| m.verdicts.get(tenant).map(|v| (v.class, v.at));
    assert_eq!(of(&m, "eds"), Some((Class::Fault, now())));
    assert_eq!(of(&m, "tdemo"), None, "only of whom was asked about");
    line(&mut m, "check isolation eds");
    come(&mut m, 2, passing(&["eds"]));
    assert_eq!(of(&m, "eds"), Some((Class::Fault, now())), "isolation says nothing of egress");
    line(&mut m, "check egress");
    let later = now() + SignedDuration::from_secs(120);
    update(&mut m, Msg::Now(later));
    come(&mut m, 3, Report { findings: vec![fault("snat-missing", "tdemo")], ..passing(&["eds", "tdemo"]) });
    assert_eq!(of(&m, "eds"), Some((Class::Fine, later)));
    assert_eq!(of(&m, "tdemo"), Some((Class::Fault, later)));
    assert_eq!(of(&m, "greenhse").map(|v| v.0), Some(Class::Unknown), "nothing was said of it");
}

#[test]
fn enter_opens_the_finding_under_the_cursor_and_esc_comes_back_to_it() {
    let mut m = diagnosed(broken());
    press(&mut m, "j");
    press(&mut m, "enter");
    let Screen::Finding { key: Some((id, _)), json: false, .. } = m.screen() else { panic!("{:?}", m.screen()) };
    assert_eq!(*id, "gateway-unreachable");
    press(&mut m, "y");
    let effects = press(&mut m, "c");
    let Some(Effect::Copy(text)) = effects.first() else { panic!("{effects:?}") };
    assert!(text.contains("\"id\": \"gateway-unreachable\""), "{text}");
    press(&mut m, "esc");
    assert_eq!(crate::console::findings::selected(&m).unwrap().id, "gateway-unreachable");
    press(&mut m, "k");
    assert_eq!(crate::console::findings::selected(&m).unwrap().id, "snat-missing");
}

#[test]
fn c_copies_markdown_and_y_shows_json() {
    let mut m = diagnosed(broken());
    let effects = press(&mut m, "c");
    let Some(Effect::Copy(text)) = effects.first() else { panic!("{effects:?}") };
    assert!(text.contains("| 7 | SNAT rule | exit node | ✗ fail |"), "{text}");
    assert!(text.contains("◇ not run here") && text.contains("- evidence: 001.txt"), "{text}");
    assert!(text.contains("Left out: 1 about other tenants."), "{text}");
    press(&mut m, "y");
    let effects = press(&mut m, "c");
    let Some(Effect::Copy(text)) = effects.first() else { panic!("{effects:?}") };
    let value: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(value["findings"].as_array().unwrap().len(), 2, "{value}");
    press(&mut m, "y");
    assert!(matches!(m.screen(), Screen::Diagnose { .. }));
}

#[test]
fn before_a_result_there_is_nothing_to_open_or_copy() {
    let mut m = given((120, 40));
    press(&mut m, "g d");
    for key in ["enter", "c", "y"] {
        assert!(press(&mut m, key).iter().all(|e| !matches!(e, Effect::Copy(_))), "{key}");
        assert!(matches!(m.screen(), Screen::Diagnose { .. }), "{key}");
    }
    assert_eq!(asked(&press(&mut m, "r")), []);
}
