//! Operators at work at once, against the lab: two who create tenants, a lock that somebody else has, one that is taken away.

#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of a test: a panic is its verdict"
)]

mod change_common;
#[path = "change_common/operators.rs"]
mod operators;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use change_common::Bench;
use deevnet_console::backends::proxmox::View;
use deevnet_console::lab::sdn::Kind;
use deevnet_console::provision::engine::Ended;
use deevnet_console::provision::journal::Closing;
use deevnet_console::provision::object::Object;
use deevnet_console::provision::plan::{Plan, Preview};
use deevnet_console::provision::trouble::TroubleKind;
use deevnet_console::provision::world::News;
use operators::bench;

/// Longer than any of these runs.
const LONG: Duration = Duration::from_secs(1 << 40);

fn index(plan: &Plan) -> u8 {
    let own = plan.steps.iter().find_map(|step| match &step.object {
        Object::OwnIndex(own) => Some(own.index),
        _ => None,
    });
    own.unwrap()
}

async fn numbers(bench: &Bench) -> Vec<(String, u32)> {
    let zones = bench.world.proxmox().unwrap().zones(View::Running).await.unwrap();
    let running = zones.iter().filter_map(|zone| zone.running.as_ref());
    let mut all: Vec<_> = running.filter_map(|zone| Some((zone.zone.clone(), zone.vrf_vxlan?))).collect();
    all.sort_unstable();
    all
}

fn open_steps(preview: &Preview) -> Vec<String> {
    let does = (0..preview.plan.steps.len()).filter(|step| preview.does(*step));
    does.map(|step| format!("{} {:?}", preview.plan.steps[step].object.ensure().name(), preview.looks[step])).collect()
}

#[tokio::test]
async fn two_who_create_at_once_both_come_to_their_end_with_numbers_of_their_own() {
    let bench = bench(LONG).await;
    let (ann, bo) = (bench.operator("ann"), bench.operator("bo"));
    let first = ann.asks("onboard", &["picow", "workload=app"]).await;
    let second = bo.asks("onboard", &["shop", "workload=web"]).await;
    assert_eq!((index(&first.0.plan), index(&second.0.plan)), (1, 1));
    let ended = tokio::join!(ann.run(first), bo.run(second));
    assert_eq!(ended, (Ended::Done, Ended::Done));
    // Whoever was second heard who has the lock, and that the number is gone.
    let told = [ann.lines(), bo.lines()].map(|lines| lines.join("\n"));
    let waits = |lines: &String| lines.contains("waiting for the SDN lock, held by change C-000");
    assert!(told.iter().any(waits), "{told:#?}");
    assert!(told.iter().any(|lines| lines.contains("index 1 is held by")), "{told:#?}");
    let by = numbers(&bench).await;
    assert_eq!(by.iter().map(|(_, vni)| *vni - 10_000).sum::<u32>(), 3, "{by:?}");
    for (operator, words) in [(&ann, ["picow", "workload=app"]), (&bo, ["shop", "workload=web"])] {
        let entry = operator.newest();
        assert_eq!(entry.closed(), Some(Closing::Done));
        let own = by.iter().find(|(zone, _)| zone == words[0]).unwrap();
        assert_eq!(u32::from(index(&entry.plan)) + 10_000, own.1, "the journal tells the plan that was run");
        let again = operator.asks("onboard", &words).await.0;
        assert!(again.is_empty(), "{:#?}", open_steps(&again));
    }
    bench.end().await;
}

#[tokio::test]
async fn a_plan_that_is_asked_for_while_another_is_staged_waits_for_it() {
    let bench = bench(LONG).await;
    let (mut ann, bo) = (bench.operator("ann"), bench.operator("bo"));
    let staged = Arc::new(AtomicBool::new(false));
    let tells = Arc::clone(&staged);
    let first = ann.asks("onboard", &["picow"]).await;
    let zone = first.0.plan.steps.iter().position(|step| matches!(step.object, Object::SdnZone(_))).unwrap();
    ann.also = Arc::new(move |news| {
        if matches!(news, News::Verified(step) if step == zone) {
            tells.store(true, Ordering::SeqCst);
        }
    });
    let later = async {
        while !staged.load(Ordering::SeqCst) {
            tokio::task::yield_now().await;
        }
        bo.draft("onboard", &["shop"]).await
    };
    let (ended, made) = tokio::join!(ann.run(first), later);
    assert_eq!(ended, Ended::Done);
    assert_eq!(index(&made.unwrap().plan), 2);
    // Where nobody is at work it is refused at once.
    let edit = |world: &mut deevnet_console::lab::state::World| {
        let zone = serde_json::json!({"type": "evpn", "controller": "evpn1", "vrf-vxlan": 19_000});
        world.sdn.set(Kind::Zone, "lab", zone.as_object().unwrap().clone().into_iter().collect());
    };
    bench.lab.edit(edit).unwrap();
    let why = bo.draft("onboard", &["shop"]).await.err().unwrap();
    assert!(why.kind == TroubleKind::Refused && why.text.contains("would go live with your apply"), "{why:?}");
    drop((ann, bo));
    bench.end().await;
}

#[tokio::test]
async fn who_waited_in_vain_takes_the_next_number_when_going_on() {
    let bench = bench(Duration::ZERO).await;
    let (ann, bo) = (bench.operator("ann"), bench.operator("bo"));
    let asked = bo.asks("onboard", &["shop"]).await;
    assert_eq!(index(&asked.0.plan), 1);
    bench.lab.edit(|world| world.sdn.lock = Some("somebody's".to_owned())).unwrap();
    let Ended::Early { step: 0, trouble } = bo.run(asked).await else { panic!("somebody has the lock") };
    assert_eq!(trouble.kind, TroubleKind::Refused);
    assert!(trouble.text.contains("was not given back within 0 s by somebody else"), "{trouble:?}");
    bench.lab.edit(|world| world.sdn.lock = None).unwrap();
    ann.does("onboard", &["picow"]).await;
    let id = bo.newest().id.to_string();
    let resumed = bo.asks("resume", &[&id]).await;
    assert_eq!(index(&resumed.0.plan), 2, "it is shown before it is agreed to");
    assert_eq!(bo.run(resumed).await, Ended::Done);
    assert_eq!(index(&bo.newest().plan), 2);
    assert_eq!(numbers(&bench).await, [("picow".to_owned(), 10_001), ("shop".to_owned(), 10_002)]);
    bench.end().await;
}

#[tokio::test]
async fn a_number_that_was_asked_for_is_not_exchanged_for_another() {
    let bench = bench(LONG).await;
    let (ann, bo) = (bench.operator("ann"), bench.operator("bo"));
    let asked = bo.asks("onboard", &["shop", "index=1"]).await;
    ann.does("onboard", &["picow"]).await;
    let Ended::Early { trouble, .. } = bo.run(asked).await else { panic!("index 1 is taken") };
    assert!(trouble.text.contains("index 1 is held by"), "{trouble:?}");
    assert_eq!(numbers(&bench).await.len(), 1);
    bench.end().await;
}

#[tokio::test]
async fn a_lock_that_is_taken_away_is_told_and_not_given_back() {
    let bench = bench(LONG).await;
    let mut ann = bench.operator("ann");
    let (lab, taken) = (Arc::clone(&bench.lab), AtomicBool::new(false));
    ann.also = Arc::new(move |news| {
        if matches!(news, News::Satisfied(1)) && !taken.swap(true, Ordering::SeqCst) {
            lab.edit(|world| world.sdn.lock = Some("somebody's".to_owned())).unwrap();
        }
    });
    let asked = ann.asks("onboard", &["picow"]).await;
    let Ended::Early { trouble, .. } = ann.run(asked).await else { panic!("its lock is gone") };
    assert_ne!(trouble.kind, TroubleKind::Stopped, "{trouble:?}");
    let heard = ann.heard.lock().unwrap().clone();
    let given = heard.iter().find_map(|news| match news {
        News::GaveBack(what, result) => Some((what.clone(), result.clone())),
        _ => None,
    });
    let (what, result) = given.unwrap();
    let why = result.unwrap_err();
    assert!(what.contains("SDN lock") && why.text.contains("taken from this change by force"), "{what}: {why:?}");
    assert_eq!(bench.lab.world().sdn.lock.as_deref(), Some("somebody's"), "it is theirs");
    ann.also = Arc::new(|_| ());
    drop(ann);
    bench.end().await;
}

/// Where a change stopped, why, and what to do.
fn early(ended: Ended) -> (usize, String, String) {
    match ended {
        Ended::Early { step, trouble } => (step, trouble.text, trouble.help.unwrap_or_default()),
        Ended::Done => panic!("it came to its end"),
    }
}

#[path = "plans_lab/ends.rs"]
mod ends;
#[path = "plans_lab/fresh.rs"]
mod fresh;
#[path = "plans_lab/program.rs"]
mod program;
#[path = "plans_lab/verbs.rs"]
mod verbs;
