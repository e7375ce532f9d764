//! Questions that the console asks beside reading the site: one of a kind at a time, never waited for.

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::console::Msg;
use crate::diagnose::Report;
use crate::diagnose::collect::{Sink, Wanted, collect};
use crate::diagnose::resolve::{Target, Vantages, ask};
use crate::inventory::Inventory;
use crate::inventory::feed::{Clients, Clock};

/// Answers that wait to be folded: a question has six, a check one.
const ANSWERS: usize = 16;
/// Longest time for a check: three rounds to a silent exit node, and what Proxmox takes.
const CHECK: Duration = Duration::from_secs(60);

/// What is being asked, and what came of it.
pub(super) struct Probes {
    tell: mpsc::Sender<Msg>,
    heard: mpsc::Receiver<Msg>,
    asking: Option<AbortHandle>,
    checking: Option<AbortHandle>,
}

impl Probes {
    pub(super) fn new() -> Self {
        let (tell, heard) = mpsc::channel(ANSWERS);
        Self { tell, heard, asking: None, checking: None }
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

    /// Reads `wanted` with clients of its own and judges it; an older check is given up.
    pub(super) fn check(&mut self, id: u64, wanted: Wanted, picture: &Inventory, clock: &Clock) {
        self.stop_check();
        let (tell, site, clock) = (self.tell.clone(), Arc::clone(&picture.site), Arc::clone(clock));
        let task = tokio::spawn(async move {
            let began = Instant::now();
            let report = within(CHECK, async {
                let clients = Clients::connect(&site).await;
                Report::of(&collect(&site, &clients, &wanted, &Sink::new(clock)).await)
            })
            .await;
            // Nobody is left to be told only when the console ends.
            let _ = tell.send(Msg::Checked { id, report, took: began.elapsed() }).await;
        });
        self.checking = Some(task.abort_handle());
    }

    /// Gives the check up.
    pub(super) fn stop_check(&mut self) {
        if let Some(task) = self.checking.take() {
            task.abort();
        }
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

/// What `work` comes to within `limit`; else a sentence.
async fn within(limit: Duration, work: impl Future<Output = Report>) -> Result<Arc<Report>, String> {
    let late = |_| format!("not done within {}s: nothing is known of it; run it again", limit.as_secs());
    tokio::time::timeout(limit, work).await.map(Arc::new).map_err(late)
}

impl Drop for Probes {
    fn drop(&mut self) {
        self.stop();
        self.stop_check();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_takes_too_long_says_so() {
        let never = within(Duration::from_secs(60), std::future::pending());
        assert!(never.await.is_err_and(|why| why.contains("not done within 60s")));
        let empty = || Report { findings: Vec::new(), passed: Vec::new(), unknown: Vec::new() };
        assert_eq!(within(Duration::from_secs(60), async { empty() }).await, Ok(Arc::new(empty())));
    }
}
