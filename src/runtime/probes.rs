//! Questions that the console asks beside reading the site: one of a kind at a time, never waited for.

use std::future::ready;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::StreamExt as _;
use tokio::sync::{Notify, mpsc};
use tokio::task::AbortHandle;

use super::check;
use crate::console::Msg;
use crate::diagnose::collect::Wanted;
use crate::diagnose::evidence::{self, Evidence, Item};
use crate::diagnose::resolve::{Target, Vantages, ask};
use crate::inventory::Inventory;
use crate::inventory::feed::Clock;
use crate::provision::journal::Journal;

/// Answers that wait to be folded: a question has six, a check tells of itself a few times a second.
const ANSWERS: usize = 16;

/// What is being asked, and what came of it.
pub(super) struct Probes {
    tell: mpsc::Sender<Msg>,
    heard: mpsc::Receiver<Msg>,
    asking: Option<AbortHandle>,
    checking: Option<(AbortHandle, Arc<Notify>)>,
    kept: Arc<check::Kept>,
    journal: Journal,
}

impl Probes {
    /// Of a console whose changes are noted in `journal`.
    pub(super) fn new(journal: Journal) -> Self {
        let (tell, heard) = mpsc::channel(ANSWERS);
        Self { tell, heard, asking: None, checking: None, kept: Arc::default(), journal }
    }

    /// Asks everybody for `target`; an older question is given up.
    pub(super) fn resolve(&mut self, id: u64, target: Target, picture: Arc<Inventory>, clock: &Clock) {
        self.stop();
        let (tell, clock) = (self.tell.clone(), Arc::clone(clock));
        let task = tokio::spawn(async move {
            let site = Arc::clone(&picture.site);
            let vantages = Vantages::of_site(&site);
            let mut answers = std::pin::pin!(ask(&site, &target, &vantages, ready(picture), &*clock));
            while let Some(heard) = answers.next().await {
                if tell.send(Msg::Heard(id, Box::new(heard))).await.is_err() {
                    return;
                }
            }
        });
        self.asking = Some(task.abort_handle());
    }

    /// Gives the question up.
    pub(super) fn stop(&mut self) {
        if let Some(task) = self.asking.take() {
            task.abort();
        }
    }

    /// Reads `wanted` with clients of its own and judges it as it comes; an older check is given up and not heard of again.
    pub(super) fn check(&mut self, id: u64, wanted: Wanted, picture: Arc<Inventory>, clock: &Clock) {
        self.drop_check();
        let (tell, clock) = (self.tell.clone(), Arc::clone(clock));
        let stop = Arc::new(Notify::new());
        let stopped = Arc::clone(&stop);
        let order = check::Order { id, wanted, picture, kept: Arc::clone(&self.kept), journal: self.journal.clone() };
        let task = tokio::spawn(async move { check::run(order, clock, &stopped, &tell).await });
        self.checking = Some((task.abort_handle(), stop));
    }

    /// Judges what was read again, together with `pasted`; further checks take it in too.
    pub(super) fn judge(&self, pasted: Arc<[Item]>) {
        let (kept, tell) = (Arc::clone(&self.kept), self.tell.clone());
        kept.paste(pasted);
        tokio::spawn(async move { kept.judge(&tell).await });
    }

    /// Gives up what has not come of the check; what has is judged and told.
    pub(super) fn stop_check(&self) {
        if let Some((_, stop)) = &self.checking {
            stop.notify_one();
        }
    }

    fn drop_check(&mut self) {
        if let Some((task, _)) = self.checking.take() {
            task.abort();
        }
    }

    /// Keeps `evidence` in `dir`.
    pub(super) fn save(&self, dir: PathBuf, evidence: Arc<Evidence>) {
        let tell = self.tell.clone();
        tokio::spawn(async move {
            let (to, items) = (dir.clone(), evidence.items.len());
            let kept = tokio::task::spawn_blocking(move || evidence::save(&evidence, &to)).await;
            let result = match kept {
                Ok(Ok(())) => Ok(items),
                Ok(Err(error)) => Err(format!("{error}; {}", error.help())),
                Err(_) => Err("writing it was ended".to_owned()),
            };
            // Nobody is left to be told only when the console ends.
            let _ = tell.send(Msg::Saved { dir, result }).await;
        });
    }

    /// The next thing that comes of what was asked.
    pub(super) async fn next(&mut self) -> Msg {
        match self.heard.recv().await {
            Some(msg) => msg,
            // There is always a sender: this one.
            None => std::future::pending().await,
        }
    }
}

impl Drop for Probes {
    fn drop(&mut self) {
        self.stop();
        self.drop_check();
    }
}
