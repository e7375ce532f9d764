//! Plans, questions, runs, the unfinished change and the journal.

use super::*;
use crate::console::change::testing::{
    far_reaching, half_way, moment, offer, onboarding, shelf, survey, trouble, unfinished, with_riders,
};
use crate::console::change::{self, Offer, Page, Sheet, Told, Wish};
use crate::provision::engine::Ended;
use crate::provision::handover::{Keys, Listing};
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::News;

const SIZES: [(u16, u16); 3] = [COMPACT, DESIGN, (72, 20)];

fn tell(model: &mut Model, told: Told) {
    let id = model.changes.count;
    update(model, Msg::Change(id, Box::new(told)));
}

fn key(model: &mut Model, text: &str) {
    let keys = crate::console::keymap::parse_sequence(text).expect("keys");
    for key in keys {
        update(model, Msg::Input(crate::terminal::input::Input::Key(key)));
    }
}

fn drawn(model: &mut Model) {
    let hits = crate::console::view(model).hits;
    update(model, Msg::Drawn(hits.into()));
}

fn asked(size: (u16, u16)) -> Model {
    let mut model = tenants(testing::healthy(), size);
    change::proposal::ask(&mut model, Wish { name: "onboard", words: vec!["picow".into(), "index=6".into()] });
    model
}

fn planned(size: (u16, u16), offer: &Arc<Offer>) -> Model {
    let mut model = asked(size);
    tell(&mut model, Told::Planned(Ok(Arc::clone(offer))));
    model
}

/// The same in write mode, the word of the key that switched it on gone.
fn writing(size: (u16, u16), offer: &Arc<Offer>) -> Model {
    let mut model = planned(size, offer);
    key(&mut model, "w");
    model.notice = None;
    model
}

fn running(size: (u16, u16)) -> Model {
    let mut model = writing(size, &offer());
    key(&mut model, "A");
    tell(&mut model, Told::Opened("C-0042".parse().expect("a number")));
    for step in 0..3 {
        tell(&mut model, Told::News(moment(2), News::Begun(step)));
        tell(&mut model, Told::News(moment(2), News::Applied(step)));
        tell(&mut model, Told::News(moment(3), News::Verified(step)));
    }
    model
}

#[test]
fn a_plan_before_it_runs() {
    for size in SIZES {
        check(&planned(size, &offer()), "plan", "read-only");
        let mut model = writing(size, &with_riders());
        key(&mut model, "G");
        check(&model, "plan", "riders");
    }
    check(&asked(COMPACT), "plan", "asked");
    let mut doubtful = asked(COMPACT);
    let why = Trouble::new(TroubleKind::Refused, "which name?").with_help("write TENANT NAME");
    tell(&mut doubtful, Told::Planned(Err(why)));
    check(&doubtful, "plan", "asked-back");
    let mut failed = asked(COMPACT);
    tell(&mut failed, Told::Planned(Err(trouble())));
    check(&failed, "plan", "failed");
    let mut untold = Offer::clone(&offer());
    untold.preview.looks[1] =
        Err(Trouble::new(TroubleKind::NotReached, "10.20.99.22 port 8006 does not answer").with_help("check the way"));
    untold.left = vec![("disk vm-2040".to_owned(), "what it held is gone")];
    check(&planned(COMPACT, &Arc::new(untold)), "plan", "untold");
    let mut old = writing(COMPACT, &offer());
    update(&mut old, Msg::Now(moment(301)));
    check(&old, "plan", "expired");
    let mut moved = writing(COMPACT, &offer());
    key(&mut moved, "A");
    let what = vec!["VNet picow0: it was not there".to_owned(), "would go along now: zone lab (new)".to_owned()];
    tell(&mut moved, Told::Moved(with_riders(), what));
    check(&moved, "plan", "moved");
    let mut step = planned(COMPACT, &half_way());
    change::show(&mut step, Page::Text { of: Sheet::Step(1), scroll: 0 });
    check(&refreshed(step), "plan-step", "in-full");
    let mut yaml = planned(COMPACT, &offer());
    key(&mut yaml, "y");
    check(&yaml, "plan-yaml", "open");
}

#[test]
fn what_is_asked_before_it_runs() {
    for size in SIZES {
        let mut model = writing(size, &far_reaching());
        key(&mut model, "A e");
        drawn(&mut model);
        check(&model, "approve", "name");
    }
    let mut model = writing((72, 20), &far_reaching());
    key(&mut model, "A e d s");
    drawn(&mut model);
    check(&model, "approve", "name-unread");
    key(&mut model, "pgdn");
    drawn(&mut model);
    check(&model, "approve", "name-below");
    let mut model = writing(COMPACT, &far_reaching());
    key(&mut model, "A e d s");
    drawn(&mut model);
    check(&model, "approve", "name-complete");
    update(&mut model, Msg::Input(crate::terminal::input::Input::Paste("eds".into())));
    check(&model, "approve", "name-pasted");
    let mut one = Offer::clone(&offer());
    one.preview.plan.steps.swap(0, 2);
    one.preview.looks.swap(0, 2);
    one.preview.plan.steps.truncate(1);
    one.preview.looks.truncate(1);
    let mut model = writing(COMPACT, &Arc::new(one));
    key(&mut model, "A");
    check(&model, "approve", "yes");
    let mut leaving = running(COMPACT);
    key(&mut leaving, "q");
    check(&leaving, "approve", "leaving");
}

#[test]
fn a_plan_that_runs_and_what_it_came_to() {
    for size in SIZES {
        let mut model = running(size);
        tell(&mut model, Told::News(moment(3), News::Begun(3)));
        tell(&mut model, Told::News(moment(4), News::Line(3, "the answer is awaited".into())));
        update(&mut model, Msg::Now(moment(27)));
        check(&model, "run", "running");
        let mut failed = model.clone();
        tell(&mut failed, Told::News(moment(28), News::Failed(3, trouble())));
        tell(&mut failed, Told::News(moment(28), News::GaveBack("the SDN lock".into(), Ok(()))));
        tell(&mut failed, Told::Ended(moment(28), Ok(Ended::Early { step: 3, trouble: trouble() })));
        failed.notice = None;
        check(&failed, "run", "failed");
        tell(&mut model, Told::News(moment(28), News::Verified(3)));
        tell(&mut model, Told::News(moment(28), News::Begun(4)));
        tell(
            &mut model,
            Told::News(moment(29), News::Line(4, "task UPID:dv02hyp002p02:0003A1:…:reloadnetworkall".into())),
        );
        tell(&mut model, Told::News(moment(42), News::Verified(4)));
        tell(&mut model, Told::Ended(moment(43), Ok(Ended::Done)));
        model.notice = None;
        check(&model, "run", "done");
    }
    let mut stopped = running(COMPACT);
    key(&mut stopped, "X");
    check(&stopped, "run", "stopping");
    let why = Trouble::new(TroubleKind::Stopped, "stopped before this step");
    let kept = Err(Trouble::new(TroubleKind::NotReached, "10.20.99.22 does not answer"));
    tell(&mut stopped, Told::News(moment(5), News::Failed(3, why.clone())));
    tell(&mut stopped, Told::News(moment(5), News::GaveBack("the SDN lock".into(), kept)));
    tell(&mut stopped, Told::Ended(moment(5), Ok(Ended::Early { step: 3, trouble: why })));
    check(&stopped, "run", "stopped");
    let mut elsewhere = running(COMPACT);
    key(&mut elsewhere, "esc");
    check(&elsewhere, "tenants", "change-running");
}

#[test]
fn a_change_that_was_cut_off() {
    for size in SIZES {
        let mut model = tenants(testing::healthy(), size);
        update(&mut model, Msg::Journal(shelf()));
        check(&model, "unfinished", "reading");
        tell(&mut model, Told::Planned(Ok(half_way())));
        check(&model, "unfinished", "read");
    }
    let mut model = tenants(testing::healthy(), COMPACT);
    update(&mut model, Msg::Journal(shelf()));
    tell(&mut model, Told::Planned(Err(trouble())));
    check(&model, "unfinished", "not-read");
    key(&mut model, "q");
    check(&model, "unfinished", "leaving");
}

#[test]
fn the_journal() {
    for size in SIZES {
        let mut model = tenants(testing::healthy(), size);
        update(&mut model, Msg::Journal(Arc::new(change::Shelf::default())));
        key(&mut model, "g j");
        check(&model, "journal", "empty");
        let mut read = change::Shelf::clone(&shelf());
        read.bad.push("C-0039.jsonl: its plan cannot be read; it may hold the SDN lock".into());
        update(&mut model, Msg::Journal(Arc::new(read)));
        check(&model, "journal", "read");
        key(&mut model, "enter");
        check(&model, "journal-entry", "open");
    }
    let mut running = tenants(testing::healthy(), COMPACT);
    let read = change::Shelf { running: vec![unfinished().id], ..change::Shelf::clone(&shelf()) };
    update(&mut running, Msg::Journal(Arc::new(read)));
    key(&mut running, "g j");
    check(&running, "journal", "running-elsewhere");
}

#[test]
fn an_onboarding_from_its_plan_to_its_end() {
    for size in SIZES {
        check(&planned(size, &onboarding()), "plan", "onboarding");
        let mut model = writing(size, &onboarding());
        key(&mut model, "A");
        tell(&mut model, Told::Opened("C-0042".parse().expect("a number")));
        let total = onboarding().preview.plan.steps.len();
        for step in 0..total {
            tell(&mut model, Told::News(moment(2), News::Begun(step)));
            tell(&mut model, Told::News(moment(3), News::Verified(step)));
        }
        tell(&mut model, Told::Ended(moment(43), Ok(Ended::Done)));
        model.notice = None;
        check(&model, "run", "onboarded");
        for (report, name) in
            [(super::diagnose::passing(&[]), "onboarded-checked"), (super::diagnose::broken(), "onboarded-broken")]
        {
            let mut checked = super::diagnose::come(model.clone(), report.clone());
            let found = checked.inquiry.as_mut().and_then(|inquiry| inquiry.found.as_mut()).expect("a check");
            // Whosever it is about.
            found.diagnosis = Arc::new(crate::diagnose::Diagnosis { report, ..(*found.diagnosis).clone() });
            checked.notice = None;
            check(&checked, "run", name);
        }
        key(&mut model, "up");
        check(&model, "run", "onboarded-steps");
    }
}

#[test]
fn what_a_tenants_people_are_handed_over() {
    let keys = || {
        let zone = |zone: &str| Listing {
            zone: zone.to_owned(),
            listed: Some((vec!["tdemo".to_owned()], vec!["10.20.99.0/24".to_owned()])),
        };
        let zones = vec![zone("tdemo.mobile.deevnet.net"), zone("129.20.10.in-addr.arpa")];
        Keys { zones, there: vec![("tdemo".to_owned(), "hmac-sha256".to_owned())] }
    };
    for size in SIZES {
        let mut model = tenants(testing::healthy(), size);
        key(&mut model, "H");
        tell(&mut model, Told::Keys(Ok(keys())));
        check(&model, "handover", "known");
        drawn(&mut model);
        key(&mut model, "pgdn");
        check(&model, "handover", "known-below");
        let mut model = tenants(testing::healthy(), size);
        key(&mut model, "H");
        let why = Trouble::new(TroubleKind::NotReached, "10.20.25.21:8081 refuses connections");
        tell(&mut model, Told::Keys(Err(why)));
        check(&model, "handover", "no-api");
    }
    let mut model = tenants(testing::healthy(), COMPACT);
    key(&mut model, "H");
    check(&model, "handover", "reading");
    tell(&mut model, Told::Keys(Ok(keys())));
    key(&mut model, "2");
    check(&model, "handover", "key-file");
}

#[test]
fn the_form_of_a_tenant() {
    for size in SIZES {
        let mut model = tenants(testing::healthy(), size);
        key(&mut model, "p");
        check(&model, "onboard", "empty");
        tell(&mut model, Told::Surveyed(survey()));
        key(&mut model, "g r e e n h o u");
        check(&model, "onboard", "name-in-the-way");
        let mut model = tenants(testing::healthy(), size);
        key(&mut model, "p");
        tell(&mut model, Told::Surveyed(survey()));
        key(&mut model, "p i c o w tab tab a p p");
        check(&model, "onboard", "fine");
    }
}

#[test]
fn without_colour_and_in_ascii() {
    for (name, depth, ascii) in [("ascii", Depth::True, true), ("mono", Depth::None, false)] {
        let with = |mut model: Model| {
            model.look = look("dark", depth, ascii);
            model
        };
        check(&with(writing(COMPACT, &with_riders())), "plan", name);
        check(&with(running(COMPACT)), "run", name);
        let mut model = writing(COMPACT, &far_reaching());
        key(&mut model, "A e");
        check(&with(model), "approve", name);
        let mut model = tenants(testing::healthy(), COMPACT);
        update(&mut model, Msg::Journal(shelf()));
        tell(&mut model, Told::Planned(Ok(half_way())));
        check(&with(model), "unfinished", name);
    }
}
