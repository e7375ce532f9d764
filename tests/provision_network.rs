//! A tenant's network by plan, against the lab: from nothing to realised, whatever happens to the requests, and back.

#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of a test: a panic is its verdict"
)]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use deevnet_console::lab::{Lab, LabOptions, Pace};
use deevnet_console::provision::approve::{ApprovedPlan, Consent, Refusal};
use deevnet_console::provision::engine::{Ended, Engine};
use deevnet_console::provision::fields::{Fields, fields};
use deevnet_console::provision::journal::{ChangeId, Closing, Journal, Who};
use deevnet_console::provision::object::Object;
use deevnet_console::provision::plan::{Plan, Preview, Question, Step, Subject};
use deevnet_console::provision::sdn::{SdnApply, SdnLock, SdnSubnet, SdnVnet, SdnZone};
use deevnet_console::provision::trouble::TroubleKind;
use deevnet_console::provision::undo::way_back;
use deevnet_console::provision::world::{Listener, Patience, World};
use deevnet_console::site::Site;
use deevnet_console::site::names::TenantName;
use deevnet_console::site::numbering::TenantIndex;
use jiff::Timestamp;
use tokio::sync::watch;

struct Bench {
    lab: Lab,
    world: Arc<World>,
    journal: Journal,
    _state: tempfile::TempDir,
}

async fn bench() -> Bench {
    let now = Arc::new(AtomicI64::new(1_795_950_000_000));
    let read = Arc::clone(&now);
    let clock: Arc<dyn Fn() -> Timestamp + Send + Sync> =
        Arc::new(move || Timestamp::from_millisecond(read.load(Ordering::SeqCst)).unwrap());
    let program = PathBuf::from(env!("CARGO_BIN_EXE_deevnet-console"));
    let options = LabOptions {
        tenants: Some(2),
        writable: true,
        second_half: false,
        pace: Pace::Clock,
        ..LabOptions::new(Arc::clone(&clock), program)
    };
    let lab = Lab::start(options).await.unwrap();
    let site = Arc::new(Site::parse(&lab.site_toml(), &lab.dir().join("site.toml")).unwrap());
    // Waiting moves the lab's clock.
    let sleep = Arc::new(move |length: Duration| {
        now.fetch_add(i64::try_from(length.as_millis()).unwrap(), Ordering::SeqCst);
        Box::pin(tokio::task::yield_now()) as futures_util::future::BoxFuture<'static, ()>
    });
    let patience = Patience { looks: 8, ..Patience::default() };
    let world = Arc::new(World::connect(&site, clock, sleep, patience).await);
    let state = tempfile::tempdir().unwrap();
    Bench { lab, world, journal: Journal::in_state(state.path()), _state: state }
}

fn who() -> Who {
    Who { user: "operator".to_owned(), host: "console".to_owned(), pid: std::process::id() }
}

/// The network of a tenant that the lab does not have.
fn network(site: &Site, lock: SdnLock) -> Plan {
    let name: TenantName = "rtrip".parse().unwrap();
    let index = TenantIndex::new(60).unwrap();
    let (zone, vnet) = (name.as_str().to_owned(), name.vnet(0).unwrap());
    let node = site.proxmox.node.clone();
    let derived = &site.numbering;
    let zone_fields = fields([
        ("type", "evpn".to_owned()),
        ("controller", site.proxmox.controller.clone()),
        ("vrf-vxlan", derived.vrf_vni(index).to_string()),
        ("nodes", node.clone()),
        ("exitnodes", node.clone()),
        ("exitnodes-primary", node.clone()),
    ]);
    let vnet_fields = fields([("zone", zone.clone()), ("tag", derived.vnet_vni(index, 0).unwrap().to_string())]);
    let subnet = SdnSubnet { zone: zone.clone(), vnet: vnet.clone(), net: derived.subnet(index) };
    let subnet_fields = fields([("gateway", derived.gateway(index).to_string()), ("snat", "1".to_owned())]);
    Plan {
        site: site.name.clone(),
        title: "Network of rtrip".to_owned(),
        subject: Subject { name: zone.clone(), tenant: Some(zone.clone()) },
        steps: vec![
            Step::present(Object::SdnLock(lock), SdnLock::held()),
            Step::present(Object::SdnZone(SdnZone { zone }), zone_fields),
            Step::present(Object::SdnVnet(SdnVnet { vnet }), vnet_fields),
            Step::present(Object::SdnSubnet(subnet), subnet_fields).following(),
            Step::present(Object::SdnApply(SdnApply { nodes: vec![node] }), Fields::new()).following(),
        ],
        reach: None,
    }
}

impl Bench {
    fn plan(&self) -> Plan {
        network(&self.world.site, SdnLock::default())
    }

    async fn look(&self, plan: Plan) -> Preview {
        plan.preview(&self.world, Default::default()).await
    }

    fn approved(&self, preview: Preview) -> Result<ApprovedPlan, Refusal> {
        let consent = Consent::Flags { write: true, yes: true, confirm: None };
        ApprovedPlan::of(preview, &self.world.site, &consent, (self.world.clock)())
    }

    async fn engine(&self, approved: ApprovedPlan, id: Option<ChangeId>) -> Ended {
        let now = (self.world.clock)();
        let change = match id {
            None => self.journal.begin(&who(), approved.plan(), now).unwrap(),
            Some(id) => self.journal.take_up(id).unwrap().1,
        };
        let (_keep, stop) = watch::channel(false);
        let listener: Listener = Arc::new(|_| ());
        Engine::new(approved, change, &self.world, &listener, &stop).run(&who()).await
    }

    async fn run(&self, plan: Plan) -> Ended {
        let approved = self.approved(self.look(plan).await).unwrap();
        self.engine(approved, None).await
    }

    /// Takes the newest change up, as it was planned or with another lock.
    async fn resume(&self, lock: SdnLock) -> Ended {
        let id = *self.journal.ids().unwrap().last().unwrap();
        let entry = self.journal.read(id).unwrap();
        let mut plan = entry.plan.clone();
        plan.steps[0].object = Object::SdnLock(lock);
        let preview = plan.preview(&self.world, entry.notes()).await;
        self.engine(self.approved(preview).unwrap(), Some(id)).await
    }

    fn closed(&self) -> Option<Closing> {
        self.journal.read(*self.journal.ids().unwrap().last().unwrap()).unwrap().closed()
    }

    /// Everything is there, realised, applied, and the lock is free.
    async fn is_whole(&self) {
        let again = self.look(self.plan()).await;
        assert!(again.is_empty(), "{:?}", again.looks);
        assert_eq!(again.question(), Question::Nothing);
        self.lock_is_free().await;
    }

    async fn lock_is_free(&self) {
        let only_lock =
            Plan { steps: vec![self.plan().steps[0].clone(), renamed(&self.plan().steps[1])], ..self.plan() };
        let Ended::Early { step, .. } = self.run(only_lock).await else {
            panic!("a zone without a controller is refused")
        };
        assert_eq!(step, 1, "the lock could be taken");
    }
}

/// A zone that Proxmox refuses.
fn renamed(step: &Step) -> Step {
    let mut step = step.clone();
    step.object = Object::SdnZone(SdnZone { zone: "probe".to_owned() });
    if let deevnet_console::provision::fields::Wanted::Present(fields) = &mut step.wanted {
        fields.insert("controller".to_owned(), "nobody".to_owned());
    }
    step
}

fn early(ended: Ended) -> (usize, TroubleKind, String) {
    match ended {
        Ended::Early { step, trouble } => (step, trouble.kind, trouble.text),
        Ended::Done => panic!("it came to its end"),
    }
}

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
    bench.lab.shutdown().await;
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
        let again = early(bench.resume(SdnLock::default()).await);
        assert!(again.0 == 0 && again.2.contains("probably by this change"), "{again:?}");
        ended = bench.resume(SdnLock { by_force: true }).await;
        assert_eq!(ended, Ended::Done, "{fault}");
        bench.is_whole().await;
        bench.lab.shutdown().await;
    }
}

#[tokio::test]
async fn a_foreign_lock_and_foreign_edits_are_named_and_left_alone() {
    let bench = bench().await;
    bench.lab.fault_on("sdn-locked").unwrap();
    let (step, kind, text) = early(bench.run(bench.plan()).await);
    assert_eq!((step, kind), (0, TroubleKind::Refused));
    assert!(text.contains("somebody else holds the SDN lock"), "{text}");
    bench.lab.fault_off("sdn-locked").unwrap();

    bench.lab.fault_on("foreign-edits@tdemo").unwrap();
    let preview = bench.look(bench.plan()).await;
    assert_eq!(preview.riders().len(), 1, "{:?}", preview.riders());
    assert!(preview.riders()[0].contains("of tdemo0 (deleted)"), "{:?}", preview.riders());
    assert!(matches!(bench.approved(preview), Err(Refusal::NameNeeded { .. })));
    bench.lab.shutdown().await;
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
    assert_eq!(bench.resume(SdnLock::default()).await, Ended::Done);
    bench.is_whole().await;
    bench.lab.shutdown().await;
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
                match bench.resume(SdnLock::default()).await {
                    Ended::Early { step: 0, trouble } if trouble.text.contains("probably by this change") => {
                        bench.resume(SdnLock { by_force: true }).await
                    }
                    other => other,
                }
            }
        };
        assert_eq!(ended, Ended::Done, "dropped after {polls} polls");
        bench.is_whole().await;
        bench.lab.shutdown().await;
    }
    assert!(cut >= 5, "only {cut} were dropped in the middle");
}
