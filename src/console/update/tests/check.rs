//! `check` and `explain`: what is asked, what comes of it, what is too late, and the verdict that stays.

use std::time::Duration;

use super::*;
use crate::console::findings::{Came, Inquiry};
use crate::console::model::Spot;
use crate::diagnose::collect::{Check, Wanted};
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};
use crate::diagnose::parts::Part;
use crate::diagnose::path::{LEGS, State};
use crate::diagnose::report::Passed;
use crate::diagnose::{Diagnosis, Report};

pub(super) const TOOK: Duration = Duration::from_millis(1900);

pub(super) fn line(model: &mut Model, text: &str) -> Vec<Effect> {
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

pub(super) fn inquiry(model: &Model) -> &Inquiry {
    model.inquiry.as_ref().unwrap()
}

pub(super) fn passing(tenants: &[&str]) -> Report {
    let of = |tenant: &&str| {
        let subject = Subject::new("zone", tenant);
        // Two legs are for pasted results alone.
        let pasted = |id: &&&str| !matches!(**id, "workload-gateway-silent" | "management-traffic-seen");
        let ids = LEGS.iter().flat_map(|leg| leg.rules).filter(pasted);
        ids.map(move |id| Passed { id, subject: subject.clone() }).collect::<Vec<_>>()
    };
    Report { passed: tenants.iter().flat_map(of).collect(), ..Report::default() }
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
pub(super) fn broken() -> Report {
    let findings =
        vec![fault("gateway-unreachable", "eds"), fault("snat-missing", "eds"), fault("snat-missing", "tdemo")];
    Report { findings, ..passing(&["tdemo", "eds"]) }
}

/// What the check of the model comes to with `report`.
pub(super) fn judged(model: &Model, report: Report) -> Diagnosis {
    let asked = inquiry(model);
    let seen = ["leaves by transit", "internet answers"].map(|leg| (leg, "seen".to_owned())).into();
    Diagnosis { seen, ..Diagnosis::of_report(&Wanted::of(asked.check, asked.tenant.as_deref()), report) }
}

fn come(model: &mut Model, id: u64, report: Report) {
    let diagnosis = Ok(Arc::new(judged(model, report)));
    update(model, Msg::Checked { id, diagnosis, took: TOOK });
}

pub(super) fn diagnosed(report: Report) -> Model {
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
    for (text, said_of_it) in [
        ("check nothing", "egress, dns, isolation, keys, perimeter, fabric, workload, contract, access, all"),
        ("check egress radi", "no tenant"),
    ] {
        assert_eq!(asked(&line(&mut m, text)), []);
        assert!(m.inquiry.is_none() && said(&m).contains(said_of_it), "{text}: {}", said(&m));
    }
    assert_eq!(asked(&line(&mut m, "check isolation")), [(1, Check::Isolation, None)]);
}

#[test]
fn keys_are_tried_when_asked_for_alone_and_it_is_remembered() {
    use crate::diagnose::collect::Wanted;
    let mut m = given((120, 40));
    assert_eq!(asked(&line(&mut m, "check keys eds")), [(1, Check::Keys, Some("eds"))]);
    assert_eq!(m.probes[0].what, "check keys of eds");
    for check in Check::ALL {
        assert_eq!(Wanted::of(check, None).keys, check == Check::Keys, "{check:?}");
    }
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
    assert_eq!(m.probes[0].result.as_ref().unwrap().text, "given up by you");
    let late = Arc::new(judged(&m, broken()));
    update(&mut m, Msg::Checking { id: 1, diagnosis: late, took: TOOK });
    assert!(inquiry(&m).found().is_none(), "what was on its way is not news any more");
    // What came until then is judged.
    let diagnosis = Diagnosis { given_up: Some("given up by you".into()), ..judged(&m, passing(&["eds"])) };
    update(&mut m, Msg::Checked { id: 1, diagnosis: Ok(Arc::new(diagnosis)), took: TOOK });
    assert_eq!(inquiry(&m).came, Came::Ended);
    assert!(crate::console::findings::sentence(inquiry(&m), now()).1.starts_with("given up by you"));
    assert!(!press(&mut m, "esc").contains(&Effect::StopCheck));
    assert_eq!(*m.screen(), Screen::Tenants);
}

#[test]
fn a_check_that_does_not_end_leaves_no_verdict() {
    let mut m = given((120, 40));
    line(&mut m, "check egress eds");
    update(&mut m, Msg::Checked { id: 1, diagnosis: Err("it ended by itself".into()), took: TOOK });
    assert_eq!(inquiry(&m).came, Came::Failed("it ended by itself".into()));
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
    assert_eq!(inquiry(&m).diagnosis().unwrap().others, 1);
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

fn at(m: &Model) -> Spot {
    crate::console::findings::spot(m).unwrap()
}

#[test]
fn enter_opens_the_evidence_under_the_cursor_and_esc_comes_back_to_it() {
    let mut m = diagnosed(broken());
    assert_eq!(at(&m), Spot::Leg(6), "the first broken leg has the cursor");
    press(&mut m, "j");
    assert_eq!(at(&m), Spot::Leg(7));
    for _ in 0..6 {
        press(&mut m, "j");
    }
    let Spot::Finding((id, _)) = at(&m) else { panic!("{:?}", at(&m)) };
    assert_eq!(id, "gateway-unreachable", "findings come after the legs");
    press(&mut m, "enter");
    let Screen::Evidence { spot: Some(Spot::Finding((id, _))), lines, .. } = m.screen() else {
        panic!("{:?}", m.screen())
    };
    assert_eq!(*id, "gateway-unreachable");
    assert!(lines[0].plain().contains("gateway-unreachable of eds"), "{lines:?}");
    press(&mut m, "y");
    let effects = press(&mut m, "c");
    let Some(Effect::Copy(text)) = effects.first() else { panic!("{effects:?}") };
    assert!(text.contains("\"id\": \"gateway-unreachable\""), "{text}");
    press(&mut m, "y");
    press(&mut m, "esc");
    assert!(matches!(m.screen(), Screen::Diagnose { .. }));
    assert_eq!(crate::console::findings::selected(&m).unwrap().id, "gateway-unreachable");
}

#[test]
fn legs_come_one_by_one_and_what_is_awaited_says_so() {
    let mut m = given((120, 40));
    line(&mut m, "check egress eds");
    assert!(inquiry(&m).legs().is_empty(), "nothing has come");
    let open = vec![Part::Tried("hv02".into()), Part::Perimeter];
    let diagnosis = Arc::new(Diagnosis { open, ..judged(&m, broken()) });
    update(&mut m, Msg::Checking { id: 1, diagnosis, took: TOOK });
    let states: Vec<State> = inquiry(&m).legs().iter().map(|row| row.state).collect();
    assert_eq!(states[2..5], [State::Pass; 3], "{states:?}");
    assert_eq!(states[5..11], [State::Asking; 6], "{states:?}");
    assert_eq!(states[11], State::NotRun);
    let sentence = crate::console::findings::sentence(inquiry(&m), now());
    assert_eq!(sentence.0, Class::Progress, "a fault of a leg that is still asked is not told yet: {sentence:?}");
    assert!(sentence.1.contains("probes on hv02, the firewall"), "{sentence:?}");
    assert!(m.verdicts.is_empty() && m.probes[0].result.is_none(), "not before the end");
    press(&mut m, "j");
    press(&mut m, "enter");
    let first = |m: &Model| match m.screen() {
        Screen::Evidence { lines, .. } => lines[0].plain(),
        other => panic!("{other:?}"),
    };
    let before = first(&m);
    come(&mut m, 1, broken());
    assert_eq!(inquiry(&m).headline().unwrap().id, "snat-missing");
    press(&mut m, "esc");
    assert_eq!(at(&m), Spot::Leg(1), "the cursor stays where it was put");
    press(&mut m, "enter");
    assert!(before.starts_with("leg 2") && first(&m).starts_with("leg 2"), "{before}");
}

#[test]
fn the_cursor_stays_where_it_was_when_the_same_is_checked_again() {
    let mut m = diagnosed(broken());
    press(&mut m, "j");
    press(&mut m, "r");
    assert_eq!(at(&m), Spot::Leg(7));
    come(&mut m, 2, broken());
    assert_eq!(at(&m), Spot::Leg(7));
    line(&mut m, "check egress tdemo");
    come(&mut m, 3, passing(&["tdemo"]));
    assert_eq!(at(&m), Spot::Leg(0), "another check begins at its beginning");
}

#[test]
fn counters_and_flows_of_the_tenant_are_read_while_its_path_is_on_screen() {
    let mut m = given((120, 40));
    let demand = |m: &mut Model| {
        let effects = draw(m);
        effects.into_iter().find_map(|effect| if let Effect::Demand(demand) = effect { Some(demand) } else { None })
    };
    demand(&mut m);
    line(&mut m, "check egress eds");
    let asked = demand(&mut m).unwrap();
    let flows: Vec<String> = asked.flows.iter().map(ToString::to_string).collect();
    assert!(asked.live_counters && flows == ["10.20.130.0/24"], "{asked:?}");
    press(&mut m, "F");
    assert!(matches!(m.screen(), Screen::Diagnose { .. }) && said(&m).contains("has counted"), "{}", said(&m));
    press(&mut m, "g t");
    let after = demand(&mut m).unwrap();
    assert!(!after.live_counters && after.flows.is_empty());
}

#[test]
fn a_numbered_step_copies_its_command_and_says_what_has_none() {
    let mut m = given((120, 40));
    line(&mut m, "check egress eds");
    let mut report = broken();
    report.findings[1] =
        report.findings[1].clone().next("look", 0, "look at it").next("apply", 3, "apply SDN").command("pvesh set /x");
    come(&mut m, 1, report);
    assert_eq!(press(&mut m, "2").first(), Some(&Effect::Copy("pvesh set /x".into())));
    assert!(press(&mut m, "1").iter().all(|e| !matches!(e, Effect::Copy(_))));
    assert!(said(&m).contains("look at it (danger 0); there is no command for it"), "{}", said(&m));
    press(&mut m, "9");
    assert!(said(&m).contains("there is no step 9 here, only 1 to 2"), "{}", said(&m));
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

#[test]
fn a_name_is_checked_where_nobody_can_tell_whether_there_is_such_a_tenant() {
    let mut m = given((120, 40));
    assert!(asked(&line(&mut m, "check egress nobody")).is_empty(), "{}", said(&m));
    let inv = m.inv.as_mut().map(Arc::make_mut).unwrap();
    inv.tenants.clear();
    inv.tenants_gap = Some(crate::inventory::Gap::new(crate::inventory::GapKind::NoAnswer, "no answer"));
    assert_eq!(asked(&line(&mut m, "check egress nobody")), [(1, Check::Egress, Some("nobody"))]);
    assert!(asked(&line(&mut m, "check egress No-Tenant;")).is_empty(), "no name of a tenant: {}", said(&m));
}
