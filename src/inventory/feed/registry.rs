//! The worker of the registry: two lists every 30 s.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::hub::Update;
use super::pace::Pace;
use super::{BOOT_INTERVAL, Clock, Wishes};
use crate::backends::registry::{Client, Error};
use crate::inventory::readings::RegistryReading;
use crate::inventory::source::{Gap, GapKind, SourceId};

/// The worker.
pub(super) struct Worker {
    client: Client,
    clock: Clock,
    out: mpsc::Sender<Update>,
    pace: Pace,
}

/// What kind of hole a failed list leaves.
const fn kind(error: &Error) -> GapKind {
    match error {
        Error::Denied { .. } => GapKind::Denied,
        Error::Http(_) | Error::Status { status: 502..=504, .. } => GapKind::NoAnswer,
        _ => GapKind::Failed,
    }
}

impl Worker {
    pub(super) fn new(client: Client, clock: &Clock, out: &mpsc::Sender<Update>) -> Self {
        let pace = Pace::new(&format!("registry {}", client.origin()));
        Self { pace, client, clock: Arc::clone(clock), out: out.clone() }
    }

    /// Reads until nobody listens.
    pub(super) async fn run(mut self, mut wishes: Wishes) {
        loop {
            let answered = wishes.wished(SourceId::Registry);
            let (update, pause) = match self.read().await {
                Ok(update) => (update, self.pace.well(BOOT_INTERVAL)),
                Err(error) => {
                    let pause = self.pace.failed(BOOT_INTERVAL);
                    (self.failure(&error, pause), pause)
                }
            };
            let sent = self.out.send(update).await;
            if sent.is_err() || wishes.rest(SourceId::Registry, answered, pause).await.is_none() {
                return;
            }
        }
    }

    /// Without the tenants nothing is said; the list of ways out may be refused on its own.
    async fn read(&self) -> Result<Update, Error> {
        let tenants = self.client.tenants().await?.into();
        let egress = self.client.egress().await.map(Arc::from).map_err(|e| Gap::new(kind(&e), e.to_string()));
        let gaps = egress.as_ref().err().cloned().into_iter().collect();
        let (at, requests) = ((self.clock)(), self.client.sent());
        Ok(Update::Registry { reading: Arc::new(RegistryReading { at, tenants, egress, requests }), gaps })
    }

    fn failure(&self, error: &Error, pause: std::time::Duration) -> Update {
        let at = (self.clock)();
        Update::failed(SourceId::Registry, kind(error), (error.to_string(), error.help()), at, pause)
    }
}
