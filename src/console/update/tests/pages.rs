//! What an approver has to read, what pages say, and what is left of them afterwards.

use std::sync::Arc;

use super::changes::{drawn, id, orders, planned, run_order, tell, text};
use super::*;
use crate::console::change::testing::{far_reaching, moment, offer, onboarding, survey};
use crate::console::change::{Offer, Page, Told, Wish, form, page};
use crate::provision::engine::Ended;
use crate::provision::fields::Wanted;
use crate::provision::object::Object;
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::News;

/// A plan that reaches further than a screen shows.
fn far(lines: usize) -> Arc<Offer> {
    let mut far = Offer::clone(&far_reaching());
    let reach = far.preview.plan.reach.as_mut().unwrap();
    reach.destroyed = (0..lines).map(|n| format!("disk scsi{n}")).collect();
    reach.noticed = vec!["the last who notice".to_owned()];
    Arc::new(far)
}

#[test]
fn a_name_runs_nothing_before_all_that_it_reaches_was_on_screen() {
    for size in [(80, 24), (72, 20), (120, 40)] {
        let offer = far(60);
        let name = offer.preview.plan.subject.name.clone();
        let mut m = planned(&offer);
        update(&mut m, Msg::Input(Input::Resize { width: size.0, height: size.1 }));
        press(&mut m, "w A");
        let first = drawn(&mut m);
        assert!(first.contains("pgdn goes on") && !first.contains("who notice"), "{first}");
        type_text(&mut m, &name);
        let seen = drawn(&mut m);
        assert!(seen.contains("read all that it reaches first"), "{seen}");
        for key in ["A", "D", "y", "enter"] {
            assert!(run_order(&press(&mut m, key)).is_none(), "{key}");
        }
        // Whoever jumps to the end has not seen the middle.
        press(&mut m, "end");
        drawn(&mut m);
        let closed = |m: &Model| matches!(&m.overlay, Overlay::Approve(open) if open.key().is_none());
        assert!(closed(&m));
        press(&mut m, "home");
        let mut all = drawn(&mut m);
        while closed(&m) {
            let before = all.len();
            press(&mut m, "pgdn");
            all.push_str(&drawn(&mut m));
            assert!(before < 60_000, "it comes to its end");
        }
        for n in 0..60 {
            assert!(all.contains(&format!("disk scsi{n} ")), "disk scsi{n} was passed over at {size:?}");
        }
        assert!(all.contains("the last who notice"), "{all}");
        let Overlay::Approve(open) = &m.overlay else { panic!("the question is open") };
        let yes = open.key().unwrap().to_string();
        assert!(run_order(&press(&mut m, &yes)).is_some());
    }
}

/// At another width the lines are other lines: as many of them are not the same ones.
#[test]
fn what_was_read_at_one_width_is_not_what_stands_there_at_another() {
    let mut far = Offer::clone(&far(0));
    let long = |n| {
        format!("disk scsi{n} of a machine whose name is so long that a narrow screen breaks its row in two of them")
    };
    far.preview.plan.reach.as_mut().unwrap().destroyed = (0..40).map(long).collect();
    let name = far.preview.plan.subject.name.clone();
    let mut m = planned(&Arc::new(far));
    let resize = |m: &mut Model, width, height| {
        update(m, Msg::Input(Input::Resize { width, height }));
        drawn(m)
    };
    resize(&mut m, 80, 24);
    press(&mut m, "w A");
    drawn(&mut m);
    type_text(&mut m, &name);
    let mut read = String::new();
    while !read.contains("scsi24 ") {
        press(&mut m, "pgdn");
        read = drawn(&mut m);
        assert!(!read.contains("scsi39 "), "not all of it is read: {read}");
    }
    press(&mut m, "home");
    drawn(&mut m);
    let wide = resize(&mut m, 160, 24);
    assert!(!wide.contains("scsi39 "), "{wide}");
    let is_read = |m: &Model| matches!(&m.overlay, Overlay::Approve(open) if open.read);
    assert!(!is_read(&m), "the last of it was never shown");
    for _ in 0..10 {
        press(&mut m, "pgdn");
        drawn(&mut m);
    }
    assert!(is_read(&m));
}

/// What was just said takes no row of a page that is to be read: the page is that of a lower screen.
#[test]
fn a_long_notice_makes_the_page_shorter_and_says_where_it_is_cut() {
    let word = "said ";
    for (rows, times) in [(1, 1), (2, 20), (3, 39), (3, 200)] {
        let mut m = planned(&far_reaching());
        let mut at = |height: u16, said: Option<usize>| -> Vec<String> {
            update(&mut m, Msg::Input(Input::Resize { width: 72, height }));
            m.notice = said.map(|times| Notice::info(word.repeat(times).trim()));
            text(&m).lines().map(str::to_owned).collect()
        };
        let (with, lower) = (at(23, Some(times)), at(24 - rows, None));
        let end = usize::from(22 - rows);
        assert_eq!(with[2..end], lower[2..end], "{times}");
        let told = with[end..22].concat();
        assert_eq!(told.matches(word.trim()).count() == times, times < 200, "{told}");
        assert_eq!(told.contains('…'), times == 200, "{told}");
    }
}

#[test]
fn every_screen_has_room_for_a_long_notice() {
    for line in
        ["tenants", "overview", "fabric", "activity", "sources", "workloads", "vrfs", "records", "rules", "checkins"]
    {
        let mut m = given((72, 20));
        run_line(&mut m, line);
        press(&mut m, "enter");
        m.notice = Some(Notice::info("said ".repeat(200).trim()));
        let told = text(&m);
        assert!(told.lines().nth(18).is_some_and(|row| row.contains('…')), "{line}: {told}");
    }
}

#[test]
fn an_onboarding_that_is_done_leaves_a_fresh_form_and_a_stopped_one_its_draft() {
    let done = Told::Ended(moment(43), Ok(Ended::Done));
    let why = Trouble::new(TroubleKind::Stopped, "stopped before this step");
    let stopped = Told::Ended(moment(43), Ok(Ended::Early { step: 3, trouble: why }));
    for (ended, name, left) in [(done.clone(), "picow", ""), (stopped, "picow", "picow"), (done, "other", "other")] {
        let mut m = given((80, 24));
        press(&mut m, "p");
        type_text(&mut m, name);
        crate::console::change::proposal::ask(&mut m, Wish::of("onboard", "picow"));
        tell(&mut m, Told::Planned(Ok(onboarding())));
        press(&mut m, "w A");
        tell(&mut m, Told::Opened(id("C-0042")));
        tell(&mut m, ended);
        assert_eq!(m.changes.form.as_ref().unwrap().text("name"), left);
        press(&mut m, "esc");
        assert_eq!(matches!(page(&m), Some(Page::Form)), !left.is_empty(), "nobody comes back to an empty form");
    }
}

#[test]
fn a_form_that_is_emptied_under_the_eyes_asks_its_sources_anew() {
    let mut m = given((80, 24));
    press(&mut m, "p");
    *m.changes.form.as_mut().unwrap() = crate::console::change::Form::default();
    let asked = update(&mut m, Msg::Now(moment(1)));
    assert!(matches!(orders(&asked)[..], [crate::console::change::Order::Survey { .. }]), "{asked:?}");
}

#[test]
fn the_first_workload_keeps_the_number_of_the_guest_that_has_its_name() {
    let mut m = given((80, 24));
    press(&mut m, "p");
    let mut told = crate::provision::survey::Survey::clone(&survey());
    let numbering = &m.picture().unwrap().site.numbering;
    let index = crate::site::numbering::TenantIndex::new(7).unwrap();
    let third = numbering.vmid(index, 3).unwrap();
    let mut guest = told.vms.as_ref().unwrap()[0].clone();
    (guest.vmid, guest.name) = (third, Some("picow-app".to_owned()));
    told.vms.as_mut().unwrap().push(guest);
    let order = m.changes.count;
    update(&mut m, Msg::Change(order, Box::new(Told::Surveyed(Arc::new(told)))));
    type_text(&mut m, "picow");
    press(&mut m, "tab");
    type_text(&mut m, "7");
    press(&mut m, "tab");
    type_text(&mut m, "app");
    let hint = form::hint(&m, "workload").unwrap();
    assert!(hint.starts_with(&format!("ordinal 3 · VM {third} ")) && hint.ends_with("is there"), "{hint}");
    type_text(&mut m, "2");
    let other = form::hint(&m, "workload").unwrap();
    assert!(!other.starts_with("ordinal 3") && !other.ends_with("is there"), "another name is another guest: {other}");
}

#[test]
fn what_is_typed_into_a_field_is_text_whatever_it_is_a_key_for() {
    let mut m = given((80, 24));
    press(&mut m, "p");
    type_text(&mut m, "q?:HAX1w/ gj");
    assert_eq!(m.changes.form.as_ref().unwrap().fields[0].value(), "q?:HAX1w/ gj");
    assert!(matches!(page(&m), Some(Page::Form)) && matches!(m.overlay, Overlay::None) && m.changes.armed.is_none());
}

#[test]
fn a_sheet_of_a_tenant_that_is_being_made_says_what_it_waits_for() {
    let mut m = planned(&onboarding());
    press(&mut m, "H");
    assert!(said(&m).contains("no tenant before this plan ran"), "{}", said(&m));
    press(&mut m, "w A");
    tell(&mut m, Told::Opened(id("C-0042")));
    tell(&mut m, Told::News(moment(2), News::Begun(4)));
    press(&mut m, "H");
    let total = onboarding().preview.plan.steps.len();
    assert!(said(&m).contains(&format!("waits for the end of C-0042, which is at step 5 of {total}")), "{}", said(&m));
    let why = Trouble::new(TroubleKind::Stopped, "stopped");
    tell(&mut m, Told::Ended(moment(43), Ok(Ended::Early { step: 4, trouble: why })));
    press(&mut m, "H");
    assert!(said(&m).contains("C-0042 did not come to its end"), "{}", said(&m));
}

#[test]
fn words_that_a_command_has_no_use_for_are_refused_with_its_form() {
    let mut m = given((80, 24));
    for (line, word, form) in [
        (
            "plan record-set tdemo www value=10.20.129.10 vaue=1",
            "\"vaue=1\" is too much",
            "record-set TENANT NAME value=VALUE",
        ),
        ("plan workload-delete tdemo/app now", "\"now\" is too much", "workload-delete TENANT/NAME"),
        ("plan sdn-apply all", "\"all\" is too much", "sdn-apply"),
        ("plan onboard picow index=6 index=7", "\"index=7\" is too much", "onboard TENANT [index=N]"),
        ("plan record-set tdemo", "NAME is missing", "record-set TENANT NAME"),
        ("plan record-set tdemo www", "value=VALUE… is missing", "record-set TENANT NAME"),
        ("onboard picow now", "\"now\" is too much", "onboard [NAME]"),
        ("undo C-0041 now", "\"now\" is too much", "undo [CHANGE]"),
        ("go tenants now", "\"now\" is too much", "go PLACE"),
    ] {
        assert!(orders(&run_line(&mut m, line)).is_empty(), "{line}");
        assert!(said(&m).contains(word) && said(&m).contains(form), "{line}: {}", said(&m));
    }
    let two = "plan record-set tdemo www value=10.20.129.10 value=10.20.129.11 ttl=60";
    assert!(matches!(orders(&run_line(&mut m, two))[..], [crate::console::change::Order::Plan { .. }]), "{}", said(&m));
}

#[test]
fn what_is_answered_and_does_not_fit_a_row_is_read_whole_in_rows_of_its_own() {
    let mut m = given((80, 24));
    run_line(&mut m, "plan record-set tdemo www value=10.20.129.10 vaue=1");
    assert!(text(&m).contains("[key-file=FILE]"), "{}", text(&m));
}

#[test]
fn every_form_of_a_plan_takes_what_it_shows() {
    for maker in crate::provision::plans::table::MAKERS {
        let all: Vec<String> =
            maker.form.split_whitespace().map(|part| part.trim_matches(['[', ']', '…']).to_owned()).collect();
        assert_eq!(maker.accepts(&all), Ok(()), "{}", maker.name);
        assert!(maker.accepts(&[all, vec!["more".to_owned()]].concat()).is_err(), "{}", maker.name);
    }
}

#[test]
fn what_is_asked_back_ends_with_one_sign() {
    let mut m = given((80, 24));
    crate::console::change::proposal::ask(&mut m, Wish::of("record-set", "tdemo"));
    let why = Trouble::new(TroubleKind::Refused, "which name?").with_help("write TENANT NAME");
    tell(&mut m, Told::Planned(Err(why)));
    assert!(text(&m).contains("There is no plan: which name? Write TENANT NAME."), "{}", text(&m));
}

#[test]
fn a_step_that_was_not_seen_is_named_once() {
    let mut m = planned(&offer());
    press(&mut m, "w A");
    tell(&mut m, Told::Opened(id("C-0042")));
    let name = offer().preview.plan.steps[1].object.ensure().name();
    let unseen =
        Trouble::new(TroubleKind::NotSeen, format!("{name} is not there, though the answer was that it is made"));
    tell(&mut m, Told::News(moment(2), News::Begun(1)));
    tell(&mut m, Told::News(moment(3), News::Failed(1, unseen.clone())));
    tell(&mut m, Told::Ended(moment(3), Ok(Ended::Early { step: 1, trouble: unseen })));
    let said = text(&m).lines().nth(3).unwrap_or_default().to_owned();
    assert!(said.contains(&format!("step 2 on PVE: {name} is not there, though")), "{said}");
}

#[test]
fn what_keeps_a_plan_from_running_is_under_the_cursor() {
    let mut refused = Offer::clone(&offer());
    let why = Trouble::new(TroubleKind::Refused, "picow still has VM 2240 picow-app").with_help("delete it first");
    refused.preview.looks[1] = Err(why);
    let mut m = planned(&Arc::new(refused));
    assert!(matches!(page(&m), Some(Page::Plan { at: 1 })));
    let seen = text(&m);
    assert!(seen.contains("✗ in the way") && seen.contains("In the way: picow still has VM 2240 picow-app."), "{seen}");
    press(&mut m, "w A");
    assert!(said(&m).contains("step 2 is in the way, and says what helps"), "{}", said(&m));
}

#[test]
fn from_a_step_of_a_run_that_is_over_esc_goes_back_to_what_it_came_to() {
    let mut m = planned(&onboarding());
    press(&mut m, "w A");
    tell(&mut m, Told::Opened(id("C-0042")));
    tell(&mut m, Told::Ended(moment(43), Ok(Ended::Done)));
    press(&mut m, "up");
    assert!(matches!(page(&m), Some(Page::Run { at: Some(_) })));
    assert!(text(&m).contains("esc back to the whole"), "{}", text(&m));
    press(&mut m, "esc");
    assert!(matches!(page(&m), Some(Page::Run { at: None })));
    press(&mut m, "esc");
    assert!(page(&m).is_none());
}

#[test]
fn what_write_mode_says_is_what_the_key_does() {
    let mut m = planned(&offer());
    press(&mut m, "w");
    assert_eq!(said(&m), "write mode for 30 min: A runs the plan that is shown, or asks first");
    let doc = |name: &str| crate::console::commands::find(name).unwrap().doc;
    assert!(doc("write").contains("how far it reaches decides"), "{}", doc("write"));
    assert!(doc("apply").contains("its key is the answer, and nothing more is asked"), "{}", doc("apply"));
    assert!(run_order(&press(&mut m, "A")).is_some() && matches!(m.overlay, Overlay::None), "danger 3, shared");
}

#[test]
fn a_tenant_that_is_gone_is_not_said_to_be_unchecked() {
    let gone = |gone: bool| {
        let mut m = planned(&offer());
        press(&mut m, "w A");
        tell(&mut m, Told::Opened(id("C-0042")));
        let run = m.changes.run.as_mut().unwrap();
        let mut taken = Offer::clone(&run.offer);
        let zones = taken.preview.plan.steps.iter_mut();
        for step in zones.filter(|step| gone && matches!(step.object, Object::SdnZone(_))) {
            step.wanted = Wanted::Absent;
        }
        run.offer = Arc::new(taken);
        tell(&mut m, Told::Ended(moment(43), Ok(Ended::Done)));
        text(&m).contains("not run since")
    };
    assert!(gone(false) && !gone(true));
}
