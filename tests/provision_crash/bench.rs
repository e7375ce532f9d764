//! A lab that is set back, and changes that are begun and taken up in it.

#![allow(dead_code, reason = "not every test needs all of it")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use deevnet_console::backends::http::Limits;
use deevnet_console::backends::opnsense;
use deevnet_console::lab::state::World as LabWorld;
use deevnet_console::lab::{Lab, Moment};
use deevnet_console::provision::conduct;
use deevnet_console::provision::engine::Ended;
use deevnet_console::provision::journal::{ChangeId, Journal, JournalError, Notes};
use deevnet_console::provision::plan::{Plan, Preview};
use deevnet_console::provision::plans::onboard::{self, Onboarding};
use deevnet_console::provision::plans::workload::{Workload, create};
use deevnet_console::provision::plans::{delete, sdn};
use deevnet_console::provision::trouble::{Trouble, TroubleKind};
use deevnet_console::provision::undo::way_back_now;
use deevnet_console::provision::world::{Listener, World};
use deevnet_console::site::Site;
use zeroize::Zeroizing;

use super::change_common::{Hand, Options, Runs, ears, site, who};

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
    pub world: Arc<LabWorld>,
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
    pub now: Hand,
    site: Arc<Site>,
    runs: Runs,
}

/// How often a change had to be taken up, and how often an operator had to free the lock for it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    pub tries: u32,
    pub freed: u32,
}

fn onboarding(first: bool) -> Onboarding {
    let tenant: deevnet_console::site::names::TenantName = "picow".parse().unwrap();
    let first = first.then(|| Workload::new(tenant.clone(), "app".parse().unwrap()));
    Onboarding { tenant, index: None, first }
}

impl Bench {
    pub async fn start() -> Self {
        let (lab, now) = Options::tenants(0).lab().await;
        lab.keep_readings();
        let site = site(&lab);
        // Nothing here has to outlive the machine.
        let state = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        Self { lab: Arc::new(lab), now, site, runs: Runs::within(state) }
    }

    /// Clients that know nothing of what was before.
    pub async fn world(&self) -> Arc<World> {
        let mut world = Options::tenants(0).world(&self.site, &self.now).await;
        // Its own pace spares a real router.
        let word = |name| Zeroizing::new(std::fs::read_to_string(self.lab.dir().join(name)).unwrap().trim().to_owned());
        let (key, secret) = (word("opnsense-key"), word("opnsense-secret"));
        let at_once = opnsense::Pace { requests: Duration::ZERO, polls: Duration::ZERO };
        let router = self.site.opnsense.as_ref().unwrap();
        world.opnsense = Ok(opnsense::Client::new(router, &key, &secret, Limits::default(), at_once).unwrap());
        // Nobody sends updates here.
        world.powerdns = world.powerdns.map(|client| client.with_settle(Duration::ZERO));
        Arc::new(world)
    }

    pub fn journal(&self) -> Journal {
        self.runs.journal.clone()
    }

    pub fn file(&self) -> PathBuf {
        self.runs.state.path().join("journal/C-0001.jsonl")
    }

    /// The journal of the course; empty where there is none.
    pub fn journal_bytes(&self) -> Vec<u8> {
        std::fs::read(self.file()).unwrap_or_default()
    }

    /// What is there, everything written down with it.
    pub fn written(&self) -> Vec<(String, Vec<u8>)> {
        let rows = std::fs::read_dir(self.runs.state.path().join("journal")).into_iter().flatten();
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
        self.now.set(fork.now);
        let dir = self.runs.state.path().join("journal");
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
        let approved = self.runs.named(world, preview).map_err(|e| e.to_string())?;
        let listener: Listener = Arc::new(|_| ());
        Ok(self.runs.heard(world, approved, id, &listener).await)
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
            self.now.advance(30_000);
        }
        Err(said.join("\n"))
    }

    /// The first change is taken back, until that is done; what stays of it, by its own words. `None` where nothing was begun.
    pub async fn taken_back(&self) -> Result<Option<Vec<String>>, String> {
        let journal = self.journal();
        let Some(first) = journal.ids().unwrap().into_iter().next() else { return Ok(None) };
        let Ok(entry) = journal.read(first) else { return Ok(None) };
        let back = way_back_now(&self.world().await, &entry).await;
        let left = back.left.iter().map(|(name, why)| format!("{name}: {why}")).collect();
        let (mut next, mut said) = ((conduct::Course::TakeBack(first), back.plan, Notes::default()), Vec::new());
        for _ in 0..5 {
            let world = self.world().await;
            let (course, plan, notes) = next;
            let preview = plan.clone().preview(&world, notes).await;
            let ended = match self.runs.named(&world, preview) {
                Err(refusal) => Err(refusal.to_string()),
                Ok(approved) => {
                    let (_keep, ears) = ears(Arc::new(|_| ()));
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
            self.now.advance(30_000);
            let newest = *journal.ids().unwrap().last().unwrap();
            next = if newest == first {
                (course, way_back_now(&world, &journal.read(first).unwrap()).await.plan, Notes::default())
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

pub fn fork(lab: &Lab, now: &Hand, file: &std::path::Path) -> Fork {
    let journal = std::fs::metadata(file).map_or(0, |file| usize::try_from(file.len()).unwrap());
    Fork { moment: lab.moment(), world: lab.world(), now: now.now(), journal }
}
