//! The worker of check-ins: one listing every 30 s, of a service or a file.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::hub::Update;
use super::pace::Pace;
use super::{BOOT_INTERVAL, Clock, Wishes};
use crate::backends::bootstrap::{Client, Error, Listing, Records, Report};
use crate::inventory::readings::BootReading;
use crate::inventory::source::{Gap, GapKind, SourceId};

/// The worker.
pub(super) struct Worker {
    client: Client,
    clock: Clock,
    out: mpsc::Sender<Update>,
    pace: Pace,
}

/// What kind of hole a failed listing leaves.
const fn kind(error: &Error) -> GapKind {
    match error {
        Error::Denied { .. } | Error::File { denied: true, .. } => GapKind::Denied,
        Error::Http(_) | Error::TooSlow { .. } | Error::Status { status: 502..=504, .. } => GapKind::NoAnswer,
        _ => GapKind::Failed,
    }
}

/// Drops what the join does not look at.
fn lean(report: &mut Report) {
    (report.boot_id, report.images) = (None, Vec::new());
}

impl Worker {
    pub(super) fn new(client: Client, clock: &Clock, out: &mpsc::Sender<Update>) -> Self {
        let pace = Pace::new(&format!("check-ins {}", client.place()));
        Self { pace, client, clock: Arc::clone(clock), out: out.clone() }
    }

    /// Reads until nobody listens.
    pub(super) async fn run(mut self, mut wishes: Wishes) {
        loop {
            let answered = wishes.wished(SourceId::Boot);
            let (update, pause) = match self.client.read().await {
                Ok(listing) => (self.read(listing), self.pace.well(BOOT_INTERVAL)),
                Err(error) => {
                    let pause = self.pace.failed(BOOT_INTERVAL);
                    (self.failure(&error, pause), pause)
                }
            };
            if self.out.send(update).await.is_err() || wishes.rest(SourceId::Boot, answered, pause).await.is_none() {
                return;
            }
        }
    }

    fn read(&self, listing: Listing) -> Update {
        let (at, requests) = ((self.clock)(), self.client.sent());
        let reading = |service_at, records, holes| Arc::new(BootReading { at, service_at, records, holes, requests });
        match listing {
            Listing::NotOffered => {
                let why = format!("{} offers no bootstrap check-ins. That is not a fault.", self.client.place());
                let reading = reading(at, Err(Gap::new(GapKind::Off, why)), None);
                Update::Boot { reading, gaps: Vec::new() }
            }
            Listing::Records(mut records) => {
                let gaps = self.gaps(&records);
                let holes = gaps.first().cloned();
                let service_at = records.at.unwrap_or(at);
                let mut items = std::mem::take(&mut records.items);
                items.iter_mut().flat_map(|record| &mut record.reports).for_each(lean);
                let items: Arc<[_]> = items.into();
                Update::Boot { reading: reading(service_at, Ok(items), holes), gaps }
            }
        }
    }

    fn cut(&self) -> Gap {
        Gap::new(
            GapKind::Failed,
            format!("{} lists more check-ins than are read: the rest is unknown", self.client.place()),
        )
    }

    /// What of a listing makes no sense, by number, without what was left out for its length.
    fn gaps(&self, records: &Records) -> Vec<Gap> {
        let unit = if matches!(self.client, Client::File(_)) { "line" } else { "record" };
        let place = self.client.place();
        let named = records.broken.iter().map(|b| format!("{place}, {unit} {}: {}", b.number, b.why));
        let more = (records.broken_more > 0).then(|| format!("{place}: {} more make no sense", records.broken_more));
        let broken = named.chain(more).map(|why| Gap::new(GapKind::Failed, why));
        broken.chain(records.cut.then(|| self.cut())).collect()
    }

    fn failure(&self, error: &Error, pause: std::time::Duration) -> Update {
        let at = (self.clock)();
        Update::failed(SourceId::Boot, kind(error), (error.to_string(), error.help()), at, pause)
    }
}
