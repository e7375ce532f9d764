//! `resolve`: what is asked, what comes of it, and what is too late.

use super::*;
use crate::console::resolve::Question;
use crate::diagnose::resolve::{Column, ControlOutcome, Expected, Heard, Outcome, Vantage};

fn column(vantage: Vantage) -> Heard {
    let failed = Outcome::Failed { why: "nobody listens".into(), help: "look".into() };
    let controls = vec![ControlOutcome::NotAsked("not asked"); 2];
    Heard::Column(Column {
        vantage,
        asked: "10.20.50.1".into(),
        how: "recursion, udp".into(),
        outcome: failed,
        controls,
    })
}

fn derived() -> Heard {
    Heard::Expected(Expected::Values { values: vec!["10.20.129.10".into()], because: "index 1, ordinal 0".into() })
}

fn line(model: &mut Model, text: &str) -> Vec<Effect> {
    press(model, ":");
    type_text(model, text);
    press(model, "enter")
}

fn asked(effects: &[Effect]) -> Vec<(u64, String)> {
    let asked = effects.iter().filter_map(|effect| match effect {
        Effect::Resolve { id, target } => Some((*id, format!("{} {}", target.name, target.kind))),
        _ => None,
    });
    asked.collect()
}

fn question(model: &Model) -> &Question {
    model.question.as_ref().unwrap()
}

fn come(model: &Model) -> usize {
    question(model).found.heard().count()
}

#[test]
fn a_line_asks_and_the_answers_come_one_by_one() {
    let mut m = given((120, 40));
    let effects = line(&mut m, "resolve tdemo/app");
    assert_eq!(asked(&effects), [(1, "app.tdemo.mobile.deevnet.net A".to_owned())]);
    assert_eq!(*m.screen(), Screen::Resolve { scroll: 0 });
    assert!(m.probes[0].result.is_none() && m.probes[0].what.contains("app.tdemo.mobile.deevnet.net A"));
    for (n, vantage) in Vantage::ALL.into_iter().enumerate() {
        assert_eq!(come(&m), n);
        assert!(question(&m).is_open());
        update(&mut m, Msg::Heard(1, Box::new(column(vantage))));
    }
    assert!(question(&m).is_open(), "what is derived is not there yet");
    update(&mut m, Msg::Heard(1, Box::new(derived())));
    assert!(!question(&m).is_open());
    assert_eq!(m.probes[0].result.as_ref().unwrap().text, "not everybody answered");
}

#[test]
fn what_was_unknown_when_it_was_asked_is_derived_from_the_next_picture() {
    let mut m = given((120, 40));
    line(&mut m, "resolve tdemo/app");
    let unknown = Expected::Unknown { why: "address of VMID 9101: not read yet".into() };
    update(&mut m, Msg::Heard(1, Box::new(Heard::Expected(unknown.clone()))));
    for vantage in Vantage::ALL {
        update(&mut m, Msg::Heard(1, Box::new(column(vantage))));
    }
    let expected = |m: &Model| question(m).found.expected.clone();
    assert_eq!(expected(&m), Some(unknown));
    update(&mut m, Msg::Inventory(healthy()));
    assert!(matches!(expected(&m), Some(Expected::Values { values, .. }) if values == ["10.20.129.10"]));
    // What was known is of the moment of the answers, and stays.
    let own = Expected::Values { values: vec!["10.20.129.99".into()], because: "of that moment".into() };
    update(&mut m, Msg::Heard(1, Box::new(Heard::Expected(own.clone()))));
    update(&mut m, Msg::Inventory(healthy()));
    assert_eq!(expected(&m), Some(own));
}

#[test]
fn what_comes_of_an_older_question_is_dropped() {
    let mut m = given((120, 40));
    line(&mut m, "resolve tdemo/app");
    let effects = line(&mut m, "resolve 10.20.129.10");
    assert_eq!(asked(&effects), [(2, "10.129.20.10.in-addr.arpa PTR".to_owned())]);
    update(&mut m, Msg::Heard(1, Box::new(column(Vantage::Perimeter))));
    assert_eq!(come(&m), 0);
    update(&mut m, Msg::Heard(2, Box::new(column(Vantage::Perimeter))));
    assert_eq!(come(&m), 1);
    let stack = m.stack.iter().filter(|s| matches!(s, Screen::Resolve { .. })).count();
    assert_eq!(stack, 1, "one screen, whatever was asked");
    assert_eq!(m.probes[0].result.as_ref().unwrap().text, "given up by you");
}

#[test]
fn esc_gives_up_first_and_goes_back_then() {
    let mut m = given((120, 40));
    line(&mut m, "resolve tdemo/app");
    update(&mut m, Msg::Heard(1, Box::new(column(Vantage::Host))));
    assert!(press(&mut m, "esc").contains(&Effect::StopResolve));
    assert!(matches!(m.screen(), Screen::Resolve { .. }) && question(&m).stopped && !question(&m).is_open());
    update(&mut m, Msg::Heard(1, Box::new(derived())));
    assert!(!matches!(question(&m).found.expected, Some(Expected::Values { .. })), "it was given up");
    assert!(!press(&mut m, "esc").contains(&Effect::StopResolve));
    assert_eq!(*m.screen(), Screen::Tenants);
}

#[test]
fn r_asks_again_and_c_copies_markdown() {
    let mut m = given((120, 40));
    line(&mut m, "resolve tdemo/app PTR");
    assert_eq!(asked(&press(&mut m, "r")), [(2, "app.tdemo.mobile.deevnet.net PTR".to_owned())]);
    update(&mut m, Msg::Heard(2, Box::new(column(Vantage::Authoritative))));
    let effects = press(&mut m, "c");
    let Some(Effect::Copy(text)) = effects.first() else { panic!("{effects:?}") };
    assert!(text.starts_with("**app.tdemo.mobile.deevnet.net PTR**"), "{text}");
    assert!(text.contains("| AUTHORITATIVE | 10.20.50.1 | recursion, udp | no answer |"), "{text}");
    assert!(text.contains("- authoritative: nobody listens (look)"), "{text}");
    assert!(text.contains("| PERIMETER |  |  | not answered yet |"), "{text}");
}

#[test]
fn a_row_is_asked_for_by_its_name() {
    let mut m = given((120, 40));
    press(&mut m, "tab");
    let effects = press(&mut m, "R");
    assert_eq!(asked(&effects), [(1, "app.tdemo.mobile.deevnet.net A".to_owned())]);
    press(&mut m, "g t");
    assert_eq!(asked(&press(&mut m, "R")), [(2, "tdemo.mobile.deevnet.net SOA".to_owned())]);
    press(&mut m, "g s");
    assert_eq!(asked(&press(&mut m, "R")), []);
    assert!(said(&m).contains("no name to ask for"), "{}", said(&m));
}

#[test]
fn what_is_no_name_is_said_and_not_asked() {
    let mut m = given((120, 40));
    for text in ["resolve a..b", "resolve tdemo/app ANY", "resolve 10.20.129.10 TXT", "resolve tde_mo/app"] {
        assert_eq!(asked(&line(&mut m, text)), []);
        assert!(m.question.is_none() && !said(&m).is_empty(), "{text}");
    }
}

#[test]
fn the_wait_is_counted_while_it_is_shown() {
    let mut m = given((120, 40));
    let effects = line(&mut m, "resolve tdemo/app");
    let second = now() + SignedDuration::from_secs(1);
    assert!(effects.contains(&Effect::WakeAt(second)), "{effects:?}");
    update(&mut m, Msg::Now(second));
    let effects = press(&mut m, "g t");
    assert!(!effects.contains(&Effect::WakeAt(second + SignedDuration::from_secs(1))), "{effects:?}");
}
