//! What holds for every run, whatever its objects are.

use proptest::prelude::*;

use super::*;
use crate::provision::approve::{Consent, Refusal};
use crate::provision::fields::{Fields, Wanted, fields};
use crate::provision::journal::{Entry, Journal};
use crate::provision::object::Danger;
use crate::provision::plan::{Plan, Question};
use crate::provision::testing::{Fault, plan, role, thing, unstopped, world};
use crate::provision::undo::way_back;

fn who() -> Who {
    Who { user: "operator".to_owned(), host: "console".to_owned(), pid: 1 }
}

fn consent() -> Consent {
    Consent::Dialog { typed: Some("tdemo".to_owned()) }
}

fn present(id: &str) -> Step {
    Step::present(thing(id), fields([("tag", "1")]))
}

/// A lock, two objects that are staged under it, and what applies them.
fn onboarding() -> Plan {
    let apply = role("apply", "apply", Danger::Shared);
    let lock = Step::present(role("lock", "lock", Danger::One), fields([("by", "us")]));
    plan(vec![lock, present("zone"), present("vnet"), Step::present(apply, Fields::new()).following()])
}

struct Site {
    world: Arc<World>,
    journal: Journal,
    _dir: tempfile::TempDir,
}

impl Site {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        Self { world: world(), journal: Journal::in_state(dir.path()), _dir: dir }
    }

    async fn approved(&self, plan: Plan) -> Result<ApprovedPlan, Refusal> {
        let preview = plan.preview(&self.world, Default::default()).await;
        ApprovedPlan::of(preview, &self.world.site, &consent(), (self.world.clock)())
    }

    async fn run(&self, plan: Plan) -> Ended {
        let approved = self.approved(plan).await.expect("approved");
        let change = self.journal.begin(&who(), approved.plan(), (self.world.clock)()).expect("a change");
        let (_keep, stop) = unstopped();
        let listener: Listener = Arc::new(|_| ());
        Engine::new(approved, change, &self.world, &listener, &stop).run(&who()).await
    }

    /// Takes up the newest change.
    async fn resume(&self) -> Ended {
        let id = *self.journal.ids().expect("ids").last().expect("a change");
        let (entry, change) = self.journal.take_up(id).expect("nobody has it");
        let preview = entry.plan.preview(&self.world, change.notes.clone()).await;
        let approved = ApprovedPlan::of(preview, &self.world.site, &consent(), (self.world.clock)()).expect("approved");
        let (_keep, stop) = unstopped();
        let listener: Listener = Arc::new(|_| ());
        Engine::new(approved, change, &self.world, &listener, &stop).run(&who()).await
    }

    fn entry(&self) -> Entry {
        self.journal.read(*self.journal.ids().expect("ids").last().expect("a change")).expect("an entry")
    }
}

fn early(ended: &Ended) -> (usize, TroubleKind) {
    match ended {
        Ended::Early { step, trouble } => (*step, trouble.kind),
        Ended::Done => panic!("it came to its end"),
    }
}

#[tokio::test]
async fn a_plan_runs_once_and_its_second_run_is_empty() {
    let site = Site::new();
    assert_eq!(site.run(plan(vec![present("a"), present("b")])).await, Ended::Done);
    assert_eq!(site.world.bench.done(), ["+a", "+b"]);
    assert_eq!(site.entry().closed(), Some(Closing::Done));
    let again = plan(vec![present("a"), present("b")]).preview(&site.world, Default::default()).await;
    assert!(again.is_empty());
    assert_eq!(again.question(), Question::Nothing);
    assert_eq!(site.run(plan(vec![present("a"), present("b")])).await, Ended::Done);
    assert_eq!(site.world.bench.done().len(), 2, "nothing was done twice");
}

#[tokio::test]
async fn an_answer_that_got_lost_costs_a_look_and_never_a_second_object() {
    for (fault, tries) in [(Fault::AnswerLost, 1), (Fault::Late(2), 1), (Fault::NotReached, 1), (Fault::Lost, 1)] {
        let site = Site::new();
        site.world.bench.fail("a", &[fault]);
        assert_eq!(site.run(plan(vec![present("a")])).await, Ended::Done, "{fault:?}");
        assert_eq!(site.world.bench.done().len(), tries, "{fault:?}: {:?}", site.world.bench.done());
    }
}

#[tokio::test]
async fn a_refusal_ends_the_run_at_once_and_an_empty_yes_is_not_believed() {
    let site = Site::new();
    site.world.bench.fail("b", &[Fault::Refused]);
    let ended = site.run(plan(vec![present("a"), present("b"), present("c")])).await;
    assert_eq!(early(&ended), (1, TroubleKind::Refused));
    assert_eq!(site.world.bench.done(), ["+a"]);
    assert_eq!(site.entry().closed(), None);
    assert_eq!(site.resume().await, Ended::Done);
    assert_eq!(site.world.bench.done(), ["+a", "+b", "+c"]);

    let site = Site::new();
    site.world.bench.fail("a", &[Fault::Empty]);
    assert_eq!(early(&site.run(plan(vec![present("a")])).await), (0, TroubleKind::NotSeen));
}

#[tokio::test]
async fn what_moved_since_the_plan_was_shown_is_not_touched() {
    let site = Site::new();
    site.world.bench.put("a", fields([("tag", "5")]));
    let approved = site.approved(plan(vec![present("a")])).await.expect("approved");
    site.world.bench.put("a", fields([("tag", "6")]));
    let change = site.journal.begin(&who(), approved.plan(), (site.world.clock)()).expect("a change");
    let (_keep, stop) = unstopped();
    let listener: Listener = Arc::new(|_| ());
    let ended = Engine::new(approved, change, &site.world, &listener, &stop).run(&who()).await;
    assert_eq!(early(&ended), (0, TroubleKind::Moved));
    let Ended::Early { trouble, .. } = ended else { return };
    assert!(trouble.text.contains("tag was \"5\" and is \"6\""), "{trouble}");
    assert!(site.world.bench.done().is_empty());
}

#[tokio::test]
async fn what_others_staged_goes_along_only_with_the_name_typed() {
    let site = Site::new();
    site.world.bench.put("lab", fields([("staged", "yes")]));
    let preview = onboarding().preview(&site.world, Default::default()).await;
    assert_eq!(preview.riders(), ["lab"]);
    assert!(matches!(preview.question(), Question::Name(_)));
    let now = (site.world.clock)();
    let untyped = ApprovedPlan::of(preview, &site.world.site, &Consent::Dialog { typed: None }, now);
    assert!(matches!(untyped, Err(Refusal::NameNeeded { .. })));

    // What comes after the plan was shown was not approved.
    let site = Site::new();
    let approved = site.approved(onboarding()).await.expect("approved");
    site.world.bench.put("late", fields([("staged", "yes")]));
    let change = site.journal.begin(&who(), approved.plan(), now).expect("a change");
    let (_keep, stop) = unstopped();
    let listener: Listener = Arc::new(|_| ());
    let ended = Engine::new(approved, change, &site.world, &listener, &stop).run(&who()).await;
    assert_eq!(early(&ended), (3, TroubleKind::Moved));
    assert!(!site.world.bench.there().contains_key("lock"), "the lock is given back");
}

#[tokio::test]
async fn a_run_that_ends_early_keeps_no_lock_and_one_that_was_cut_gives_it_back_when_it_is_taken_up() {
    let site = Site::new();
    site.world.bench.fail("vnet", &[Fault::Refused]);
    assert_eq!(early(&site.run(onboarding()).await), (2, TroubleKind::Refused));
    assert!(!site.world.bench.there().contains_key("lock"));

    let site = Site::new();
    site.world.bench.fail("vnet", &[Fault::Hangs]);
    let cut = tokio::time::timeout(std::time::Duration::from_millis(200), site.run(onboarding())).await;
    assert!(cut.is_err(), "it was cut");
    assert!(site.world.bench.there().contains_key("lock"), "nobody gave it back");
    assert_eq!(site.resume().await, Ended::Done);
    assert!(!site.world.bench.there().contains_key("lock"));
    assert_eq!(site.world.bench.there().keys().collect::<Vec<_>>(), ["vnet", "zone"]);
}

#[tokio::test]
async fn a_stop_lets_the_request_in_flight_end_and_begins_no_other() {
    let site = Site::new();
    let approved = site.approved(onboarding()).await.expect("approved");
    let change = site.journal.begin(&who(), approved.plan(), (site.world.clock)()).expect("a change");
    let (ask, stop) = unstopped();
    let ask = Arc::new(ask);
    let listener: Listener = Arc::new(move |news| {
        if news == News::Applied(1) {
            ask.send(true).ok();
        }
    });
    let ended = Engine::new(approved, change, &site.world, &listener, &stop).run(&who()).await;
    assert_eq!(early(&ended), (2, TroubleKind::Stopped));
    assert_eq!(site.world.bench.done(), ["+lock", "+zone"]);
    assert!(!site.world.bench.there().contains_key("lock"));
    assert!(site.entry().lines.iter().any(|line| line.record == Record::Interrupted { step: 2 }));
    assert_eq!(site.resume().await, Ended::Done);
}

#[tokio::test]
async fn a_request_that_never_ends_is_left_when_its_time_is_over_after_a_stop() {
    let site = Site::new();
    site.world.bench.fail("zone", &[Fault::Hangs]);
    let approved = site.approved(onboarding()).await.expect("approved");
    let change = site.journal.begin(&who(), approved.plan(), (site.world.clock)()).expect("a change");
    let (ask, stop) = unstopped();
    ask.send(false).ok();
    let ask = Arc::new(ask);
    let asking = Arc::clone(&ask);
    let listener: Listener = Arc::new(move |news| {
        if news == News::Begun(1) {
            let asking = Arc::clone(&asking);
            tokio::spawn(async move { asking.send(true).ok() });
        }
    });
    let ended = Engine::new(approved, change, &site.world, &listener, &stop).run(&who()).await;
    assert_eq!(early(&ended), (1, TroubleKind::Stopped));
}

#[tokio::test]
async fn nothing_is_done_that_cannot_be_told_or_is_not_allowed() {
    let site = Site::new();
    site.world.bench.untold("b", true);
    let refused = site.approved(plan(vec![present("a"), present("b")])).await.expect_err("untold");
    assert!(matches!(&refused, Refusal::Untold { number: 2, .. }), "{refused}");

    let preview = plan(vec![present("a")]).preview(&site.world, Default::default()).await;
    let mut here = (*site.world.site).clone();
    let now = (site.world.clock)();
    let flags = |write, yes| Consent::Flags { write, yes, confirm: None };
    for (write, yes) in [(false, false), (false, true), (true, false)] {
        let answer = ApprovedPlan::of(preview.clone(), &here, &flags(write, yes), now);
        assert!(matches!(answer, Err(Refusal::Unasked(_))));
    }
    let later = now + jiff::SignedDuration::from_mins(6);
    assert!(matches!(ApprovedPlan::of(preview.clone(), &here, &flags(true, true), later), Err(Refusal::Old(_))));
    here.read_only = true;
    let answer = ApprovedPlan::of(preview.clone(), &here, &flags(true, true), now);
    assert!(matches!(answer, Err(Refusal::ReadOnly(_))));
    here.name = "home".to_owned();
    assert!(matches!(ApprovedPlan::of(preview, &here, &flags(true, true), now), Err(Refusal::OtherSite { .. })));
}

#[tokio::test]
async fn what_is_final_needs_its_name_and_is_told_as_what_stays() {
    let site = Site::new();
    site.world.bench.put("disk", fields([("size", "32G")]));
    let final_plan = || plan(vec![Step::absent(role("disk", "final", Danger::Final))]);
    let preview = final_plan().preview(&site.world, Default::default()).await;
    let now = (site.world.clock)();
    for typed in [None, Some("tdem".to_owned()), Some("TDEMO".to_owned())] {
        let answer = ApprovedPlan::of(preview.clone(), &site.world.site, &Consent::Dialog { typed }, now);
        assert!(matches!(answer, Err(Refusal::NameNeeded { .. })));
    }
    assert_eq!(site.run(final_plan()).await, Ended::Done);
    assert_eq!(way_back(&site.entry()).left, [("thing disk".to_owned(), "what it held is gone")]);
}

#[tokio::test]
async fn a_change_is_taken_back_last_first_under_its_lock_and_applied_again() {
    let site = Site::new();
    site.world.bench.put("vnet", fields([("alias", "by hand")]));
    assert_eq!(site.run(onboarding()).await, Ended::Done);
    let back = way_back(&site.entry());
    let names: Vec<String> = back.plan.steps.iter().map(|step| step.object.ensure().name()).collect();
    assert_eq!(names, ["thing lock", "thing vnet", "thing zone", "thing apply"]);
    assert_eq!(back.plan.steps.get(1).map(|s| &s.wanted), Some(&Wanted::Present(fields([("tag", "")]))));
    assert_eq!(site.run(back.plan).await, Ended::Done);
    assert_eq!(site.world.bench.there().keys().collect::<Vec<_>>(), ["vnet"]);
    assert_eq!(site.world.bench.there().get("vnet"), Some(&fields([("alias", "by hand")])));
}

#[tokio::test]
async fn a_lock_that_cannot_be_given_back_keeps_the_change_open() {
    let site = Site::new();
    site.world.bench.fail("free lock", &[Fault::NotReached; 3]);
    let ended = site.run(onboarding()).await;
    assert_eq!(early(&ended), (3, TroubleKind::NotReached));
    assert_eq!(site.entry().closed(), None);
    assert!(site.world.bench.there().contains_key("lock"));
    assert_eq!(site.resume().await, Ended::Done);
    assert!(!site.world.bench.there().contains_key("lock"));
}

#[tokio::test]
async fn what_others_stage_between_two_tries_does_not_go_along() {
    let site = Site::new();
    site.world.bench.fail("apply", &[Fault::Lost]);
    let approved = site.approved(onboarding()).await.expect("approved");
    let change = site.journal.begin(&who(), approved.plan(), (site.world.clock)()).expect("a change");
    let (_keep, stop) = unstopped();
    let bench = site.world.bench.clone();
    let listener: Listener = Arc::new(move |news| {
        if matches!(news, News::Line(3, _)) {
            bench.put("lab", fields([("staged", "yes")]));
        }
    });
    let ended = Engine::new(approved, change, &site.world, &listener, &stop).run(&who()).await;
    assert_eq!(early(&ended), (3, TroubleKind::Moved));
    assert!(site.world.bench.there().get("lab").is_some_and(|lab| lab.contains_key("staged")));
}

#[tokio::test]
async fn what_a_refused_step_did_not_do_is_not_taken_back() {
    let site = Site::new();
    site.world.bench.fail("b", &[Fault::Refused]);
    assert_eq!(early(&site.run(plan(vec![present("a"), present("b")])).await), (1, TroubleKind::Refused));
    site.world.bench.put("b", fields([("by", "somebody else")]));
    let back = way_back(&site.entry());
    let names: Vec<String> = back.plan.steps.iter().map(|step| step.object.ensure().name()).collect();
    assert_eq!(names, ["thing a"]);
}

#[tokio::test]
async fn a_saved_look_that_says_nothing_is_to_be_done_is_judged_anew() {
    let site = Site::new();
    let mut preview = plan(vec![present("a")]).preview(&site.world, Default::default()).await;
    for look in preview.looks.iter_mut().flatten() {
        look.todo = Difference::Nothing;
    }
    let flags = Consent::Flags { write: false, yes: false, confirm: None };
    let now = (site.world.clock)();
    assert!(matches!(ApprovedPlan::of(preview.clone(), &site.world.site, &flags, now), Err(Refusal::Unasked(_))));
    preview.at = now + jiff::SignedDuration::from_mins(60);
    assert!(matches!(ApprovedPlan::of(preview, &site.world.site, &consent(), now), Err(Refusal::Old(_))));
}

#[tokio::test]
async fn what_others_changed_since_is_not_taken_back() {
    let site = Site::new();
    site.world.bench.put("vnet", fields([("alias", "by hand"), ("mtu", "1450")]));
    assert_eq!(site.run(onboarding()).await, Ended::Done);
    let back = way_back(&site.entry()).plan;
    // What the change did not touch may differ; what it made or changed may not.
    let now = |tag| fields([("alias", "another"), ("mtu", "1450"), ("tag", tag)]);
    site.world.bench.put("vnet", now("1"));
    assert!(site.approved(back.clone()).await.is_ok());
    site.world.bench.put("vnet", now("7"));
    let refused = site.approved(back.clone()).await.expect_err("somebody changed it");
    assert!(matches!(&refused, Refusal::Untold { number: 2, .. }), "{refused}");
    assert!(refused.to_string().contains("not as the change left it: tag was \"1\" and is \"7\""), "{refused}");
    site.world.bench.put("vnet", now("1"));
    site.world.bench.put("zone", fields([("tag", "1"), ("mtu", "1400")]));
    let refused = site.approved(back.clone()).await.expect_err("what was made has another's option");
    assert!(matches!(&refused, Refusal::Untold { number: 3, .. }), "{refused}");
    site.world.bench.put("zone", fields([("tag", "1")]));
    assert_eq!(site.run(back).await, Ended::Done);
    assert_eq!(site.world.bench.there().keys().collect::<Vec<_>>(), ["vnet"]);
}

#[tokio::test]
async fn an_approved_plan_runs_as_its_own_change_alone() {
    let site = Site::new();
    site.world.bench.fail("b", &[Fault::Refused]);
    assert_eq!(early(&site.run(plan(vec![present("a"), present("b")])).await).0, 1);
    let id = site.entry().id;
    let other = site.approved(plan(vec![present("c")])).await.expect("approved");
    let (_, change) = site.journal.take_up(id).expect("nobody has it");
    let (_keep, stop) = unstopped();
    let listener: Listener = Arc::new(|_| ());
    let ended = Engine::new(other, change, &site.world, &listener, &stop).run(&who()).await;
    assert_eq!(early(&ended), (0, TroubleKind::Refused));
    assert_eq!(site.world.bench.done(), ["+a"]);
}

#[tokio::test]
async fn what_moved_since_a_change_was_cut_is_told_once_before_it_goes_on() {
    let site = Site::new();
    site.world.bench.fail("a", &[Fault::Refused]);
    assert_eq!(early(&site.run(plan(vec![present("a"), present("b")])).await).0, 0);
    site.world.bench.put("b", fields([("tag", "9")]));
    let ended = site.resume().await;
    assert_eq!(early(&ended), (1, TroubleKind::Moved));
    assert!(site.world.bench.done().is_empty(), "nothing was done before it was told");
    assert_eq!(site.resume().await, Ended::Done, "whoever looked again has seen it");
    assert_eq!(site.world.bench.done(), ["+a", "~b"]);
}

#[tokio::test]
async fn a_change_is_not_untouched_once_this_very_run_changed_something() {
    let site = Site::new();
    let approved = site.approved(onboarding()).await.expect("approved");
    let change = site.journal.begin(&who(), approved.plan(), (site.world.clock)()).expect("a change");
    let (_keep, stop) = unstopped();
    let listener: Listener = Arc::new(|_| ());
    let steps = approved.plan().steps.clone();
    let mut engine = Engine::new(approved, change, &site.world, &listener, &stop);
    for (number, untouched) in [(0, true), (1, false)] {
        engine.context.step = number;
        engine.step(&steps[number]).await.expect("done");
        assert_eq!(engine.is_untouched(), untouched, "after step {number}");
    }
}

#[tokio::test]
async fn only_what_waits_in_the_fabric_is_anothers_to_wait_for() {
    let site = Site::new();
    site.world.bench.put("lab", fields([("tag", "9"), ("staged", "yes")]));
    let preview = onboarding().preview(&site.world, Default::default()).await;
    assert_eq!((preview.riders(), preview.staged_by_others()), (vec!["lab".to_owned()], vec!["lab".to_owned()]));
    let Object::Thing(mut apply) = role("apply", "apply", Danger::Shared) else { panic!("a thing") };
    apply.place = crate::provision::object::Place::Dns;
    let elsewhere = plan(vec![present("zone"), Step::present(Object::Thing(apply), Fields::new()).following()]);
    let preview = elsewhere.preview(&site.world, Default::default()).await;
    assert_eq!(preview.riders(), ["lab"]);
    assert!(preview.staged_by_others().is_empty());
}

#[tokio::test]
async fn what_a_journal_shows_holds_no_token() {
    let site = Site::new();
    assert_eq!(site.run(onboarding()).await, Ended::Done);
    let id = site.entry().id;
    let change = site.journal.begin(&who(), &onboarding(), (site.world.clock)()).expect("a change");
    change.notes.set("sdn-lock", "019d0000-0000-7000-8000-00000000c0de", (site.world.clock)()).expect("written");
    assert_ne!(change.id, id);
    let shown = format!("{:?}", site.entry());
    assert!(shown.contains("sdn-lock") && !shown.contains("c0de"), "{shown}");
}

/// Faults of the tries of one object.
fn faults() -> impl Strategy<Value = Vec<Fault>> {
    let one = prop_oneof![
        Just(Fault::NotReached),
        Just(Fault::AnswerLost),
        Just(Fault::Lost),
        (0..9u32).prop_map(Fault::Late),
        Just(Fault::Refused),
        Just(Fault::Empty),
    ];
    proptest::collection::vec(one, 0..5)
}

proptest! {
    /// Whatever happens to whichever try, a change that is taken up until it ends is as if nothing had happened.
    #[test]
    fn a_change_that_is_taken_up_ends_as_the_undisturbed_one(all in proptest::collection::vec(faults(), 4)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            let site = Site::new();
            for (id, faults) in ["lock", "zone", "vnet", "apply"].into_iter().zip(&all) {
                // A lock that comes after it was given up is nobody's: it needs an operator.
                let late = |fault: &Fault| !matches!((id, fault), ("lock", Fault::Late(_)));
                let faults: Vec<Fault> = faults.iter().copied().filter(late).collect();
                site.world.bench.fail(id, &faults);
            }
            let mut ended = site.run(onboarding()).await;
            for _ in 0..24 {
                if ended == Ended::Done { break }
                ended = site.resume().await;
            }
            assert_eq!(ended, Ended::Done);
            assert_eq!(site.entry().closed(), Some(Closing::Done));
            let there = site.world.bench.there();
            assert_eq!(there.keys().collect::<Vec<_>>(), ["vnet", "zone"]);
        });
    }
}

#[test]
fn only_a_plan_that_does_the_same_until_its_index_takes_the_place_of_another() {
    use crate::provision::object::Object;
    use crate::provision::plans::onboard::OwnIndex;
    let of = |before: &str, index: u8, or_next: bool| {
        let own = OwnIndex { tenant: "tdemo".to_owned(), index, or_next, first: None };
        plan(vec![present(before), Step::present(Object::OwnIndex(own), Fields::new()), present("zone")])
    };
    assert!(of("lock", 2, true).takes_the_place_of(&of("lock", 1, true)));
    assert!(!of("other", 2, true).takes_the_place_of(&of("lock", 1, true)), "it does something else first");
    assert!(!of("lock", 2, true).takes_the_place_of(&of("lock", 1, false)), "that very index was asked for");
    let elsewhere = Plan { site: "elsewhere".to_owned(), ..of("lock", 2, true) };
    assert!(!elsewhere.takes_the_place_of(&of("lock", 1, true)));
}
