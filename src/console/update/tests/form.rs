//! What is asked before a tenant is onboarded: what is judged while it is typed, and when the sources are read for it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::changes::orders;
use super::*;
use crate::backends::proxmox::model::Permissions;
use crate::console::change::testing::{moment, survey};
use crate::console::change::{Order, Told, form};
use crate::provision::survey::Survey;
use crate::provision::trouble::{Trouble, TroubleKind};

#[test]
fn a_form_checks_while_it_is_typed_and_leads_to_a_plan() {
    let mut m = given((80, 24));
    let asked = press(&mut m, "p");
    assert!(matches!(orders(&asked)[..], [Order::Survey { .. }]), "the sources are read at once: {asked:?}");
    assert!(orders(&press(&mut m, "enter")).is_empty(), "there is no name yet");
    let id = m.changes.count;
    update(&mut m, Msg::Change(id, Box::new(Told::Surveyed(survey()))));
    type_text(&mut m, "greenhou");
    assert!(orders(&press(&mut m, "enter")).is_empty());
    assert!(said(&m).contains("cannot go on"), "{}", said(&m));
    for _ in 0..8 {
        press(&mut m, "backspace");
    }
    type_text(&mut m, "picow");
    let asked = press(&mut m, "enter");
    let words = vec!["picow".to_owned()];
    assert!(matches!(&orders(&asked)[..], [Order::Plan { wish, .. }] if wish.words == words), "{asked:?}");
    press(&mut m, "esc");
    press(&mut m, "tab");
    type_text(&mut m, "2");
    assert!(orders(&press(&mut m, "enter")).is_empty(), "index 2 is eds'");
    press(&mut m, "backspace");
    type_text(&mut m, "6");
    for (typed, refused) in [("App", true), ("app", false)] {
        press(&mut m, "tab");
        type_text(&mut m, typed);
        let effects = press(&mut m, "enter");
        let asked = orders(&effects);
        assert_eq!(asked.is_empty(), refused, "{typed}");
        let words = ["picow", "index=6", "workload=app"].map(str::to_owned).to_vec();
        assert!(refused || matches!(&asked[..], [Order::Plan { wish, .. }] if wish.words == words), "{asked:?}");
        if refused {
            for _ in 0..3 {
                press(&mut m, "backspace");
            }
            press(&mut m, "shift-tab");
        }
    }
    press(&mut m, "esc");
    press(&mut m, "shift-tab");
    for key in ["backspace", "2"] {
        if key == "2" {
            type_text(&mut m, key)
        } else {
            press(&mut m, key);
        }
    }
    press(&mut m, "esc");
    press(&mut m, "p");
    assert_eq!(m.changes.form.as_ref().unwrap().text("index"), "2", "the draft is kept");
}

#[test]
fn a_form_on_screen_reads_its_sources_again_and_one_reading_at_a_time() {
    let mut m = given((80, 24));
    press(&mut m, "p");
    let later = |m: &mut Model, seconds: i64| update(m, Msg::Now(moment(seconds)));
    assert!(orders(&later(&mut m, 11)).is_empty(), "the first is awaited still");
    read(&mut m, |told| told.near = None);
    let effects = later(&mut m, 12);
    let asked = orders(&effects);
    assert!(matches!(asked[..], [Order::Survey { id, .. }] if *id > 1), "{asked:?}");
    read(&mut m, |told| told.near = None);
    for letter in ["p", "i", "c", "o", "w"] {
        press(&mut m, letter);
    }
    assert!(orders(&later(&mut m, 13)).is_empty(), "not while it is typed");
    let effects = later(&mut m, 14);
    let asked = orders(&effects);
    assert!(matches!(asked[..], [Order::Survey { tenant: Some(name), .. }] if name.as_str() == "picow"), "{asked:?}");
    let id = m.changes.count;
    update(&mut m, Msg::Change(id, Box::new(Told::Surveyed(survey()))));
    press(&mut m, "esc");
    assert!(orders(&later(&mut m, 40)).is_empty(), "nobody looks at the form");
}

/// What the sources say, with or without what is read for one name.
fn read(m: &mut Model, change: impl FnOnce(&mut Survey)) {
    let mut told = Survey::clone(&survey());
    change(&mut told);
    let id = m.changes.count;
    update(m, Msg::Change(id, Box::new(Told::Surveyed(Arc::new(told)))));
}

#[test]
fn what_is_read_for_one_name_is_read_once_and_stands() {
    let mut m = given((80, 24));
    press(&mut m, "p");
    read(&mut m, |told| told.near = None);
    let asked = |m: &mut Model, seconds: i64| {
        let effects = update(m, Msg::Now(moment(seconds)));
        let orders = orders(&effects);
        orders.iter().find_map(|order| match order {
            Order::Survey { tenant, .. } => Some(tenant.as_ref().map(ToString::to_string)),
            _ => None,
        })
    };
    let picow = Some(Some("picow".to_owned()));
    update(&mut m, Msg::Now(moment(5)));
    type_text(&mut m, "pico");
    update(&mut m, Msg::Now(moment(6)));
    type_text(&mut m, "w");
    assert_eq!(asked(&mut m, 7), None, "typing rests for a second only");
    assert_eq!(asked(&mut m, 8), picow);
    // What did not come whole is asked for again.
    let unknown = || Trouble::new(TroubleKind::NotReached, "10.20.99.1 does not answer");
    read(&mut m, |told| told.near.as_mut().unwrap().perimeter = Some(Err(unknown())));
    assert_eq!(asked(&mut m, 18), picow);
    read(&mut m, |_| ());
    for seconds in [28, 38] {
        assert_eq!(asked(&mut m, seconds), Some(None), "the lists alone");
        read(&mut m, |told| told.near = None);
        let form = m.changes.form.as_ref().unwrap();
        let near = form.survey.as_ref().unwrap().near.as_ref();
        assert_eq!(near.map(|near| near.tenant.to_string()), Some("picow".to_owned()));
    }
    press(&mut m, "backspace");
    type_text(&mut m, "b");
    assert_eq!(asked(&mut m, 41), Some(Some("picob".to_owned())), "another name");
}

#[test]
fn the_form_asks_for_rights_on_machines_only_where_one_is_named_and_counts_containers() {
    let mut m = given((80, 24));
    press(&mut m, "p");
    read(&mut m, |told| {
        let sdn = ["SDN.Allocate", "SDN.Audit", "SDN.Use", "Sys.Audit"].map(str::to_owned).into();
        let all = BTreeMap::from([("/".to_owned(), sdn)]);
        told.rights = Ok(Arc::new(Permissions { by_path: all.clone(), propagating: all }));
    });
    type_text(&mut m, "picow");
    let refused = |m: &Model| form::checks(m).iter().any(|check| check.class == Class::Fault);
    assert!(!refused(&m), "{:?}", form::checks(&m));
    press(&mut m, "tab");
    press(&mut m, "tab");
    type_text(&mut m, "app");
    assert!(refused(&m), "{:?}", form::checks(&m));
    let hint = |m: &Model| form::hint(m, "workload").unwrap();
    let first = hint(&m);
    assert!(first.starts_with("ordinal 0"), "{first}");
    let vmid: u32 = first.split("VM ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    press(&mut m, "esc");
    press(&mut m, "p");
    read(&mut m, |told| {
        let mut container = told.vms.as_ref().unwrap()[0].clone();
        container.vmid = vmid;
        container.name = Some("picow-old".to_owned());
        told.containers = Ok(vec![container]);
    });
    assert!(hint(&m).starts_with("ordinal 1"), "{}", hint(&m));
}
