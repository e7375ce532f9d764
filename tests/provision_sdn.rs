//! The fabric as a whole, against the lab: what waits and whose it is, apply, rollback, a lock that was left; what nodes make of
//! an apply, and what of others is not this plan's.

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

use std::sync::{Arc, Mutex};

use change_common::{Bench, early};
use deevnet_console::lab::sdn::Kind;
use deevnet_console::provision::approve::Refusal;
use deevnet_console::provision::engine::Ended;
use deevnet_console::provision::journal::Entry;
use deevnet_console::provision::object::Object;
use deevnet_console::provision::plan::{Plan, Question, Step};
use deevnet_console::provision::plans::sdn::{self, LockSeen};
use deevnet_console::provision::sdn::{SdnLock, SdnZone};
use deevnet_console::provision::trouble::TroubleKind;
use deevnet_console::provision::undo::way_back;
use deevnet_console::provision::world::{Listener, News};
use network::bench;

fn entries(bench: &Bench) -> Vec<Entry> {
    bench.journal.ids().unwrap().into_iter().map(|id| bench.journal.read(id).unwrap()).collect()
}

/// Stages the network of a tenant without applying it.
async fn stage(bench: &Bench) {
    let steps = bench.plan().steps[..4].to_vec();
    assert_eq!(bench.run(Plan { steps, ..bench.plan() }).await, Ended::Done);
}

/// Approves by the name of the site, and runs.
async fn run_named(bench: &Bench, plan: Plan) -> Ended {
    let preview = bench.look(plan).await;
    assert!(matches!(bench.approved(preview.clone()), Err(Refusal::NameNeeded { .. })), "{:?}", preview.question());
    bench.engine(bench.approved_as(preview, Some("mobile")).unwrap(), None).await
}

/// A listener that keeps what is told of a step.
fn hearing() -> (Listener, Arc<Mutex<Vec<String>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let keeps = Arc::clone(&heard);
    let listener: Listener = Arc::new(move |news| {
        if let News::Line(_, text) = news {
            keeps.lock().unwrap().push(text);
        }
    });
    (listener, heard)
}

#[tokio::test]
async fn what_waits_is_told_with_whose_it_is_and_what_an_apply_would_do() {
    let bench = bench().await;
    bench.lab.fault_on("foreign-edits@tdemo").unwrap();
    stage(&bench).await;
    let status = sdn::status(&bench.world, &entries(&bench)).await.unwrap();
    assert_eq!(status.lock, LockSeen::NotKnown);
    let change = entries(&bench)[0].id;
    let by: Vec<_> = status.waits.iter().map(|waits| (waits.name.as_str(), waits.state.as_str(), waits.by)).collect();
    let foreign: Vec<_> = by.iter().filter(|(.., by)| by.is_none()).collect();
    assert_eq!(foreign.len(), 1, "{by:?}");
    assert!(foreign[0].0.ends_with("of tdemo0") && foreign[0].1 == "deleted", "{by:?}");
    for name in ["zone rtrip", "VNet rtrip0", "subnet 10.20.188.0/24 of rtrip0"] {
        assert!(by.contains(&(name, "new", Some(change))), "{name}: {by:?}");
    }
    let zone = status.waits.iter().find(|waits| waits.name == "zone rtrip").unwrap();
    assert_eq!(zone.options.get("vrf-vxlan").map(String::as_str), Some("10060"));

    let node = bench.world.site.proxmox.node.clone();
    let preview = sdn::preview(&bench.world, &[node]).await.unwrap();
    assert!(preview[0].frr.as_ref().is_some_and(|diff| diff.contains("+vrf vrf_rtrip")), "{preview:?}");
    assert_eq!(
        preview[0].left_out,
        ["rtrip0: address 10.20.188.1/24, ip-forward on", "rtrip0: SNAT of 10.20.188.0/24 to 10.20.50.22 on vmbr0.50"]
    );
    bench.end().await;
}

#[tokio::test]
async fn all_that_waits_is_applied_with_the_name_typed_and_everything_named() {
    let bench = bench().await;
    stage(&bench).await;
    let plan = sdn::apply(&bench.world).await.unwrap();
    let preview = bench.look(plan.clone()).await;
    let riders = preview.riders().join("; ");
    for named in ["zone rtrip (new: ", "vrf-vxlan 10060", "VNet rtrip0 (new: ", "tag 20600"] {
        assert!(riders.contains(named), "{named}: {riders}");
    }
    assert_eq!(run_named(&bench, plan).await, Ended::Done);
    bench.is_whole().await;
    let again = bench.look(sdn::apply(&bench.world).await.unwrap()).await;
    assert!(again.is_empty() && again.question() == Question::Nothing);
    bench.end().await;
}

#[tokio::test]
async fn what_waits_is_dropped_once_and_a_lost_answer_costs_a_look() {
    for fault in [None, Some("answer-lost")] {
        let bench = bench().await;
        stage(&bench).await;
        let preview = bench.look(sdn::rollback(&bench.world)).await;
        let approved = bench.approved_as(preview, Some("mobile")).unwrap();
        let lab = Arc::clone(&bench.lab);
        let listener: Listener = Arc::new(move |news| match (news, fault) {
            (News::Begun(1), Some(fault)) => lab.fault_on(fault).unwrap(),
            (News::Verified(1), Some(fault)) => lab.fault_off(fault).unwrap(),
            _ => {}
        });
        assert_eq!(bench.heard(approved, None, listener).await, Ended::Done, "{fault:?}");
        assert!(bench.lab.world().sdn.waiting().is_empty());
        assert!(bench.lab.world().sdn.lock.is_none(), "the lock is given back");
        assert_eq!(way_back(entries(&bench).last().unwrap()).left.len(), 1, "it cannot be taken back");
        bench.end().await;
    }
}

#[tokio::test]
async fn a_lock_that_was_left_is_freed_on_request_with_the_name_typed() {
    let bench = bench().await;
    bench.lab.fault_on("sdn-lock-stale").unwrap();
    let plan = sdn::unlock(&bench.world, &entries(&bench));
    assert_eq!(run_named(&bench, plan).await, Ended::Done);
    assert!(bench.lab.world().sdn.lock.is_none());
    bench.end().await;
}

#[tokio::test]
async fn a_cut_change_is_named_as_the_holder_of_the_lock() {
    let bench = bench().await;
    bench.cut_when_noted(bench.approved(bench.look(bench.plan()).await).unwrap()).await;
    let all = entries(&bench);
    let status = sdn::status(&bench.world, &all).await.unwrap();
    assert_eq!(status.lock, LockSeen::Ours(all[0].id));
    let text = serde_json::to_string(&sdn::unlock(&bench.world, &all)).unwrap();
    assert!(text.contains("of this console"), "{text}");
    bench.end().await;
}

#[tokio::test]
async fn a_reload_that_fails_is_told_with_its_log() {
    let bench = bench().await;
    let node = bench.world.site.proxmox.node.clone();
    bench.lab.fault_on(&format!("reload-fails@{node}")).unwrap();
    let (listener, heard) = hearing();
    let approved = bench.approved(bench.look(bench.plan()).await).unwrap();
    let (step, kind, text) = early(bench.heard(approved, None, listener).await);
    assert_eq!((step, kind), (4, TroubleKind::Refused), "{text}");
    assert!(text.contains("did not reload its network") && text.contains(&node), "{text}");
    let heard = heard.lock().unwrap().join("\n");
    assert!(heard.contains("cmd '/bin/ip link set vxlan_rtrip0"), "{heard}");
    bench.lab.fault_off(&format!("reload-fails@{node}")).unwrap();
    assert_eq!(bench.resume_with(SdnLock::default()).await, Ended::Done);
    bench.is_whole().await;
    bench.end().await;
}

#[tokio::test]
async fn a_broken_zone_of_others_is_told_as_theirs() {
    let bench = bench().await;
    // Its error stays whatever is reloaded.
    bench.lab.fault_on("vnet-missing@tdemo").unwrap();
    let (listener, heard) = hearing();
    let approved = bench.approved(bench.look(bench.plan()).await).unwrap();
    assert_eq!(bench.heard(approved, None, listener).await, Ended::Done);
    let heard = heard.lock().unwrap().join("\n");
    let still = bench.lab.faults().iter().any(|fault| fault.starts_with("vnet-missing"));
    assert_eq!(heard.contains("not of this plan, and not as it is to be: zone tdemo on"), still, "{heard}");
    bench.end().await;
}

#[tokio::test]
async fn a_zone_with_options_that_are_not_sent_cannot_be_taken_back_and_says_so() {
    let bench = bench().await;
    bench
        .lab
        .edit(|world| {
            let zone =
                serde_json::json!({"type": "evpn", "controller": "evpn1", "vrf-vxlan": 10_061, "rt-import": "65000:1"});
            world.sdn.set(Kind::Zone, "odd", zone.as_object().unwrap().clone().into_iter().collect());
        })
        .unwrap();
    let gone = Step::absent(Object::SdnZone(SdnZone { zone: "odd".to_owned() }));
    let preview = bench.look(Plan { steps: vec![bench.plan().steps[0].clone(), gone], ..bench.plan() }).await;
    assert!(preview.final_because().is_some_and(|why| why.contains("does not send")), "{:?}", preview.looks);
    let Ok(look) = &preview.looks[1] else { panic!("{:?}", preview.looks) };
    assert_eq!(look.seen.field("rt-import"), Some("65000:1"));
    bench.end().await;
}
