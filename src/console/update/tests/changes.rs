//! Plans that are asked for, approved and run; write mode; the journal at the start.

use std::sync::Arc;

use jiff::SignedDuration;

use super::*;
use crate::console::change::testing::{
    finished, half_way, moment, offer, onboarding, shelf, trouble, unfinished, with_riders,
};
use crate::console::change::{Came, Offer, Order, Page, Shelf, State, Told, Wish, page};
use crate::provision::approve::Consent;
use crate::provision::engine::Ended;
use crate::provision::journal::ChangeId;
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::News;

pub(super) fn orders(effects: &[Effect]) -> Vec<&Order> {
    let order = |effect: &&Effect| matches!(effect, Effect::Change(_));
    effects
        .iter()
        .filter(order)
        .filter_map(|e| if let Effect::Change(order) = e { Some(order) } else { None })
        .collect()
}

pub(super) fn tell(model: &mut Model, told: Told) -> Vec<Effect> {
    let id = model.changes.count;
    update(model, Msg::Change(id, Box::new(told)))
}

/// The screen as lines of text; it counts as drawn.
pub(super) fn drawn(m: &mut Model) -> String {
    let hits = view(m).hits;
    update(m, Msg::Drawn(hits.into()));
    text(m)
}

pub(super) fn text(m: &Model) -> String {
    let screen = view(m);
    let width = usize::from(screen.buffer.area.width).max(1);
    let lines = screen.buffer.content.chunks(width);
    lines.map(|line| line.iter().map(|cell| cell.symbol()).collect::<String>() + "\n").collect()
}

/// A console with a plan on screen.
pub(super) fn planned(offer: &Arc<Offer>) -> Model {
    let mut m = given((80, 24));
    let asked =
        crate::console::change::proposal::ask(&mut m, Wish { name: "onboard", words: vec!["picow".to_owned()] });
    assert!(matches!(orders(&asked)[..], [Order::Plan { id: 1, .. }]));
    tell(&mut m, Told::Planned(Ok(Arc::clone(offer))));
    m
}

pub(super) fn run_order(effects: &[Effect]) -> Option<&Consent> {
    orders(effects).into_iter().find_map(|order| match order {
        Order::Run { consent, .. } => Some(consent),
        _ => None,
    })
}

/// A console whose plan was begun as C-0042.
fn running() -> Model {
    let mut m = planned(&offer());
    press(&mut m, "w");
    assert!(run_order(&press(&mut m, "A")).is_some());
    tell(&mut m, Told::Opened(id("C-0042")));
    m
}

pub(super) fn id(text: &str) -> ChangeId {
    text.parse().unwrap()
}

#[test]
fn nothing_runs_without_write_mode_and_enter_and_y_never_say_yes_to_what_is_shared() {
    let mut m = planned(&offer());
    assert!(orders(&press(&mut m, "A")).is_empty());
    assert!(said(&m).contains("w first"), "{}", said(&m));
    press(&mut m, "w");
    for key in ["enter", "esc", "D", "space"] {
        assert!(run_order(&press(&mut m, key)).is_none(), "{key}");
        if !matches!(page(&m), Some(Page::Plan { .. })) {
            press(&mut m, "esc");
        }
        m = planned(&offer());
        press(&mut m, "w");
    }
    assert_eq!(run_order(&press(&mut m, "A")), Some(&Consent::Dialog { typed: None }));
    assert!(matches!(m.changes.proposal.as_ref().unwrap().came, Came::Beginning));
    assert!(orders(&press(&mut m, "A")).is_empty(), "once");
}

#[test]
fn one_object_asks_for_y_and_nothing_else_is_taken_for_it() {
    let mut small = Offer::clone(&offer());
    small.preview.plan.steps.truncate(1);
    small.preview.looks.truncate(1);
    small.preview.plan.steps[0].object =
        crate::provision::object::Object::SdnVnet(crate::provision::sdn::SdnVnet { vnet: "picow0".to_owned() });
    let mut m = planned(&Arc::new(small));
    press(&mut m, "w");
    assert!(orders(&press(&mut m, "A")).is_empty());
    assert!(matches!(m.overlay, Overlay::Approve(_)));
    for key in ["enter", "A", "n", "Y", "space"] {
        assert!(orders(&press(&mut m, key)).is_empty(), "{key}");
        assert!(matches!(m.overlay, Overlay::Approve(_)), "{key}");
    }
    update(&mut m, Msg::Input(Input::Paste("y".to_owned())));
    assert!(matches!(m.overlay, Overlay::Approve(_)), "pasted text is no key");
    assert!(run_order(&press(&mut m, "y")).is_some());
    assert!(matches!(m.overlay, Overlay::None));
}

#[test]
fn where_edits_of_others_go_along_the_name_is_typed_back_and_not_pasted() {
    let mut m = planned(&with_riders());
    press(&mut m, "w");
    assert!(orders(&press(&mut m, "A")).is_empty());
    update(&mut m, Msg::Input(Input::Paste("picow".to_owned())));
    let missing = |m: &Model| match &m.overlay {
        Overlay::Approve(open) => (open.missing(), open.key(), open.said.clone()),
        _ => panic!("the question is open"),
    };
    assert!(missing(&m).2.unwrap().contains("type the name"));
    type_text(&mut m, "pico");
    assert_eq!(missing(&m), (Some("name not complete: 1 letter missing".to_owned()), None, None));
    assert!(orders(&press(&mut m, "enter")).is_empty());
    type_text(&mut m, "x");
    assert!(missing(&m).0.unwrap().contains("not the name"));
    press(&mut m, "backspace");
    type_text(&mut m, "w");
    assert_eq!(missing(&m).1, None, "nothing of it was drawn yet");
    assert!(run_order(&press(&mut m, "A")).is_none());
    drawn(&mut m);
    assert_eq!(missing(&m), (None, Some('A'), None));
    assert!(orders(&press(&mut m, "enter")).is_empty(), "enter never says yes");
    type_text(&mut m, "q");
    assert_eq!(missing(&m).1, Some('A'), "a complete name closes the field");
    assert_eq!(run_order(&press(&mut m, "A")), Some(&Consent::Dialog { typed: Some("picow".to_owned()) }));
}

#[test]
fn what_was_looked_at_five_minutes_ago_does_not_run_and_is_looked_at_again() {
    let mut m = planned(&offer());
    press(&mut m, "w");
    update(&mut m, Msg::Now(now() + SignedDuration::from_secs(301)));
    assert!(orders(&press(&mut m, "A")).is_empty());
    assert!(said(&m).contains("r looks again"), "{}", said(&m));
    assert!(matches!(orders(&press(&mut m, "r"))[..], [Order::Look { id: 2, .. }]));
    let mut newer = Offer::clone(&with_riders());
    newer.preview.at = m.now;
    tell(&mut m, Told::Planned(Ok(Arc::new(newer))));
    let Came::Moved(what) = &m.changes.proposal.as_ref().unwrap().came else { panic!("it moved") };
    assert!(what.iter().any(|what| what.contains("zone lab")), "{what:?}");
}

#[test]
fn what_moved_meanwhile_is_said_and_nothing_was_begun() {
    let mut m = planned(&offer());
    press(&mut m, "w A");
    tell(&mut m, Told::Moved(with_riders(), vec!["VNet picow0: it was not there".to_owned()]));
    assert!(m.changes.run.is_none());
    assert!(matches!(page(&m), Some(Page::Plan { .. })));
    let mut m = planned(&offer());
    press(&mut m, "w A");
    tell(&mut m, Told::Refused("the journal cannot be made".to_owned()));
    assert!(m.changes.run.is_none());
    assert!(text(&m).contains("Nothing was done: the journal cannot be made."), "{}", text(&m));
    assert!(run_order(&press(&mut m, "A")).is_some(), "it can be tried again");
}

#[test]
fn a_step_that_cannot_be_told_and_a_plan_with_nothing_to_do_do_not_run() {
    let mut untold = Offer::clone(&offer());
    untold.preview.looks[1] = Err(Trouble::new(TroubleKind::NotReached, "10.20.99.22 does not answer"));
    let mut m = planned(&Arc::new(untold));
    press(&mut m, "w");
    assert!(orders(&press(&mut m, "A")).is_empty());
    assert!(said(&m).contains("step 2 could not be told, and says why"), "{}", said(&m));
    let mut done = Offer::clone(&offer());
    done.preview.plan.steps.truncate(1);
    done.preview.looks.truncate(1);
    let mut m = planned(&Arc::new(done));
    press(&mut m, "w");
    assert!(orders(&press(&mut m, "A")).is_empty());
    assert!(said(&m).contains("nothing is to be done"), "{}", said(&m));
}

#[test]
fn write_mode_ends_by_itself_and_a_read_only_site_has_none() {
    let mut m = given((80, 24));
    press(&mut m, "w");
    assert_eq!(m.changes.minutes(m.now), Some(30));
    update(&mut m, Msg::Now(now() + SignedDuration::from_mins(29)));
    assert_eq!(m.changes.minutes(m.now), Some(1));
    assert!(m.kept.wake.unwrap() <= now() + SignedDuration::from_mins(30));
    update(&mut m, Msg::Now(now() + SignedDuration::from_mins(30)));
    assert!(m.changes.armed.is_none() && said(&m).contains("read-only again"), "{}", said(&m));
    press(&mut m, "w");
    press(&mut m, "w");
    assert!(m.changes.armed.is_none(), "again takes it back");
    m.changes.read_only = true;
    press(&mut m, "w");
    assert!(m.changes.armed.is_none() && said(&m).contains("read-only, by read_only in its site file"), "{}", said(&m));
}

#[test]
fn a_run_is_followed_whatever_is_looked_at_while_it_begins() {
    let mut m = planned(&offer());
    press(&mut m, "w A");
    let begun = m.changes.count;
    assert!(press(&mut m, "q").is_empty() || !matches!(m.overlay, Overlay::None), "it asks first");
    press(&mut m, "esc");
    press(&mut m, "r");
    run_line(&mut m, "plan undo C-0001");
    tell(&mut m, Told::Planned(Ok(offer())));
    assert!(orders(&press(&mut m, "A")).is_empty(), "one at a time");
    update(&mut m, Msg::Change(begun, Box::new(Told::Opened(id("C-0042")))));
    assert_eq!(m.changes.running().map(crate::console::change::Run::name).as_deref(), Some("C-0042"));
    assert!(matches!(page(&m), Some(Page::Plan { .. })), "what is looked at stays");
}

#[test]
fn a_run_is_followed_left_and_stopped() {
    let mut m = running();
    assert!(matches!(page(&m), Some(Page::Run { at: None })));
    for (step, news) in [News::Begun(0), News::Applied(0), News::Verified(0), News::Begun(1)].into_iter().enumerate() {
        tell(&mut m, Told::News(moment(i64::try_from(step).unwrap()), news));
    }
    tell(&mut m, Told::News(moment(4), News::Line(1, "waits".to_owned())));
    let run = m.changes.run.as_ref().unwrap();
    assert_eq!((run.current(), run.done(), &run.steps[0].state), (1, 1, &State::Verified));
    assert_eq!(run.steps[1].lines.len(), 1);
    press(&mut m, "esc");
    assert!(page(&m).is_none() && m.changes.running().is_some(), "it goes on");
    press(&mut m, "g r");
    assert!(matches!(page(&m), Some(Page::Run { .. })));
    assert!(matches!(orders(&press(&mut m, "X"))[..], [Order::Stop]));
    assert!(!press(&mut m, "q").contains(&Effect::Quit), "q asks first");
    assert!(!press(&mut m, "enter").contains(&Effect::Quit) && !press(&mut m, "q").contains(&Effect::Quit));
    assert!(press(&mut m, "y").contains(&Effect::Quit));
}

#[test]
fn ages_of_a_run_step_every_five_seconds() {
    let mut m = running();
    update(&mut m, Msg::Now(moment(7)));
    assert_eq!(m.kept.wake, Some(moment(10)));
    press(&mut m, "esc");
    assert!(m.kept.wake.unwrap() > moment(10), "nobody sees them");
}

#[test]
fn a_run_that_failed_offers_the_ways_on() {
    let mut m = running();
    tell(&mut m, Told::News(moment(1), News::Begun(2)));
    tell(&mut m, Told::News(moment(2), News::Failed(2, trouble())));
    let early = Ended::Early { step: 2, trouble: trouble() };
    let after = tell(&mut m, Told::Ended(moment(2), Ok(early)));
    assert!(matches!(orders(&after)[..], [Order::Journal]) && after.contains(&Effect::Refresh(None)));
    for (key, name) in [("1", "resume"), ("2", "undo"), ("3", "later")] {
        let mut m = m.clone();
        let asked = press(&mut m, key);
        let wish = Wish::of(name, "C-0042");
        assert!(matches!(&orders(&asked)[..], [Order::Plan { wish: asked, .. }] if *asked == wish), "{key}");
        assert!(matches!(page(&m), Some(Page::Plan { .. })));
    }
    assert!(!m.kept.wake.unwrap().eq(&moment(5)), "nothing moves any more");
}

#[test]
fn what_came_to_its_end_can_be_taken_back_and_checked() {
    let mut m = running();
    tell(&mut m, Told::Ended(moment(9), Ok(Ended::Done)));
    let undo = press(&mut m.clone(), "u");
    assert!(matches!(&orders(&undo)[..], [Order::Plan { wish, .. }] if *wish == Wish::of("undo", "C-0042")));
    let check = press(&mut m, "1");
    assert!(check.iter().any(|effect| matches!(effect, Effect::Check { tenant: Some(t), .. } if &**t == "picow")));
}

#[test]
fn a_change_that_was_cut_off_is_shown_first_and_only_once() {
    let mut m = given((80, 24));
    let asked = update(&mut m, Msg::Journal(shelf()));
    let wish = Wish::of("resume", "C-0041");
    assert!(
        matches!(&orders(&asked)[..], [Order::Plan { wish: asked, .. }] if *asked == wish),
        "NOW is read behind it"
    );
    assert!(matches!(page(&m), Some(Page::Unfinished { .. })));
    tell(&mut m, Told::Planned(Ok(half_way())));
    assert!(!press(&mut m, "q").contains(&Effect::Quit));
    assert!(said(&m).contains("still holds the SDN lock"), "{}", said(&m));
    assert!(press(&mut m, "q").contains(&Effect::Quit));
    press(&mut m, "esc");
    assert!(page(&m).is_none());
    assert!(orders(&update(&mut m, Msg::Journal(shelf()))).is_empty() && page(&m).is_none());
    run_line(&mut m, "resume");
    assert!(matches!(page(&m), Some(Page::Unfinished { .. })));
}

#[test]
fn what_another_console_runs_is_not_offered() {
    let mut m = given((80, 24));
    let shelf = Shelf { entries: vec![unfinished(), finished()], running: vec![id("C-0041")], bad: Vec::new() };
    assert!(orders(&update(&mut m, Msg::Journal(Arc::new(shelf)))).is_empty() && page(&m).is_none());
    run_line(&mut m, "resume");
    assert!(said(&m).contains("no change is open"), "{}", said(&m));
}

#[test]
fn the_journal_has_its_cursor_on_a_change() {
    let mut m = given((80, 24));
    update(&mut m, Msg::Journal(Arc::new(Shelf { entries: vec![finished()], ..Shelf::default() })));
    assert!(matches!(orders(&press(&mut m, "g j"))[..], [Order::Journal]));
    update(&mut m, Msg::Journal(shelf()));
    press(&mut m, "down");
    let undo = press(&mut m, "u");
    assert!(matches!(&orders(&undo)[..], [Order::Plan { wish, .. }] if *wish == Wish::of("undo", "C-0040")));
    run_line(&mut m, "undo nonsense");
    assert!(said(&m).contains("no change of this site"), "{}", said(&m));
}

#[test]
fn any_plan_can_be_asked_for_by_its_name() {
    let mut m = given((80, 24));
    let asked = run_line(&mut m, "plan onboard picow index=6");
    let wish = Wish { name: "onboard", words: vec!["picow".to_owned(), "index=6".to_owned()] };
    assert!(matches!(&orders(&asked)[..], [Order::Plan { wish: asked, .. }] if *asked == wish), "{asked:?}");
    assert!(orders(&run_line(&mut m, "plan onbord picow")).is_empty());
    assert!(said(&m).contains("did you mean") || said(&m).contains("onboard"), "{}", said(&m));
}

#[test]
fn a_tenant_that_was_made_is_checked_and_handed_over() {
    let mut m = planned(&onboarding());
    press(&mut m, "w");
    press(&mut m, "A");
    tell(&mut m, Told::Opened("C-0042".parse().unwrap()));
    let ended = tell(&mut m, Told::Ended(moment(43), Ok(Ended::Done)));
    let checks = |effects: &[Effect]| {
        effects.iter().any(|e| matches!(e, Effect::Check { tenant: Some(of), .. } if **of == *"picow"))
    };
    assert!(checks(&ended), "{ended:?}");
    assert!(matches!(page(&m), Some(Page::Run { .. })), "the check is told on the same page");
    // It is not in the picture yet.
    press(&mut m, "2");
    assert!(said(&m).contains("picow is not in the picture yet"), "{}", said(&m));

    // Somebody who waits for a check is not disturbed; a plan that checks nothing as a whole is not checked.
    let mut busy = planned(&onboarding());
    press(&mut busy, "w");
    press(&mut busy, "A");
    crate::console::findings::begin(&mut busy, crate::diagnose::collect::Check::Egress, None);
    assert!(!checks(&tell(&mut busy, Told::Ended(moment(43), Ok(Ended::Done)))));
    let mut other = planned(&offer());
    press(&mut other, "w");
    press(&mut other, "A");
    assert!(!checks(&tell(&mut other, Told::Ended(moment(43), Ok(Ended::Done)))));
}
