//! A lab that is set back, and changes that are begun and taken up in it.

#![allow(dead_code, reason = "not every test needs all of it")]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use deevnet_console::backends::http::Limits;
use deevnet_console::backends::opnsense;
use deevnet_console::lab::{Lab, LabOptions, Moment, Pace};
use deevnet_console::provision::approve::{ApprovedPlan, Consent};
use deevnet_console::provision::conduct;
use deevnet_console::provision::engine::{Ended, Engine};
use deevnet_console::provision::journal::{Change, ChangeId, Journal, JournalError, Notes, Who};
use deevnet_console::provision::plan::{Plan, Preview};
use deevnet_console::provision::plans::onboard::{self, Onboarding};
use deevnet_console::provision::plans::workload::{Workload, create};
use deevnet_console::provision::plans::{delete, sdn};
use deevnet_console::provision::trouble::{Trouble, TroubleKind};
use deevnet_console::provision::undo::way_back;
use deevnet_console::provision::world::{Patience, World};
use deevnet_console::site::Site;
use jiff::Timestamp;
use tokio::sync::watch;
use zeroize::Zeroizing;

/// What is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// A tenant with its first workload.
    Onboard,
    /// A second workload.
    Workload,
    /// A tenant without workloads goes.
    Delete,
}

/// A moment: the site, the time, and how long the journal's file was.
#[derive(Clone)]
pub struct Fork {
    pub moment: Moment,
    pub now: i64,
    pub journal: usize,
}

impl Fork {
    pub fn is(&self, other: &Self) -> bool {
        self.journal == other.journal && self.moment.is(&other.moment)
    }
}

pub struct Bench {
    pub lab: Arc<Lab>,
    pub now: Arc<AtomicI64>,
    site: Arc<Site>,
    state: tempfile::TempDir,
}

/// How often a change had to be taken up, and how often an operator had to free the lock for it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    pub tries: u32,
    pub freed: u32,
}

pub fn who() -> Who {
    Who { user: "operator".to_owned(), host: "console".to_owned(), pid: std::process::id() }
}

fn onboarding(first: bool) -> Onboarding {
    let tenant: deevnet_console::site::names::TenantName = "picow".parse().unwrap();
    let first = first.then(|| Workload::new(tenant.clone(), "app".parse().unwrap()));
    Onboarding { tenant, index: None, first }
}

impl Bench {
    pub async fn start() -> Self {
        let now = Arc::new(AtomicI64::new(1_795_950_000_000));
        let read = Arc::clone(&now);
        let clock: Arc<dyn Fn() -> Timestamp + Send + Sync> =
            Arc::new(move || Timestamp::from_millisecond(read.load(Ordering::SeqCst)).unwrap());
        let program = PathBuf::from(env!("CARGO_BIN_EXE_deevnet-console"));
        let options =
            LabOptions { tenants: Some(0), writable: true, pace: Pace::Clock, ..LabOptions::new(clock, program) };
        let lab = Arc::new(Lab::start(options).await.unwrap());
        lab.keep_readings();
        let site = Arc::new(Site::parse(&lab.site_toml(), &lab.dir().join("site.toml")).unwrap());
        // Nothing here has to outlive the machine.
        let state = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        Self { lab, now, site, state }
    }

    /// Clients that know nothing of what was before.
    pub async fn world(&self) -> Arc<World> {
        let (read, now) = (Arc::clone(&self.now), Arc::clone(&self.now));
        let clock: Arc<dyn Fn() -> Timestamp + Send + Sync> =
            Arc::new(move || Timestamp::from_millisecond(read.load(Ordering::SeqCst)).unwrap());
        let sleep = Arc::new(move |length: Duration| {
            now.fetch_add(i64::try_from(length.as_millis()).unwrap(), Ordering::SeqCst);
            Box::pin(tokio::task::yield_now()) as futures_util::future::BoxFuture<'static, ()>
        });
        let patience = Patience { looks: 8, ..Patience::default() };
        let mut world = World::connect(&self.site, clock, sleep, patience).await;
        // Its own pace spares a real router.
        let word = |name| Zeroizing::new(std::fs::read_to_string(self.lab.dir().join(name)).unwrap().trim().to_owned());
        let (key, secret) = (word("opnsense-key"), word("opnsense-secret"));
        let at_once = opnsense::Pace { requests: Duration::ZERO, polls: Duration::ZERO };
        let router = self.site.opnsense.as_ref().unwrap();
        world.opnsense = Ok(opnsense::Client::new(router, &key, &secret, Limits::default(), at_once).unwrap());
        Arc::new(world)
    }

    pub fn journal(&self) -> Journal {
        Journal::in_state(self.state.path())
    }

    pub fn file(&self) -> PathBuf {
        self.state.path().join("journal/C-0001.jsonl")
    }

    /// What is there, everything written down with it.
    pub fn written(&self) -> Vec<(String, Vec<u8>)> {
        let rows = std::fs::read_dir(self.state.path().join("journal")).into_iter().flatten();
        let file = |row: std::fs::DirEntry| {
            (row.file_name().to_string_lossy().into_owned(), std::fs::read(row.path()).unwrap())
        };
        rows.map(|row| file(row.unwrap())).collect()
    }

    pub fn fork(&self) -> Fork {
        fork(&self.lab, &self.now, &self.file())
    }

    /// The site and the journal as they were.
    pub fn back_to(&self, fork: &Fork, journal: &[u8]) {
        self.lab.gate(None);
        self.lab.back_to(&fork.moment);
        self.now.store(fork.now, Ordering::SeqCst);
        let dir = self.state.path().join("journal");
        std::fs::remove_dir_all(&dir).ok();
        if !journal.is_empty() {
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::write(self.file(), journal).unwrap();
        }
    }

    pub async fn plan(&self, world: &Arc<World>, course: Course) -> Result<Plan, Trouble> {
        match course {
            Course::Onboard => {
                let mut plan = onboard::plan(world, &onboarding(true)).await?;
                // It only reads, for long, when all is done: tried by itself.
                plan.steps.pop();
                Ok(plan)
            }
            Course::Workload => {
                let second = Workload::new("picow".parse().unwrap(), "db".parse().unwrap());
                onboard::named(world, &second, create(world, &second).await?)
            }
            Course::Delete => delete::plan(world, &"picow".parse().unwrap()).await,
        }
    }

    /// The site as it is before the course.
    pub async fn prepare(&self, course: Course) {
        if course == Course::Onboard {
            return;
        }
        let world = self.world().await;
        let mut plan = onboard::plan(&world, &onboarding(course == Course::Workload)).await.unwrap();
        plan.steps.pop();
        let preview = plan.preview(&world, Default::default()).await;
        assert_eq!(self.run(&world, preview, None).await.unwrap(), Ended::Done);
        std::fs::remove_file(self.file()).unwrap();
    }

    pub async fn run(&self, world: &Arc<World>, preview: Preview, id: Option<ChangeId>) -> Result<Ended, String> {
        let confirm = Some(preview.plan.subject.name.clone());
        let consent = Consent::Flags { write: true, yes: true, confirm };
        let now = (world.clock)();
        let approved = ApprovedPlan::of(preview, &world.site, &consent, now).map_err(|e| e.to_string())?;
        let journal = self.journal();
        let change: Change = match id {
            None => journal.begin(&who(), approved.plan(), now).unwrap(),
            Some(id) => journal.take_up(id).unwrap().1,
        };
        let (_keep, stop) = watch::channel(false);
        let listener: deevnet_console::provision::world::Listener = Arc::new(|_| ());
        Ok(Engine::new(approved, change, world, &listener, &stop).run(&who()).await)
    }

    /// Begins the course, or takes up what is open of it, once; new clients.
    pub async fn once(&self, course: Course) -> Result<Ended, String> {
        let world = self.world().await;
        let journal = self.journal();
        let open = journal.ids().unwrap().into_iter().find_map(|id| match journal.read(id) {
            Ok(entry) if entry.closed().is_none() && !is_unlock(&entry.plan) => Some(entry),
            Ok(_) | Err(JournalError::NoPlan { .. }) => None,
            Err(e) => panic!("{id}: {e}"),
        });
        match open {
            Some(entry) => {
                let preview = entry.plan.clone().preview(&world, entry.notes()).await;
                self.run(&world, preview, Some(entry.id)).await
            }
            None => {
                let plan = self.plan(&world, course).await.map_err(|e| e.to_string())?;
                let preview = plan.preview(&world, Default::default()).await;
                self.run(&world, preview, None).await
            }
        }
    }

    /// As an operator does it: what moved is told once, then agreed to; where the lock has to be freed, it is freed.
    pub async fn to_the_end(&self, course: Course) -> Result<Taken, String> {
        let (mut taken, mut said) = (Taken::default(), Vec::new());
        while taken.tries < 5 {
            taken.tries += 1;
            match self.once(course).await {
                Ok(Ended::Done) => return Ok(taken),
                Ok(Ended::Early { step, trouble }) => {
                    let help = trouble.help().unwrap_or_default();
                    if trouble.kind == TroubleKind::Refused && help.contains("sdn unlock") {
                        taken.freed += 1;
                        self.unlock().await?;
                    }
                    said.push(format!("step {step}: {:?} {trouble} / {help}", trouble.kind));
                }
                Err(why) => said.push(why),
            }
            // Nobody tries again in the same second.
            self.now.fetch_add(30_000, Ordering::SeqCst);
        }
        Err(said.join("\n"))
    }

    /// The first change is taken back, until that is done; what stays of it, by its own words. `None` where nothing was begun.
    pub async fn taken_back(&self) -> Result<Option<Vec<String>>, String> {
        let journal = self.journal();
        let Some(first) = journal.ids().unwrap().into_iter().next() else { return Ok(None) };
        let Ok(entry) = journal.read(first) else { return Ok(None) };
        let back = way_back(&entry);
        let left = back.left.iter().map(|(name, why)| format!("{name}: {why}")).collect();
        let (mut next, mut said) = ((conduct::Course::TakeBack(first), back.plan, Notes::default()), Vec::new());
        for _ in 0..5 {
            let world = self.world().await;
            let (course, plan, notes) = next;
            let preview = plan.clone().preview(&world, notes).await;
            let consent = Consent::Flags { write: true, yes: true, confirm: Some(preview.plan.subject.name.clone()) };
            let ended = match ApprovedPlan::of(preview, &world.site, &consent, (world.clock)()) {
                Err(refusal) => Err(refusal.to_string()),
                Ok(approved) => {
                    let (_keep, stop) = watch::channel(false);
                    let ears = conduct::Ears { listener: Arc::new(|_| ()), stop };
                    let ended = conduct::run(&world, &journal, (course, approved), &who(), &ears, |_| ()).await;
                    ended.map_err(|e| e.to_string())
                }
            };
            match ended {
                Ok(Ended::Done) => {
                    let open = journal.unfinished().unwrap();
                    return if open.is_empty() { Ok(Some(left)) } else { Err(format!("{} is open", open[0].id)) };
                }
                other => said.push(format!("{other:?}")),
            }
            self.now.fetch_add(30_000, Ordering::SeqCst);
            let newest = *journal.ids().unwrap().last().unwrap();
            next = if newest == first {
                (course, way_back(&journal.read(first).unwrap()).plan, Notes::default())
            } else {
                let entry = journal.read(newest).unwrap();
                (conduct::Course::Resume(newest), entry.plan.clone(), entry.notes())
            };
        }
        Err(said.join("\n"))
    }

    /// `sdn unlock`, by name.
    async fn unlock(&self) -> Result<(), String> {
        let world = self.world().await;
        let preview = sdn::unlock(&world, &[]).preview(&world, Default::default()).await;
        match self.run(&world, preview, None).await? {
            Ended::Done => Ok(()),
            Ended::Early { trouble, .. } => Err(format!("unlock: {trouble}")),
        }
    }

    pub async fn end(self) {
        self.lab.gate(None);
        if let Some(lab) = Arc::into_inner(self.lab) {
            lab.shutdown().await;
        }
    }
}

fn is_unlock(plan: &Plan) -> bool {
    use deevnet_console::provision::object::Object;
    plan.steps.iter().any(|step| matches!(step.object, Object::SdnUnlock(_)))
}

pub fn fork(lab: &Lab, now: &AtomicI64, file: &std::path::Path) -> Fork {
    let journal = std::fs::metadata(file).map_or(0, |file| usize::try_from(file.len()).unwrap());
    Fork { moment: lab.moment(), now: now.load(Ordering::SeqCst), journal }
}
