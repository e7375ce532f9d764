//! Questions that the console asks beside reading the site: one of a kind at a time, never waited for.

use std::future::ready;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::console::Msg;
use crate::diagnose::Report;
use crate::diagnose::collect::{Check, Sink, Wanted, collect};
use crate::diagnose::evidence::{Evidence, Item};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::Layer;
use crate::diagnose::resolve::{Target, Vantages, ask};
use crate::diagnose::rules::matrix::Matrix;
use crate::inventory::Inventory;
use crate::inventory::feed::{Clients, Clock};

/// Answers that wait to be folded: a question has six, a check one.
const ANSWERS: usize = 16;
/// Longest time for a check: three rounds to a silent exit node, and what Proxmox takes.
const CHECK: Duration = Duration::from_secs(60);

/// What a check read: its number, whether the isolation table is of it, the evidence.
type Kept = (u64, bool, Arc<Evidence>);

/// What is being asked, and what came of it.
pub(super) struct Probes {
    tell: mpsc::Sender<Msg>,
    heard: mpsc::Receiver<Msg>,
    asking: Option<AbortHandle>,
    checking: Option<AbortHandle>,
    /// What the last checks read, by their numbers: judged again with what is pasted later.
    kept: Arc<Mutex<Vec<Kept>>>,
    /// What is pasted.
    pasted: Arc<[Item]>,
}

impl Probes {
    pub(super) fn new() -> Self {
        let (tell, heard) = mpsc::channel(ANSWERS);
        Self { tell, heard, asking: None, checking: None, kept: Arc::default(), pasted: Arc::from([]) }
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
        let (kept, pasted) = (Arc::clone(&self.kept), Arc::clone(&self.pasted));
        let task = tokio::spawn(async move {
            let began = Instant::now();
            let read = within(CHECK, async {
                let clients = Clients::connect(&site).await;
                collect(&site, &clients, &wanted, &Sink::new(clock)).await
            })
            .await;
            let report = match read {
                Ok(evidence) => {
                    let evidence = Arc::new(evidence);
                    keep(&kept, id, &wanted, &evidence);
                    let (report, matrix) = judge(&evidence, &pasted);
                    if tell.send(Msg::Table { id, matrix }).await.is_err() {
                        return;
                    }
                    Ok(report)
                }
                Err(why) => Err(why),
            };
            // Nobody is left to be told only when the console ends.
            let _ = tell.send(Msg::Checked { id, report, took: began.elapsed() }).await;
        });
        self.checking = Some(task.abort_handle());
    }

    /// Judges what was read again, together with `pasted`; later checks take it in too.
    pub(super) fn judge(&mut self, pasted: Arc<[Item]>) {
        self.pasted = Arc::clone(&pasted);
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let tell = self.tell.clone();
        tokio::spawn(async move {
            for (id, _, evidence) in kept {
                let (report, matrix) = judge(&evidence, &pasted);
                if tell.send(Msg::Judged { id, report, matrix }).await.is_err() {
                    return;
                }
            }
        });
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

/// Keeps what was read: of the last check, and of the last one that the isolation table is of.
fn keep(kept: &Mutex<Vec<Kept>>, id: u64, wanted: &Wanted, evidence: &Arc<Evidence>) {
    let table = matches!(wanted.check, Check::Isolation | Check::All);
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    kept.retain(|(_, of_table, _)| *of_table && !table);
    kept.push((id, table, Arc::clone(evidence)));
}

/// What `evidence` comes to together with `pasted`.
fn judge(evidence: &Evidence, pasted: &[Item]) -> (Arc<Report>, Arc<Matrix>) {
    let question = evidence.question.clone();
    let items = evidence.items.iter().chain(pasted).cloned().collect();
    let facts = Facts::of(&Evidence { question, items });
    let report = Report::of_facts(&facts);
    let asked = of_isolation(evidence);
    let report = if asked { report.within(Layer::Isolation) } else { report };
    (Arc::new(report), Arc::new(Matrix::of(&facts)))
}

/// Whether a check of isolation read it: what it reads of the perimeter beside is for the table alone.
fn of_isolation(evidence: &Evidence) -> bool {
    let asked = evidence.question.as_deref().and_then(Wanted::asked);
    asked.is_some_and(|wanted| wanted.check == Check::Isolation)
}

/// What `work` comes to within `limit`; else a sentence.
async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Result<T, String> {
    let late = |_| format!("not done within {}s: nothing is known of it; run it again", limit.as_secs());
    tokio::time::timeout(limit, work).await.map_err(late)
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
        let never = within(Duration::from_secs(60), std::future::pending::<()>());
        assert!(never.await.is_err_and(|why| why.contains("not done within 60s")));
        assert_eq!(within(Duration::from_secs(60), async { 7 }).await, Ok(7));
    }
}
