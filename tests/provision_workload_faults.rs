//! A workload by plan when things go wrong: whatever happens to requests, tasks and the console, one VM comes of it.

#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of a test: a panic is its verdict"
)]

mod change_common;
#[path = "change_common/workload.rs"]
mod workload;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use change_common::Bench;
use deevnet_console::backends::http::Limits;
use deevnet_console::backends::powerdns::Name;
use deevnet_console::backends::proxmox::Client;
use deevnet_console::lab::state::{Role, Task};
use deevnet_console::provision::engine::Ended;
use deevnet_console::provision::journal::Closing;
use deevnet_console::provision::plan::Plan;
use deevnet_console::provision::plans::table::{Desk, maker};
use deevnet_console::provision::plans::workload::{Workload, create, delete, numbers, replace};
use deevnet_console::provision::trouble::TroubleKind;
use deevnet_console::provision::world::{Listener, News};
use deevnet_console::site::numbering::TenantIndex;
use serde_json::json;
use workload::{bench, early, workload};

fn web() -> Workload {
    Workload { disk_gib: Some(40), ..workload("web") }
}

#[tokio::test]
async fn answers_that_are_lost_or_wrong_make_nothing_twice() {
    for fault in ["answer-lost", "answer-500", "answer-596", "answer-599"] {
        let bench = bench().await;
        let before = bench.clones().await;
        bench.lab.fault_on(fault).unwrap();
        // The question to the guest agent is a POST: its answer is lost as well, until the fault is over.
        let (step, kind, text, _) = early(bench.run(bench.create(&web()).await).await);
        assert!(step == 5 && kind.may_pass(), "{fault}: step {step}: {text}");
        bench.lab.fault_off(fault).unwrap();
        assert_eq!(bench.resume().await, Ended::Done, "{fault}");
        bench.is_whole(&web()).await;
        assert_eq!(bench.clones().await, before + 1, "{fault}");

        bench.lab.fault_on(fault).unwrap();
        let plan = delete(&bench.world, &web().tenant, &web().name).await.unwrap();
        assert_eq!(bench.run(plan).await, Ended::Done, "{fault}");
        assert_eq!(bench.vms().await.len(), 1, "{fault}");
        bench.end().await;
    }
}

#[tokio::test]
async fn an_answer_that_comes_after_it_was_given_up_makes_nothing_twice() {
    let mut bench = bench().await;
    // The lab answers after 45 s; here nobody waits that long.
    let site = &bench.world.site;
    let token = std::fs::read_to_string(bench.lab.dir().join("proxmox-writer-token")).unwrap();
    let limits = Limits { total: Duration::from_millis(1500), ..Limits::default() };
    let client = Client::new(&site.proxmox, token.trim().to_owned().into(), limits).unwrap();
    Arc::get_mut(&mut bench.world).unwrap().proxmox = Ok(client);
    let before = bench.clones().await;
    bench.lab.fault_on("answer-late").unwrap();
    let mut plan = bench.create(&web()).await;
    // The clone alone: each late answer takes its time.
    plan.steps.truncate(1);
    assert_eq!(bench.run(plan).await, Ended::Done);
    assert_eq!(bench.clones().await, before + 1);
    bench.lab.fault_off("answer-late").unwrap();
    assert_eq!(bench.run(bench.create(&web()).await).await, Ended::Done);
    bench.is_whole(&web()).await;
    bench.end().await;
}

#[tokio::test]
async fn a_clone_that_runs_is_waited_for_by_whoever_takes_the_change_up() {
    for ended in [false, true] {
        let bench = bench().await;
        let before = bench.clones().await;
        let approved = bench.approved(bench.look(bench.create(&web()).await).await).unwrap();
        cut_when(&bench, bench.engine(approved, None), || bench.told().contains("task UPID")).await;
        if ended {
            (bench.world.sleep)(Duration::from_secs(5)).await;
        }
        assert_eq!(bench.resume().await, Ended::Done);
        assert_eq!(bench.told().contains("clone of fedora-tenant-44-1.10 to"), !ended, "{}", bench.told());
        assert_eq!(bench.clones().await, before + 1);
        bench.is_whole(&web()).await;
        bench.end().await;
    }
}

#[tokio::test]
async fn a_clone_that_fails_leaves_nothing_and_says_why() {
    for (fault, words, remedy) in
        [("clone-fails", "copy failed", "its whole log"), ("storage-full", "free space", "make room on the storage")]
    {
        let bench = bench().await;
        bench.lab.fault_on(fault).unwrap();
        let (step, kind, text, help) = early(bench.run(bench.create(&web()).await).await);
        assert_eq!((step, kind), (0, TroubleKind::Refused), "{text}");
        assert!(text.contains(words) && help.contains(remedy), "{fault}: {text} {help}");
        assert_eq!(bench.vms().await.len(), 1, "{fault}: nothing is left");
        bench.lab.fault_off(fault).unwrap();
        assert_eq!(bench.resume().await, Ended::Done, "{fault}");
        bench.is_whole(&web()).await;
        bench.end().await;
    }
}

#[tokio::test]
async fn without_quorum_nothing_is_tried_twice() {
    let bench = bench().await;
    let plan = bench.create(&web()).await;
    bench.lab.fault_on("pve-no-quorum").unwrap();
    let (step, kind, text, help) = early(bench.run(plan).await);
    assert_eq!((step, kind), (0, TroubleKind::Refused));
    assert!(text.contains("no quorum") && help.contains("cluster nodes back"), "{text} {help}");
    bench.lab.fault_off("pve-no-quorum").unwrap();
    assert_eq!(bench.resume().await, Ended::Done);
    bench.is_whole(&web()).await;
    bench.end().await;
}

#[tokio::test]
async fn a_vm_that_does_not_start_says_what_its_log_says() {
    let bench = bench().await;
    // Its VNet is not on the node: Proxmox takes the card, and the start fails (facts/proxmox.md §10).
    bench.lab.fault_on("vnet-missing@tdemo").unwrap();
    let (step, _, text, _) = early(bench.run(bench.create(&web()).await).await);
    assert!(step == 4 && text.contains("bridge 'tdemo0' does not exist"), "{step} {text}");
    bench.lab.fault_off("vnet-missing@tdemo").unwrap();
    assert_eq!(bench.resume().await, Ended::Done);
    bench.is_whole(&web()).await;
    bench.end().await;
}

/// A plan of the table, made from these words.
async fn asked(bench: &Bench, name: &str, words: &[&str]) -> Plan {
    let desk = Desk { world: Arc::clone(&bench.world), journal: bench.journal.clone() };
    let words = words.iter().map(|word| (*word).to_owned()).collect();
    (maker(name).unwrap().make)(desk, words).await.map_err(|why| why.text).unwrap().plan
}

#[tokio::test]
async fn a_lock_is_waited_for_and_then_told_with_who_holds_it() {
    let bench = bench().await;
    let named = async || {
        let zone = Name::new("tdemo.mobile.deevnet.net");
        let zone = bench.world.powerdns().unwrap().zone(&zone).await.unwrap();
        zone.rrsets.iter().filter(|set| set.name.as_str().starts_with("web.")).count()
    };
    // The backup began before the plan was made, or begins after it.
    for before in [true, false] {
        assert_eq!(bench.run(asked(&bench, "workload-create", &["tdemo/web"]).await).await, Ended::Done);
        let vmid = bench.vmid("tdemo-web").await;
        let lock = |lock: Option<&str>| {
            bench.edit(|world| {
                let config = &mut world.guests.get_mut(&vmid).unwrap().config;
                match lock {
                    Some(lock) => drop(config.insert("lock".to_owned(), json!(lock))),
                    None => drop(config.shift_remove("lock")),
                }
            });
        };
        if before {
            lock(Some("backup"));
        }
        let upid = format!("UPID:{}:00001234:00005678:6A6C2000:vzdump::root@pam:", bench.world.site.proxmox.node);
        let task = Task { upid: upid.clone(), ended: None, status: String::new(), log: Vec::new(), saved: false };
        bench.edit(|world| world.tasks.push(task));
        let plan = asked(&bench, "workload-delete", &["tdemo/web"]).await;
        let approved = bench.approved(bench.look(plan).await).unwrap();
        let shown = &approved.preview().looks.first().unwrap().as_ref().unwrap().todo;
        assert_eq!(shown.changes().iter().any(|part| part.now.as_deref() == Some("backup")), before, "{shown:?}");
        lock(Some("backup"));
        let (step, kind, text, help) = early(bench.engine(approved, None).await);
        assert_eq!((step, kind), (0, TroubleKind::Busy), "{text}");
        assert!(text.contains("is locked (backup), held by") && help.contains("qm unlock"), "{text} {help}");
        assert!(bench.told().contains("waits for VM"), "{}", bench.told());
        assert_eq!(named().await, 1, "its name is still there");
        lock(None);
        bench.edit(|world| world.tasks.retain(|task| task.upid != upid));
        assert_eq!(bench.resume().await, Ended::Done);
        assert_eq!((named().await, bench.vms().await.len()), (0, 1));
        bench.heard.lock().unwrap().clear();
    }
    bench.end().await;
}

/// A lock that no task holds does not end by itself; a machine that goes while its lock is waited for is gone as it is to be.
#[tokio::test]
async fn a_lock_that_nobody_holds_is_refused_and_a_machine_that_goes_meanwhile_is_gone() {
    let bench = bench().await;
    assert_eq!(bench.run(asked(&bench, "workload-create", &["tdemo/web"]).await).await, Ended::Done);
    let vmid = bench.vmid("tdemo-web").await;
    let lock = |world: &mut deevnet_console::lab::state::World| {
        world.guests.get_mut(&vmid).unwrap().config.insert("lock".to_owned(), json!("suspended"));
    };
    let plan = asked(&bench, "workload-delete", &["tdemo/web"]).await;
    bench.edit(lock);
    let why = delete(&bench.world, &web().tenant, &web().name).await.unwrap_err();
    assert_eq!(why.kind, TroubleKind::Refused);
    assert!(why.text.contains("is locked (suspended), and no task works on it"), "{why:?}");
    assert!(why.help.is_some_and(|help| help.contains(&format!("qm unlock {vmid}"))));

    let approved = bench.approved(bench.look(plan).await).unwrap();
    let lab = Arc::clone(&bench.lab);
    let listener: Listener = Arc::new(move |news| {
        if matches!(&news, News::Line(_, line) if line.contains("waits for VM")) {
            lab.edit(|world| drop(world.guests.remove(&vmid))).unwrap();
        }
    });
    assert_eq!(bench.heard(approved, None, listener).await, Ended::Done);
    assert!(bench.told().contains("locked (suspended)"), "{}", bench.told());
    bench.end().await;
}

#[tokio::test]
async fn what_a_clone_left_is_removed_only_where_it_is_this_changes_own() {
    let bench = bench().await;
    let plan = bench.create(&web()).await;
    let vmid = numbers(&bench.world.site, &plan).unwrap().vmid;
    // The console ends while the clone runs; its node is restarted, and root frees what was left.
    let approved = bench.approved(bench.look(plan).await).unwrap();
    cut_when(&bench, bench.engine(approved, None), || bench.told().contains("task UPID")).await;
    let left = |lock: bool| {
        bench.edit(|world| {
            let guest = world.guests.get_mut(&vmid).unwrap();
            guest.config.retain(|key, _| key == "smbios1");
            if lock {
                guest.config.insert("lock".to_owned(), json!("clone"));
            }
            for task in world.tasks.iter_mut().filter(|task| task.upid.contains("qmclone")) {
                (task.ended, task.status) = (Some(0), "unexpected status".to_owned());
            }
        });
    };
    (bench.world.sleep)(Duration::from_secs(3)).await;
    bench.vms().await;
    left(true);
    let (step, _, text, help) = early(bench.resume().await);
    assert!(step == 0 && text.contains("left locked (clone)"), "{step} {text}");
    assert!(help.contains(&format!("qm unlock {vmid}")), "{help}");
    left(false);
    // Another change does not take it for its own.
    let other = create(&bench.world, &web()).await.unwrap();
    assert_ne!(numbers(&bench.world.site, &other).unwrap().vmid, vmid);
    assert_eq!(bench.resume().await, Ended::Done);
    assert_eq!(bench.vmid("tdemo-web").await, vmid);
    bench.is_whole(&web()).await;
    bench.end().await;
}

/// Drops a run as soon as something holds, or when it ended.
async fn cut_when(bench: &Bench, run: impl Future<Output = Ended>, holds: impl Fn() -> bool) {
    let mut run = std::pin::pin!(run);
    std::future::poll_fn(|context| match run.as_mut().poll(context) {
        Poll::Pending if !holds() => Poll::Pending,
        _ => Poll::Ready(()),
    })
    .await;
    bench.heard.lock().unwrap().clear();
}

/// Ends what was begun and maybe cut, whatever it is.
async fn finish(bench: &Bench) -> Ended {
    match bench.journal.ids().unwrap().last() {
        None => Ended::Done,
        Some(_) if bench.closed() == Some(Closing::Done) => Ended::Done,
        Some(_) => bench.resume().await,
    }
}

#[tokio::test]
async fn a_run_that_is_dropped_at_any_step_ends_as_the_undisturbed_one() {
    for step in 0..6 {
        let bench = bench().await;
        let approved = bench.approved(bench.look(bench.create(&web()).await).await).unwrap();
        let begun = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&begun);
        let listener: Listener = Arc::new(move |news| {
            told.fetch_or(matches!(news, News::Begun(at) if at == step), Ordering::SeqCst);
        });
        cut_when(&bench, bench.heard(approved, None, listener), || begun.load(Ordering::SeqCst)).await;
        assert!(begun.load(Ordering::SeqCst), "step {step}");
        assert_eq!(finish(&bench).await, Ended::Done, "dropped at step {step}");
        bench.is_whole(&web()).await;
        bench.end().await;
    }
}

#[tokio::test]
async fn a_run_that_is_dropped_between_any_two_requests_ends_as_the_undisturbed_one() {
    let mut cut = 0;
    for polls in [2_u32, 4, 6, 9, 13, 18, 24, 31, 39, 50, 65, 85] {
        let bench = bench().await;
        assert_eq!(bench.run(bench.create(&workload("web")).await).await, Ended::Done);
        let plan = replace(&bench.world, &workload("web")).await.unwrap();
        let approved = bench.approved(bench.look(plan).await).unwrap();
        let left = std::cell::Cell::new(polls);
        cut_when(&bench, bench.engine(approved, None), || {
            left.set(left.get().saturating_sub(1));
            left.get() == 0
        })
        .await;
        cut += u32::from(bench.closed().is_none());
        let mut ended = finish(&bench).await;
        // What went on at Proxmox between the look and the run: looked at once more.
        if matches!(&ended, Ended::Early { trouble, .. } if trouble.kind == TroubleKind::Moved) {
            ended = bench.resume().await;
        }
        assert_eq!(ended, Ended::Done, "dropped after {polls} polls");
        bench.is_whole(&workload("web")).await;
        bench.end().await;
    }
    assert!(cut >= 6, "only {cut} were dropped in the middle");
}

#[tokio::test]
async fn two_creates_at_once_get_different_numbers_and_both_end() {
    let bench = bench().await;
    let (one, other) = (workload("one"), workload("other"));
    let plans = (bench.create(&one).await, bench.create(&other).await);
    let vmid = |plan| numbers(&bench.world.site, plan).unwrap().vmid;
    assert_eq!(vmid(&plans.0), vmid(&plans.1), "both saw the same free number");
    let mut ended = Vec::new();
    let runs = futures_util::future::join(bench.run(plans.0), bench.run(plans.1)).await;
    for (wanted, run) in [(&one, runs.0), (&other, runs.1)] {
        if run == Ended::Done {
            ended.push(wanted);
            continue;
        }
        let (_, _, text, help) = early(run);
        assert!(help.contains("make the plan again"), "{text}: {help}");
        assert_eq!(bench.run(bench.create(wanted).await).await, Ended::Done);
        ended.push(wanted);
    }
    assert_eq!(ended.len(), 2);
    assert_ne!(bench.vmid("tdemo-one").await, bench.vmid("tdemo-other").await);
    assert_eq!(bench.vms().await.len(), 3);
    bench.end().await;
}

#[tokio::test]
async fn what_cannot_be_seen_whole_is_not_free() {
    let bench = bench().await;
    // A number whose VM has no name is not passed over, and no second VM is made beside it.
    let vmid = bench.vms().await[0].vmid + 1;
    bench.edit(|world| {
        let other = world.guests.values().next().unwrap().clone();
        let config = [("lock".to_owned(), json!("clone"))].into_iter().collect();
        world.guests.insert(vmid, deevnet_console::lab::state::Guest { config, ..other });
    });
    let why = create(&bench.world, &web()).await.unwrap_err();
    assert_eq!(why.kind, TroubleKind::Busy);
    assert!(why.text.contains("is being cloned, and nobody can tell yet"), "{why}");

    // What is hidden from the token is unknown, not absent.
    bench.edit(|world| {
        drop(world.guests.remove(&vmid));
        world.tokens.values_mut().for_each(|token| token.role = Role::Empty);
    });
    for (index, words, right) in [
        (None, "every SDN zone", "SDN.Audit on /sdn/zones"),
        (TenantIndex::new(1).ok(), "every VM", "VM.Audit on /vms"),
    ] {
        let why = create(&bench.world, &Workload { index, ..web() }).await.unwrap_err();
        assert_eq!(why.kind, TroubleKind::Unknown);
        assert!(why.text.contains(words), "{why}");
        assert!(why.help.as_ref().is_some_and(|help| help.contains(right) && !help.contains("onboard")), "{why:?}");
    }
    bench.end().await;
}
