//! A tenant's network by plan, against the lab: from nothing to realised, whatever happens to the requests, and back.

#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of a test: a panic is its verdict"
)]

mod change_common;
#[path = "change_common/network.rs"]
mod network;

use std::sync::Arc;

use change_common::{Bench, early};
use deevnet_console::provision::approve::{ApprovedPlan, Consent, Refusal};
use deevnet_console::provision::conduct::{Ears, give_back};
use deevnet_console::provision::engine::Ended;
use deevnet_console::provision::journal::Closing;
use deevnet_console::provision::plan::Question;
use deevnet_console::provision::sdn::SdnLock;
use deevnet_console::provision::trouble::TroubleKind;
use deevnet_console::provision::undo::way_back;
use deevnet_console::provision::world::{Listener, News};
use network::{bench, looking_every};

#[tokio::test]
async fn a_network_is_made_once_and_taken_back() {
    let bench = bench().await;
    let before = bench.look(bench.plan()).await;
    assert_eq!(before.question(), Question::PlanApply);
    assert_eq!(bench.run(bench.plan()).await, Ended::Done);
    assert_eq!(bench.closed(), Some(Closing::Done));
    let made = *bench.journal.ids().unwrap().last().unwrap();
    bench.is_whole().await;

    let back = way_back(&bench.journal.read(made).unwrap());
    assert!(back.left.is_empty());
    assert_eq!(bench.run(back.plan).await, Ended::Done);
    let after = bench.look(bench.plan()).await;
    assert_eq!(after.looks, before.looks, "as it was");
    bench.lock_is_free().await;
    bench.end().await;
}

#[tokio::test]
async fn answers_that_are_lost_or_wrong_make_nothing_twice() {
    for fault in ["answer-lost", "answer-500"] {
        let bench = bench().await;
        bench.lab.fault_on(fault).unwrap();
        let mut ended = bench.run(bench.plan()).await;
        // The lock that was taken and not told of: nobody but an operator can say that it is this change's.
        let (step, _, text) = early(ended);
        assert!(step == 0 && text.contains("probably by this change"), "{fault}: {step} {text}");
        bench.lab.fault_off(fault).unwrap();
        let again = early(bench.resume_with(SdnLock::default()).await);
        assert!(again.0 == 0 && again.2.contains("probably by this change"), "{again:?}");
        ended = bench.resume_with(SdnLock { by_force: true }).await;
        assert_eq!(ended, Ended::Done, "{fault}");
        bench.is_whole().await;
        bench.end().await;
    }
}

#[tokio::test]
async fn a_foreign_lock_and_foreign_edits_are_named_and_left_alone() {
    let bench = bench().await;
    bench.lab.fault_on("sdn-locked").unwrap();
    let (step, kind, text) = early(bench.run(bench.plan()).await);
    assert_eq!((step, kind), (0, TroubleKind::Refused));
    assert!(text.contains("the SDN lock was not given back within 600 s by somebody else"), "{text}");
    bench.lab.fault_off("sdn-locked").unwrap();

    bench.lab.fault_on("foreign-edits@tdemo").unwrap();
    let preview = bench.look(bench.plan()).await;
    assert_eq!(preview.riders().len(), 1, "{:?}", preview.riders());
    assert!(preview.riders()[0].contains("of tdemo0 (deleted)"), "{:?}", preview.riders());
    assert!(matches!(bench.approved(preview), Err(Refusal::NameNeeded { .. })));
    bench.end().await;
}

#[tokio::test]
async fn an_apply_that_misses_a_node_is_not_believed() {
    let bench = bench().await;
    let node = bench.world.site.proxmox.node.clone();
    bench.lab.fault_on(&format!("apply-misses-node@{node}")).unwrap();
    let (step, kind, text) = early(bench.run(bench.plan()).await);
    assert_eq!((step, kind), (4, TroubleKind::NotSeen), "{text}");
    assert!(text.contains(&node), "{text}");
    bench.lab.fault_off(&format!("apply-misses-node@{node}")).unwrap();
    assert_eq!(bench.resume_with(SdnLock::default()).await, Ended::Done);
    bench.is_whole().await;
    bench.end().await;
}

#[tokio::test]
async fn a_run_that_is_dropped_at_any_moment_ends_as_the_undisturbed_one() {
    let mut cut = 0;
    for polls in [1_u32, 3, 5, 8, 12, 17, 23, 30, 40, 60] {
        let bench = bench().await;
        let approved = bench.approved(bench.look(bench.plan()).await).unwrap();
        let mut left = polls;
        {
            let mut run = std::pin::pin!(bench.engine(approved, None));
            // Every poll is a request boundary at the latest.
            std::future::poll_fn(|context| {
                left = left.saturating_sub(1);
                if left == 0 || run.as_mut().poll(context).is_ready() {
                    return std::task::Poll::Ready(());
                }
                std::task::Poll::Pending
            })
            .await;
        }
        let ended = match bench.journal.ids().unwrap().last().and_then(|id| bench.journal.read(*id).ok()) {
            None => bench.run(bench.plan()).await,
            Some(entry) if entry.closed().is_some() => Ended::Done,
            Some(_) => {
                cut += 1;
                match bench.resume_with(SdnLock::default()).await {
                    Ended::Early { step: 0, trouble } if trouble.text.contains("probably by this change") => {
                        bench.resume_with(SdnLock { by_force: true }).await
                    }
                    other => other,
                }
            }
        };
        assert_eq!(ended, Ended::Done, "dropped after {polls} polls");
        bench.is_whole().await;
        bench.end().await;
    }
    assert!(cut >= 5, "only {cut} were dropped in the middle");
}

/// Tasks of applies that the lab knows.
async fn applies(bench: &Bench) -> usize {
    let tasks = bench.world.proxmox().unwrap().cluster_tasks().await.unwrap();
    tasks.iter().filter(|task| task.kind == "reloadnetworkall").count()
}

/// A listener that switches a fault on when a step begins, and off at the first thing that is told of it.
fn once(bench: &Bench, at: usize, fault: &'static str) -> Listener {
    let lab = Arc::clone(&bench.lab);
    Arc::new(move |news| match news {
        News::Begun(step) if step == at => lab.fault_on(fault).unwrap(),
        News::Line(step, _) | News::Verified(step) | News::Failed(step, _) if step == at => {
            lab.fault_off(fault).unwrap();
        }
        _ => {}
    })
}

#[tokio::test]
async fn the_lost_answer_of_each_single_step_costs_a_look() {
    for step in 1..=4 {
        for fault in ["answer-lost", "answer-500", "answer-596"] {
            let bench = looking_every(std::time::Duration::from_millis(300)).await;
            let before = applies(&bench).await;
            let approved = bench.approved(bench.look(bench.plan()).await).unwrap();
            let listener = once(&bench, step, fault);
            assert_eq!(bench.heard(approved, None, listener).await, Ended::Done, "{fault} at step {step}");
            assert_eq!(applies(&bench).await, before + 1, "{fault} at step {step}: one apply");
            bench.is_whole().await;
            bench.end().await;
        }
    }
}

#[tokio::test]
async fn what_is_staged_after_an_apply_whose_answer_got_lost_is_not_published() {
    let bench = looking_every(std::time::Duration::from_millis(100)).await;
    let before = applies(&bench).await;
    let approved = bench.approved(bench.look(bench.plan()).await).unwrap();
    let (lab, lost) = (Arc::clone(&bench.lab), once(&bench, 4, "answer-lost"));
    let listener: Listener = Arc::new(move |news| {
        // The apply gave the lock back: anybody may stage again.
        if matches!(&news, News::Line(4, text) if !text.contains("not of this plan")) {
            lab.edit(|world| {
                let tag = serde_json::json!({"zone": "tdemo", "tag": 29_999, "type": "vnet"});
                world.sdn.set(
                    deevnet_console::lab::sdn::Kind::Vnet,
                    "foreign0",
                    tag.as_object().unwrap().clone().into_iter().collect(),
                );
            })
            .unwrap();
        }
        lost(news);
    });
    assert_eq!(bench.heard(approved, None, listener).await, Ended::Done);
    assert_eq!(applies(&bench).await, before + 1, "one apply");
    let waits = bench.lab.world().sdn.waiting().len();
    assert_eq!(waits, 1, "what was staged since waits still");
    bench.lock_is_free().await;
    bench.end().await;
}

#[tokio::test]
async fn a_token_of_an_earlier_run_is_proven_before_anything_is_staged() {
    let bench = bench().await;
    // Cut when the token is noted: the lock stays.
    let approved = bench.approved(bench.look(bench.plan()).await).unwrap();
    bench.cut_when_noted(approved).await;
    bench.lab.edit(|world| world.sdn.lock = Some("019d0000-0000-7000-8000-00000000beef".to_owned())).unwrap();
    let staged = bench.lab.world().sdn.waiting().len();
    let (step, kind, text) = early(bench.resume_with(SdnLock::default()).await);
    assert_eq!((step, kind), (0, TroubleKind::Refused), "{text}");
    assert!(text.contains("taken from it by force"), "{text}");
    assert_eq!(bench.lab.world().sdn.waiting().len(), staged, "nothing was staged");
    assert!(bench.lab.world().sdn.lock.is_some(), "the other's lock is left alone");
    bench.lab.edit(|world| world.sdn.lock = None).unwrap();
    assert_eq!(bench.resume_with(SdnLock::default()).await, Ended::Done);
    bench.is_whole().await;
    bench.end().await;
}

#[tokio::test]
async fn a_list_that_is_cut_by_rights_tells_nothing_of_what_is_not_in_it() {
    let bench = bench().await;
    bench.lab.fault_on("list-filtered").unwrap();
    let preview = bench.look(bench.plan()).await;
    let untold: Vec<String> = preview.untold().map(|(_, trouble)| trouble.to_string()).collect();
    assert!(untold.iter().any(|text| text.contains("is not shown every zone")), "{untold:?}");
    assert!(matches!(bench.approved(preview), Err(Refusal::Untold { .. })));
    bench.end().await;
}

#[tokio::test]
async fn a_lock_that_a_read_only_site_still_holds_is_given_back_after_a_question() {
    let bench = bench().await;
    let approved = bench.approved(bench.look(bench.plan()).await).unwrap();
    bench.cut_when_noted(approved).await;
    let id = *bench.journal.ids().unwrap().last().unwrap();
    let entry = bench.journal.read(id).unwrap();
    let mut site = (*bench.world.site).clone();
    site.read_only = true;
    let now = (bench.world.clock)();
    let yes = |yes| Consent::Flags { write: yes, yes, confirm: None };
    let whole = entry.plan.clone().preview(&bench.world, entry.notes()).await;
    let refused = ApprovedPlan::of(whole, &site, &yes(true), now).unwrap_err();
    assert!(refused.help().contains("can be given back all the same"), "{}", refused.help());
    let back = entry.plan.giving_back().preview(&bench.world, entry.notes()).await;
    assert_eq!(back.question(), Question::Yes);
    assert!(matches!(ApprovedPlan::of(back.clone(), &site, &yes(false), now), Err(Refusal::Unasked(_))));
    let approved = ApprovedPlan::of(back, &site, &yes(true), now).unwrap();
    let (_keep, stop) = tokio::sync::watch::channel(false);
    let ears = Ears { listener: Arc::new(|_| ()), stop };
    assert_eq!(give_back(&bench.world, &bench.journal, id, approved, &ears).await.unwrap(), Ok(()));
    assert!(bench.lab.world().sdn.lock.is_none());
    assert_eq!(bench.closed(), None, "the change is left for later");
    assert_eq!(bench.resume_with(SdnLock::default()).await, Ended::Done);
    bench.end().await;
}
