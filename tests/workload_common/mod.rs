//! A lab to make workloads in: waiting moves its clock.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    dead_code,
    reason = "helpers of tests, not all used by each: a panic is the verdict"
)]

use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use deevnet_console::backends::proxmox::Client;
use deevnet_console::backends::proxmox::model::{Vm, VmConfig};
use deevnet_console::lab::state::World as LabWorld;
use deevnet_console::lab::{Lab, LabOptions, Pace};
use deevnet_console::provision::approve::{ApprovedPlan, Consent, Refusal};
use deevnet_console::provision::engine::{Ended, Engine};
use deevnet_console::provision::journal::{ChangeId, Closing, Journal, Who};
use deevnet_console::provision::plan::{Plan, Preview};
use deevnet_console::provision::plans::workload::{Workload, create};
use deevnet_console::provision::trouble::TroubleKind;
use deevnet_console::provision::world::{Listener, News, Patience, World};
use deevnet_console::site::Site;
use jiff::Timestamp;
use tokio::sync::watch;

pub struct Bench {
    pub lab: Lab,
    pub world: Arc<World>,
    pub journal: Journal,
    pub lines: Arc<Mutex<Vec<String>>>,
    _state: tempfile::TempDir,
}

pub async fn bench() -> Bench {
    let now = Arc::new(AtomicI64::new(1_795_950_000_000));
    let read = Arc::clone(&now);
    let clock: Arc<dyn Fn() -> Timestamp + Send + Sync> =
        Arc::new(move || Timestamp::from_millisecond(read.load(Ordering::SeqCst)).unwrap());
    let program = PathBuf::from(env!("CARGO_BIN_EXE_deevnet-console"));
    let options = LabOptions {
        tenants: Some(2),
        workloads: Some(1),
        writable: true,
        pace: Pace::Clock,
        ..LabOptions::new(Arc::clone(&clock), program)
    };
    let lab = Lab::start(options).await.unwrap();
    let site = Arc::new(Site::parse(&lab.site_toml(), &lab.dir().join("site.toml")).unwrap());
    let sleep = Arc::new(move |length: Duration| {
        now.fetch_add(i64::try_from(length.as_millis()).unwrap(), Ordering::SeqCst);
        Box::pin(tokio::task::yield_now()) as futures_util::future::BoxFuture<'static, ()>
    });
    let patience = Patience { looks: 8, ..Patience::default() };
    let world = Arc::new(World::connect(&site, clock, sleep, patience).await);
    let state = tempfile::tempdir().unwrap();
    let lines = Arc::default();
    Bench { lab, world, journal: Journal::in_state(state.path()), lines, _state: state }
}

fn who() -> Who {
    Who { user: "operator".to_owned(), host: "console".to_owned(), pid: std::process::id() }
}

pub fn workload(name: &str) -> Workload {
    Workload::new("tdemo".parse().unwrap(), name.parse().unwrap())
}

pub fn early(ended: Ended) -> (usize, TroubleKind, String, String) {
    match ended {
        Ended::Early { step, trouble } => (step, trouble.kind, trouble.text, trouble.help.unwrap_or_default()),
        Ended::Done => panic!("it came to its end"),
    }
}

impl Bench {
    pub fn client(&self) -> &Client {
        self.world.proxmox().unwrap()
    }

    pub async fn create(&self, wanted: &Workload) -> Plan {
        create(&self.world, wanted).await.unwrap()
    }

    pub async fn look(&self, plan: Plan) -> Preview {
        plan.preview(&self.world, Default::default()).await
    }

    pub fn approved(&self, preview: Preview) -> Result<ApprovedPlan, Refusal> {
        let confirm = Some(preview.plan.subject.name.clone());
        let consent = Consent::Flags { write: true, yes: true, confirm };
        ApprovedPlan::of(preview, &self.world.site, &consent, (self.world.clock)())
    }

    pub async fn engine(&self, approved: ApprovedPlan, id: Option<ChangeId>, begun: Arc<Mutex<Vec<usize>>>) -> Ended {
        let now = (self.world.clock)();
        let change = match id {
            None => self.journal.begin(&who(), approved.plan(), now).unwrap(),
            Some(id) => self.journal.take_up(id).unwrap().1,
        };
        let (_keep, stop) = watch::channel(false);
        let lines = Arc::clone(&self.lines);
        let listener: Listener = Arc::new(move |news| match news {
            News::Begun(step) => begun.lock().unwrap().push(step),
            News::Line(_, line) => lines.lock().unwrap().push(line),
            _ => {}
        });
        Engine::new(approved, change, &self.world, &listener, &stop).run(&who()).await
    }

    pub async fn run(&self, plan: Plan) -> Ended {
        let approved = self.approved(self.look(plan).await).unwrap();
        self.engine(approved, None, Arc::default()).await
    }

    pub fn newest(&self) -> ChangeId {
        *self.journal.ids().unwrap().last().unwrap()
    }

    /// Takes the newest change up.
    pub async fn resume(&self) -> Ended {
        let id = self.newest();
        let entry = self.journal.read(id).unwrap();
        let preview = entry.plan.clone().preview(&self.world, entry.notes()).await;
        self.engine(self.approved(preview).unwrap(), Some(id), Arc::default()).await
    }

    pub fn closed(&self) -> Option<Closing> {
        self.journal.read(self.newest()).unwrap().closed()
    }

    /// VMs of the tenant, templates aside.
    pub async fn vms(&self) -> Vec<Vm> {
        let vms = self.client().resources().await.unwrap().vms;
        vms.into_iter().filter(|vm| (2040..2080).contains(&vm.vmid)).collect()
    }

    /// How many clones the cluster's tasks tell of.
    pub async fn clones(&self) -> usize {
        let tasks = self.client().cluster_tasks().await.unwrap();
        tasks.iter().filter(|task| task.kind == "qmclone").count()
    }

    /// Number of the VM of that name.
    pub async fn vmid(&self, name: &str) -> u32 {
        let vms = self.vms().await;
        let of: Vec<u32> = vms.iter().filter(|vm| vm.name.as_deref() == Some(name)).map(|vm| vm.vmid).collect();
        assert_eq!(of.len(), 1, "{name}: {vms:?}");
        of.first().copied().unwrap()
    }

    pub async fn config(&self, vmid: u32) -> VmConfig {
        self.client().vm_config(&self.world.site.proxmox.node, vmid).await.unwrap()
    }

    /// The lab's world is changed behind everybody's back.
    pub fn edit(&self, change: impl FnOnce(&mut LabWorld)) {
        self.lab.edit(change).unwrap();
    }

    pub fn told(&self) -> String {
        self.lines.lock().unwrap().join("\n")
    }

    /// The workload is there once, whole, running, and nothing is left to do.
    pub async fn is_whole(&self, wanted: &Workload) {
        let again = self.look(self.create(wanted).await).await;
        assert!(again.is_empty(), "{:?}", again.looks);
        let name = wanted.tenant.vm(&wanted.name);
        let vmid = self.vmid(&name).await;
        let config = self.config(vmid).await;
        assert_eq!((config.lock, config.raw.contains_key("scsi0")), (None, true));
        assert_eq!(self.vms().await.len(), 2, "the one that was there, and this: {:?}", self.vms().await);
    }
}
