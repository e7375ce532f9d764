//! The Proxmox worker: lists each cycle, details in between, until the next cycle is due.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use super::hub::{PICTURE, Update};
use super::pace::Pace;
use super::pve_details::Details;
use super::pve_lists::{self, Lists};
use super::{Clock, PVE_INTERVAL, Wishes};
use crate::backends::proxmox::{Client, Error};
use crate::inventory::PveReading;
use crate::inventory::source::{Gap, GapKind, SourceId};
use crate::site::Site;

/// The worker.
pub(super) struct Worker {
    site: Arc<Site>,
    client: Client,
    clock: Clock,
    out: mpsc::Sender<Update>,
    pace: Pace,
    lists: Lists,
    details: Details,
    /// When it last told.
    told: Option<Instant>,
}

/// The gap that `error` leaves.
pub(super) fn gap(error: &Error) -> Gap {
    let kind = match error {
        Error::Denied { .. } | Error::Unauthenticated { .. } => GapKind::Denied,
        Error::Http(_) | Error::NodeUnreachable { .. } => GapKind::NoAnswer,
        _ => GapKind::Failed,
    };
    Gap::new(kind, error.to_string())
}

impl Worker {
    pub(super) fn new(site: &Arc<Site>, client: Client, clock: &Clock, out: &mpsc::Sender<Update>) -> Self {
        Self {
            site: Arc::clone(site),
            pace: Pace::new(client.origin()),
            client,
            clock: Arc::clone(clock),
            out: out.clone(),
            lists: Lists::default(),
            details: Details::default(),
            told: None,
        }
    }

    /// Reads until nobody listens.
    pub(super) async fn run(mut self, mut wishes: Wishes) {
        loop {
            // Taken before the cycle: a wish that comes while it runs is for another one.
            let answered = wishes.refresh.borrow_and_update().pve;
            let pause = match self.cycle().await {
                Ok(()) => self.pace.well(PVE_INTERVAL),
                Err(error) => {
                    let pause = self.pace.failed(PVE_INTERVAL);
                    if self.report(&error, pause).await.is_err() {
                        return;
                    }
                    pause
                }
            };
            if self.rest(&mut wishes, answered, pause).await.is_err() {
                return;
            }
        }
    }

    /// One cycle of lists. Fails only when nothing at all could be read.
    async fn cycle(&mut self) -> Result<(), Error> {
        let now = (self.clock)();
        self.lists.read(&self.client, &self.site, now).await?;
        self.details.follow(&self.lists, now);
        self.publish().await.ok();
        Ok(())
    }

    /// Between cycles: details batch by batch, at once what is newly on screen.
    async fn rest(&mut self, wishes: &mut Wishes, answered: u64, pause: Duration) -> Result<(), Gone> {
        let until = tokio::time::sleep(pause);
        tokio::pin!(until);
        let mut untold = false;
        loop {
            let demand = wishes.demand.borrow_and_update().clone();
            let batch = if self.lists.alive() { self.details.batch(&self.lists, &demand) } else { Vec::new() };
            // A batch is read faster than a picture is made of it.
            if untold && (batch.is_empty() || self.told.is_none_or(|at| at.elapsed() >= PICTURE)) {
                self.publish().await?;
                untold = false;
            }
            let wished = wishes.refresh.wait_for(|r| r.pve != answered);
            if batch.is_empty() {
                tokio::select! {
                    () = &mut until => return Ok(()),
                    changed = wishes.demand.changed() => changed.map_err(|_| Gone)?,
                    wish = wished => return wish.map(drop).map_err(|_| Gone),
                }
            } else {
                let due = async {
                    tokio::select! {
                        () = &mut until => {}
                        _ = wished => {}
                    }
                };
                self.details.read(&self.client, batch, (self.clock)(), due).await;
                untold = true;
                if until.is_elapsed() || wishes.refresh.borrow().pve != answered {
                    return self.publish().await;
                }
            }
        }
    }

    async fn publish(&mut self) -> Result<(), Gone> {
        self.told = Some(Instant::now());
        let mut reading: PveReading = self.lists.reading();
        self.details.fill(&mut reading);
        reading.requests = self.client.requests().total;
        let gaps = pve_lists::gaps(&reading, &self.lists);
        self.out.send(Update::Pve { reading: Arc::new(reading), gaps }).await.map_err(|_| Gone)
    }

    async fn report(&self, error: &Error, pause: Duration) -> Result<(), Gone> {
        let at = (self.clock)();
        let gap = gap(error);
        let update = Update::failed(SourceId::Pve, gap.kind, (gap.why, error.help()), at, pause);
        self.out.send(update).await.map_err(|_| Gone)
    }
}

/// Nobody listens any more.
pub(super) struct Gone;
