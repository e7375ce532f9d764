//! A lab that can be changed, and plans that run on it: waiting moves its clock.

#![allow(dead_code, reason = "not every test needs all of it")]

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
use deevnet_console::provision::world::{Listener, Patience, World};
use deevnet_console::site::Site;
use deevnet_console::site::names::TenantName;
use deevnet_console::site::numbering::TenantIndex;
use jiff::Timestamp;
use tokio::sync::watch;

/// A lab, the world of its site, and a journal.
pub struct Bench {
    /// The lab.
    pub lab: Arc<Lab>,
    /// Its site and clients.
    pub world: Arc<World>,
    /// Changes.
    pub journal: Journal,
    _state: tempfile::TempDir,
}

/// A lab with two tenants and the first half alone.
pub async fn bench() -> Bench {
    looking_every(Duration::from_secs(1)).await
}

/// The same with so much time between two looks.
pub async fn looking_every(between: Duration) -> Bench {
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
    let lab = Arc::new(Lab::start(options).await.unwrap());
    let site = Arc::new(Site::parse(&lab.site_toml(), &lab.dir().join("site.toml")).unwrap());
    // Waiting moves the lab's clock.
    let sleep = Arc::new(move |length: Duration| {
        now.fetch_add(i64::try_from(length.as_millis()).unwrap(), Ordering::SeqCst);
        Box::pin(tokio::task::yield_now()) as futures_util::future::BoxFuture<'static, ()>
    });
    let patience = Patience { looks: 8, between, ..Patience::default() };
    let world = Arc::new(World::connect(&site, clock, sleep, patience).await);
    let state = tempfile::tempdir().unwrap();
    Bench { lab, world, journal: Journal::in_state(state.path()), _state: state }
}

/// Who runs it.
pub fn who() -> Who {
    Who { user: "operator".to_owned(), host: "console".to_owned(), pid: std::process::id() }
}

/// The network of a tenant that the lab does not have.
pub fn network(site: &Site, lock: SdnLock) -> Plan {
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
    pub fn plan(&self) -> Plan {
        network(&self.world.site, SdnLock::default())
    }

    pub async fn look(&self, plan: Plan) -> Preview {
        plan.preview(&self.world, Default::default()).await
    }

    pub fn approved(&self, preview: Preview) -> Result<ApprovedPlan, Refusal> {
        self.approved_as(preview, None)
    }

    /// The same with a name typed back.
    pub fn approved_as(&self, preview: Preview, name: Option<&str>) -> Result<ApprovedPlan, Refusal> {
        let consent = Consent::Flags { write: true, yes: true, confirm: name.map(str::to_owned) };
        ApprovedPlan::of(preview, &self.world.site, &consent, (self.world.clock)())
    }

    pub async fn engine(&self, approved: ApprovedPlan, id: Option<ChangeId>) -> Ended {
        self.heard(approved, id, Arc::new(|_| ())).await
    }

    /// The same with a listener.
    pub async fn heard(&self, approved: ApprovedPlan, id: Option<ChangeId>, listener: Listener) -> Ended {
        let now = (self.world.clock)();
        let change = match id {
            None => self.journal.begin(&who(), approved.plan(), now).unwrap(),
            Some(id) => self.journal.take_up(id).unwrap().1,
        };
        let (_keep, stop) = watch::channel(false);
        Engine::new(approved, change, &self.world, &listener, &stop).run(&who()).await
    }

    pub async fn run(&self, plan: Plan) -> Ended {
        let approved = self.approved(self.look(plan).await).unwrap();
        self.engine(approved, None).await
    }

    /// Takes the newest change up, as it was planned or with another lock.
    pub async fn resume(&self, lock: SdnLock) -> Ended {
        let id = *self.journal.ids().unwrap().last().unwrap();
        let entry = self.journal.read(id).unwrap();
        let mut plan = entry.plan.clone();
        plan.steps[0].object = Object::SdnLock(lock);
        let preview = plan.preview(&self.world, entry.notes()).await;
        self.engine(self.approved(preview).unwrap(), Some(id)).await
    }

    /// Runs a plan until the token of its lock is noted, and no further.
    pub async fn cut_when_noted(&self, approved: ApprovedPlan) {
        let noted = || {
            let id = self.journal.ids().unwrap().last().copied();
            id.and_then(|id| self.journal.read(id).ok()).is_some_and(|entry| entry.notes().get("sdn-lock").is_some())
        };
        {
            let mut run = std::pin::pin!(self.engine(approved, None));
            std::future::poll_fn(|context| {
                let ended = run.as_mut().poll(context).is_ready();
                assert!(!ended, "it was cut");
                if noted() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
            })
            .await;
        }
    }

    /// Stops the lab.
    pub async fn end(self) {
        drop(self.world);
        if let Some(lab) = Arc::into_inner(self.lab) {
            lab.shutdown().await;
        }
    }

    pub fn closed(&self) -> Option<Closing> {
        self.journal.read(*self.journal.ids().unwrap().last().unwrap()).unwrap().closed()
    }

    /// Everything is there, realised, applied, and the lock is free.
    pub async fn is_whole(&self) {
        let again = self.look(self.plan()).await;
        assert!(again.is_empty(), "{:?}", again.looks);
        assert_eq!(again.question(), Question::Nothing);
        self.lock_is_free().await;
    }

    pub async fn lock_is_free(&self) {
        let only_lock =
            Plan { steps: vec![self.plan().steps[0].clone(), renamed(&self.plan().steps[1])], ..self.plan() };
        let Ended::Early { step, .. } = self.run(only_lock).await else {
            panic!("a zone without a controller is refused")
        };
        assert_eq!(step, 1, "the lock could be taken");
    }
}

/// A zone that Proxmox refuses.
pub fn renamed(step: &Step) -> Step {
    let mut step = step.clone();
    step.object = Object::SdnZone(SdnZone { zone: "probe".to_owned() });
    if let deevnet_console::provision::fields::Wanted::Present(fields) = &mut step.wanted {
        fields.insert("controller".to_owned(), "nobody".to_owned());
    }
    step
}

pub fn early(ended: Ended) -> (usize, TroubleKind, String) {
    match ended {
        Ended::Early { step, trouble } => (step, trouble.kind, trouble.text),
        Ended::Done => panic!("it came to its end"),
    }
}
