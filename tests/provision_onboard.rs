//! A tenant from nothing to green and back, against the lab with everything that a site has.

#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of a test: a panic is its verdict"
)]

mod change_common;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use change_common::{Bench, Options, Runs};
use deevnet_console::provision::engine::Ended;
use deevnet_console::provision::journal::{ChangeId, Closing};
use deevnet_console::provision::plan::{Plan, Preview, Question};
use deevnet_console::provision::plans::onboard::{Onboarding, plan};
use deevnet_console::provision::plans::workload::Workload;
use deevnet_console::provision::plans::{delete, table};
use deevnet_console::provision::trouble::{Trouble, TroubleKind};
use deevnet_console::provision::undo::way_back;
use deevnet_console::provision::world::{Listener, World};

async fn bench() -> Bench {
    Options::empty().start().await
}

fn onboarding(name: &str) -> Onboarding {
    let tenant: deevnet_console::site::names::TenantName = name.parse().unwrap();
    let first = Some(Workload::new(tenant.clone(), "app".parse().unwrap()));
    Onboarding { tenant, index: None, first }
}

impl Bench {
    async fn made(&self, name: &str) -> Result<Plan, Trouble> {
        plan(&self.world, &onboarding(name)).await
    }

    /// Runs what was looked at.
    async fn go(&self, preview: Preview, id: Option<ChangeId>, listener: Listener) -> Ended {
        self.heard(self.approved(preview).unwrap(), id, listener).await
    }

    /// Takes the newest change up as an operator does, until it comes to its end: what moved is told once, then agreed to.
    async fn taken_up(&self) -> Ended {
        let mut last = None;
        for _ in 0..3 {
            let entry = self.journal.read(self.newest()).unwrap();
            if entry.closed().is_some() {
                return Ended::Done;
            }
            let preview = entry.plan.clone().preview(&self.world, entry.notes()).await;
            let ended = self.go(preview, Some(entry.id), Arc::new(|_| ())).await;
            match &ended {
                Ended::Early { trouble, .. } if trouble.kind == TroubleKind::Moved => last = Some(ended),
                _ => return ended,
            }
        }
        last.unwrap()
    }

    /// Everything of the tenant is there once, and a second run has nothing to do.
    async fn is_whole(&self, name: &str) {
        let again = self.look(self.made(name).await.unwrap()).await;
        let open: Vec<String> = (0..again.plan.steps.len())
            .filter(|step| again.does(*step))
            .map(|step| format!("{}: {:?}", again.plan.steps[step].object.ensure().name(), again.looks[step]))
            .collect();
        assert!(again.is_empty(), "{open:#?}");
        assert_eq!(again.question(), Question::Nothing);
        let vms = self.world.proxmox().unwrap().resources().await.unwrap().vms;
        let own: Vec<_> = vms.iter().filter(|vm| vm.name.as_deref() == Some(&format!("{name}-app"))).collect();
        assert_eq!(own.len(), 1, "{own:?}");
    }
}

#[tokio::test]
async fn a_tenant_is_onboarded_to_green_once_and_deleted_without_a_trace() {
    let bench = bench().await;
    let before = bench.look(bench.made("picow").await.unwrap()).await;
    assert_eq!(before.question(), Question::PlanApply);
    assert_eq!(bench.run(bench.made("picow").await.unwrap()).await, Ended::Done);
    assert_eq!(bench.journal.read(bench.newest()).unwrap().closed(), Some(Closing::Done));
    bench.is_whole("picow").await;

    let tenant = "picow".parse().unwrap();
    let refused = bench.look(delete::plan(&bench.world, &tenant).await.unwrap()).await;
    let (_, why) = refused.untold().next().unwrap();
    assert!(why.text.contains("still has VM") && why.text.contains("picow-app"), "{why:?}");

    let desk = table::Desk { world: Arc::clone(&bench.world), journal: bench.journal.clone() };
    let draft = (table::maker("workload-delete").unwrap().make)(desk, vec!["picow/app".to_owned()]).await.unwrap();
    assert!(matches!(bench.look(draft.plan.clone()).await.question(), Question::Name(_)));
    assert_eq!(bench.run(draft.plan).await, Ended::Done);
    let gone = delete::plan(&bench.world, &tenant).await.unwrap();
    assert!(matches!(bench.look(gone.clone()).await.question(), Question::Name(_)));
    let at = |word: &str| gone.steps.iter().position(|step| step.object.ensure().name().contains(word)).unwrap();
    assert!(at("frr.conf.local") < at("SDN apply"), "under the lock, which the apply gives back");
    assert_eq!(bench.run(gone).await, Ended::Done);
    let again = bench.look(delete::plan(&bench.world, &tenant).await.unwrap()).await;
    assert!(again.is_empty(), "{:?}", again.looks);
    let after = bench.look(bench.made("picow").await.unwrap()).await;
    assert_eq!(after.looks, before.looks, "as it was");
    bench.end().await;
}

/// What was so before, and is nothing of the tenant's, does not keep its change open.
#[tokio::test]
async fn a_tenant_without_a_workload_comes_to_its_end_while_no_check_ins_are_told() {
    let bench = bench().await;
    bench.lab.fault_on("checkins-down").unwrap();
    let bare = plan(&bench.world, &Onboarding { first: None, ..onboarding("picow") }).await.unwrap();
    let ended = bench.run(bare).await;
    assert_eq!(ended, Ended::Done);
    bench.end().await;
}

#[tokio::test]
async fn an_onboarding_is_taken_back() {
    let bench = bench().await;
    let before = bench.look(bench.made("picow").await.unwrap()).await;
    assert_eq!(bench.run(bench.made("picow").await.unwrap()).await, Ended::Done);
    let back = way_back(&bench.journal.read(bench.newest()).unwrap());
    assert_eq!(bench.run(back.plan).await, Ended::Done);
    let after = bench.look(bench.made("picow").await.unwrap()).await;
    let names = |preview: &Preview| -> Vec<String> {
        let does = (0..preview.plan.steps.len()).filter(|step| preview.does(*step));
        does.map(|step| preview.plan.steps[step].object.ensure().name()).collect()
    };
    assert_eq!(names(&after), names(&before), "all of it has to be made again");
    bench.end().await;
}

/// The run is dropped when a step is begun, answered or told of, and taken up again.
#[tokio::test]
async fn wherever_a_run_is_dropped_it_ends_as_undisturbed() {
    let whole = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&whole);
    let undisturbed = bench().await;
    let preview = undisturbed.look(undisturbed.made("picow").await.unwrap()).await;
    let counting: Listener = Arc::new(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
    });
    assert_eq!(undisturbed.go(preview, None, counting).await, Ended::Done);
    undisturbed.end().await;
    let all = whole.load(Ordering::SeqCst);
    for at in (1..all).step_by(19) {
        let bench = bench().await;
        let preview = bench.look(bench.made("picow").await.unwrap()).await;
        let (left, cut) = (AtomicUsize::new(at), Arc::new(AtomicBool::new(false)));
        let told = Arc::clone(&cut);
        let listener: Listener = Arc::new(move |_| {
            let left = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| Some(left.saturating_sub(1)));
            told.store(left == Ok(1) || told.load(Ordering::SeqCst), Ordering::SeqCst);
        });
        {
            let mut run = std::pin::pin!(bench.go(preview, None, listener));
            std::future::poll_fn(|context| {
                let ended = run.as_mut().poll(context).is_ready();
                if ended || cut.load(Ordering::SeqCst) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
            })
            .await;
        }
        let ended = bench.taken_up().await;
        assert_eq!(ended, Ended::Done, "dropped at news {at} of {all}");
        bench.is_whole("picow").await;
        bench.end().await;
    }
}

/// Each fault of the lab's answers is on until the run gives up, then off.
#[tokio::test]
async fn answers_that_are_lost_late_or_wrong_end_as_undisturbed() {
    for fault in ["dns-write-lost", "dns-write-500", "clone-fails", "forward-not-applied", "egress-apply-fails"] {
        let bench = bench().await;
        let plan = bench.made("picow").await.unwrap();
        if bench.lab.fault_on(fault).is_err() {
            panic!("{fault} is no fault of the lab");
        }
        let first = bench.run(plan).await;
        bench.lab.fault_off(fault).unwrap();
        let ended = match first {
            Ended::Done => Ended::Done,
            Ended::Early { .. } => bench.taken_up().await,
        };
        assert_eq!(ended, Ended::Done, "{fault}");
        bench.is_whole("picow").await;
        bench.end().await;
    }
}

#[tokio::test]
async fn two_operators_at_once_get_different_numbers() {
    let bench = bench().await;
    let second = Runs::new();
    let lost = Mutex::new(0);
    let (world, lost) = (&bench.world, &lost);
    let to_the_end = |runs, name: &'static str| async move {
        for _ in 0..20 {
            if once(world, runs, name).await == Ended::Done {
                return;
            }
            *lost.lock().unwrap() += 1;
        }
        panic!("{name} did not come to its end");
    };
    tokio::join!(to_the_end(&bench.runs, "picow"), to_the_end(&second, "shop"));
    let zones = bench.world.proxmox().unwrap().zones(deevnet_console::backends::proxmox::View::Running).await.unwrap();
    let mut numbers: Vec<_> = zones.iter().filter_map(|zone| zone.running.as_ref()?.vrf_vxlan).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [10_001, 10_002]);
    bench.end().await;
}

/// One of two operators: makes the plan, runs it, and where it stops makes it anew.
async fn once(world: &Arc<World>, runs: &Runs, name: &str) -> Ended {
    let stopped = |trouble: Trouble| Ended::Early { step: 0, trouble };
    let preview = match plan(world, &onboarding(name)).await {
        Ok(made) => runs.look(world, made).await,
        Err(trouble) => return stopped(trouble),
    };
    let approved = match Runs::approved_as(world, preview, Some(name)) {
        Ok(approved) => approved,
        Err(refusal) => return stopped(Trouble::new(TroubleKind::Refused, refusal.to_string())),
    };
    let listener: Listener = Arc::new(|_| ());
    runs.heard(world, approved, None, &listener).await
}
