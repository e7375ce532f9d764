//! Plans that are run on a world, with a journal of their own.

use std::sync::Arc;

use deevnet_console::provision::approve::{ApprovedPlan, Consent, Refusal};
use deevnet_console::provision::conduct::Ears;
use deevnet_console::provision::engine::{Ended, Engine};
use deevnet_console::provision::journal::{ChangeId, Closing, Journal, Who};
use deevnet_console::provision::plan::{Plan, Preview};
use deevnet_console::provision::undo::{WayBack, way_back};
use deevnet_console::provision::world::{Listener, World};
use tokio::sync::watch;

/// Who runs it.
pub fn who() -> Who {
    Who { user: "operator".to_owned(), host: "console".to_owned(), pid: std::process::id() }
}

/// Somebody who hears nothing and stops nothing. The sender has to be kept.
pub fn ears(listener: Listener) -> (watch::Sender<bool>, Ears) {
    let (keep, stop) = watch::channel(false);
    (keep, Ears { listener, stop })
}

/// Changes, and the directory that they are written down in.
pub struct Runs {
    pub journal: Journal,
    pub state: tempfile::TempDir,
}

impl Runs {
    pub fn new() -> Self {
        Self::within(tempfile::tempdir().unwrap())
    }

    pub fn within(state: tempfile::TempDir) -> Self {
        Self { journal: Journal::in_state(state.path()), state }
    }

    pub async fn look(&self, world: &Arc<World>, plan: Plan) -> Preview {
        plan.preview(world, Default::default()).await
    }

    /// Approved with that typed back.
    pub fn approved_as(world: &World, preview: Preview, name: Option<&str>) -> Result<ApprovedPlan, Refusal> {
        let consent = Consent::Flags { write: true, yes: true, confirm: name.map(str::to_owned) };
        ApprovedPlan::of(preview, &world.site, &consent, (world.clock)())
    }

    /// Approved without a word.
    pub fn unnamed(&self, world: &World, preview: Preview) -> Result<ApprovedPlan, Refusal> {
        Self::approved_as(world, preview, None)
    }

    /// Approved with its name typed back.
    pub fn named(&self, world: &World, preview: Preview) -> Result<ApprovedPlan, Refusal> {
        let name = preview.plan.subject.name.clone();
        Self::approved_as(world, preview, Some(&name))
    }

    pub async fn heard(
        &self,
        world: &Arc<World>,
        approved: ApprovedPlan,
        id: Option<ChangeId>,
        listener: &Listener,
    ) -> Ended {
        let change = match id {
            None => self.journal.begin(&who(), approved.plan(), (world.clock)()).unwrap(),
            Some(id) => self.journal.take_up(id).unwrap().1,
        };
        let (_keep, stop) = watch::channel(false);
        Engine::new(approved, change, world, listener, &stop).run(&who()).await
    }

    async fn go(&self, world: &Arc<World>, preview: Preview, id: Option<ChangeId>) -> Ended {
        let listener: Listener = Arc::new(|_| ());
        self.heard(world, self.named(world, preview).unwrap(), id, &listener).await
    }

    pub async fn run(&self, world: &Arc<World>, plan: Plan) -> Ended {
        let preview = self.look(world, plan).await;
        self.go(world, preview, None).await
    }

    pub fn newest(&self) -> ChangeId {
        *self.journal.ids().unwrap().last().unwrap()
    }

    /// Takes the newest change up.
    pub async fn resume(&self, world: &Arc<World>) -> Ended {
        let entry = self.journal.read(self.newest()).unwrap();
        let preview = entry.plan.clone().preview(world, entry.notes()).await;
        self.go(world, preview, Some(entry.id)).await
    }

    pub fn closed(&self) -> Option<Closing> {
        self.journal.read(self.newest()).unwrap().closed()
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
