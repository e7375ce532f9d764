//! What readings of the exit node printed, kept for as long as nothing changed that they show.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sha2::{Digest as _, Sha256};

use super::node::Output;
use super::state::World;

/// The command that reads.
const READ: &str = "sh -s -- read -";

/// What was printed, by name; `None` = nothing is kept.
#[derive(Default)]
pub(super) struct Readings(Mutex<Option<HashMap<String, Output>>>);

impl Readings {
    fn all(&self) -> MutexGuard<'_, Option<HashMap<String, Output>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps them from now on.
    pub(super) fn begin(&self) {
        self.all().get_or_insert_default();
    }

    /// The name of what a command prints in a world; `None` where it is not to be kept.
    pub(super) fn name(&self, world: &World, asked: &str) -> Option<String> {
        self.all().as_ref()?;
        let asked = asked.strip_prefix(READ)?;
        let guests = world.guests.iter().map(|(vmid, guest)| {
            let card = guest.config.get("net0");
            (vmid, &guest.node, card, guest.wired(), guest.address, guest.floating)
        });
        let shown = format!("{asked} {:?} {:?} {:?}", world.sdn.running, world.nodes, world.exit);
        let guests = format!("{:?}", guests.collect::<Vec<_>>());
        let digest = Sha256::new().chain_update(shown).chain_update(guests).finalize();
        Some(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    pub(super) fn kept(&self, name: &str) -> Option<Output> {
        self.all().as_ref()?.get(name).cloned()
    }

    pub(super) fn keep(&self, name: String, output: Output) {
        if let Some(all) = self.all().as_mut() {
            all.insert(name, output);
        }
    }
}
