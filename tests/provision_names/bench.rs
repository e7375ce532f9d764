//! Plans run on a world, with a journal of their own.

use std::sync::Arc;

use deevnet_console::provision::approve::{ApprovedPlan, Consent, Refusal};
use deevnet_console::provision::engine::{Ended, Engine};
use deevnet_console::provision::journal::{ChangeId, Journal, Who};
use deevnet_console::provision::plan::{Plan, Preview, Step, Subject};
use deevnet_console::provision::trouble::TroubleKind;
use deevnet_console::provision::undo::{WayBack, way_back};
use deevnet_console::provision::world::{Listener, World};
use deevnet_console::site::names::TenantName;
use deevnet_console::site::numbering::TenantIndex;
use tokio::sync::watch;

pub const INDEX: u64 = 60;

pub fn tenant() -> (TenantName, TenantIndex) {
    ("rtrip".parse().unwrap(), TenantIndex::new(INDEX).unwrap())
}

pub fn plan(world: &World, steps: Vec<Step>) -> Plan {
    Plan {
        site: world.site.name.clone(),
        title: "Names of rtrip".to_owned(),
        subject: Subject { name: "rtrip".to_owned(), tenant: Some("rtrip".to_owned()) },
        steps,
        reach: None,
    }
}

pub fn who() -> Who {
    Who { user: "operator".to_owned(), host: "console".to_owned(), pid: std::process::id() }
}

pub struct Runs {
    pub journal: Journal,
    state: tempfile::TempDir,
}

impl Runs {
    pub fn new() -> Self {
        let state = tempfile::tempdir().unwrap();
        Self { journal: Journal::in_state(state.path()), state }
    }

    pub async fn look(&self, world: &Arc<World>, plan: Plan) -> Preview {
        plan.preview(world, Default::default()).await
    }

    pub fn approved(&self, world: &World, preview: Preview) -> Result<ApprovedPlan, Refusal> {
        let consent = Consent::Flags { write: true, yes: true, confirm: None };
        ApprovedPlan::of(preview, &world.site, &consent, (world.clock)())
    }

    pub fn named(&self, world: &World, preview: Preview) -> Result<ApprovedPlan, Refusal> {
        let consent = Consent::Flags { write: true, yes: true, confirm: Some(preview.plan.subject.name.clone()) };
        ApprovedPlan::of(preview, &world.site, &consent, (world.clock)())
    }

    pub async fn engine(&self, world: &Arc<World>, approved: ApprovedPlan, id: Option<ChangeId>) -> Ended {
        let change = match id {
            None => self.journal.begin(&who(), approved.plan(), (world.clock)()).unwrap(),
            Some(id) => self.journal.take_up(id).unwrap().1,
        };
        let (_keep, stop) = watch::channel(false);
        let listener: Listener = Arc::new(|_| ());
        Engine::new(approved, change, world, &listener, &stop).run(&who()).await
    }

    pub async fn run(&self, world: &Arc<World>, plan: Plan) -> Ended {
        let preview = self.look(world, plan).await;
        let approved = self.named(world, preview).unwrap();
        self.engine(world, approved, None).await
    }

    pub fn newest(&self) -> ChangeId {
        *self.journal.ids().unwrap().last().unwrap()
    }

    /// Takes the newest change up.
    pub async fn resume(&self, world: &Arc<World>) -> Ended {
        let id = self.newest();
        let entry = self.journal.read(id).unwrap();
        let preview = entry.plan.clone().preview(world, entry.notes()).await;
        let approved = self.named(world, preview).unwrap();
        self.engine(world, approved, Some(id)).await
    }

    pub fn way_back(&self) -> WayBack {
        way_back(&self.journal.read(self.newest()).unwrap())
    }

    /// Everything that was written down.
    pub fn written(&self) -> String {
        let mut all = String::new();
        let mut left = vec![self.state.path().to_owned()];
        while let Some(path) = left.pop() {
            match std::fs::read_dir(&path) {
                Ok(rows) => left.extend(rows.map(|row| row.unwrap().path())),
                Err(_) => all.push_str(&String::from_utf8_lossy(&std::fs::read(&path).unwrap())),
            }
        }
        all
    }
}

pub fn early(ended: Ended) -> (usize, TroubleKind, String) {
    match ended {
        Ended::Early { step, trouble } => (step, trouble.kind, trouble.text),
        Ended::Done => panic!("it came to its end"),
    }
}
